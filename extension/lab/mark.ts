/** Lines of code that are marked, and where they are now: a cell may have been edited since it ran. */
import type { Statement } from "../src/beside";
import type { Cell, Modules } from "./jupyter";

export const MARKED = "tfnb-marked";
const MOST = 200; // letters of a line that the kernel sends

/** Of CodeMirror 6, as much as marks need. */
interface Editor {
  state: {
    doc: { lines: number; line(n: number): { from: number } };
    field(field: unknown, no: false): unknown;
  };
  dispatch(change: { effects: unknown[] }): void;
}
interface Ranges {
  map(changes: unknown): Ranges;
}
interface Effect {
  of(value: unknown): unknown;
}
interface Transaction {
  changes: unknown;
  effects: { is(effect: Effect): boolean; value: Ranges }[];
}
interface StateModule {
  StateEffect: { define(): Effect; appendConfig: Effect };
  StateField: { define(how: object): unknown };
}
interface ViewModule {
  Decoration: {
    none: Ranges;
    set(ranges: unknown[]): Ranges;
    line(how: object): { range(at: number): unknown };
  };
  EditorView: { decorations: { from(field: unknown): unknown } };
}

/** Where a statement is in a text: [first, last], counted from 0; undefined if it is not there any more. */
export function place(text: string, [first, last, begin]: Statement): [number, number] | undefined {
  const lines = text.split("\n");
  const same = lines.flatMap((line, i) => (line.trim().slice(0, MOST) === begin ? [i] : []));
  const near = same.sort((a, b) => Math.abs(a - first + 1) - Math.abs(b - first + 1))[0];
  return near === undefined ? undefined : [near, Math.min(near + last - first, lines.length - 1)];
}

/** Marks lines in the editors of cells. */
export class Marker {
  private readonly marked = new Map<Editor, [first: number, last: number][]>();
  private effect: Effect | undefined;
  private field: unknown;
  private view: ViewModule | undefined;
  private append: Effect | undefined;

  /** Find CodeMirror in the page. */
  async load(modules: Modules): Promise<void> {
    const state = await modules.find<StateModule>("@codemirror/state");
    const view = await modules.find<ViewModule>("@codemirror/view");
    if (!state || !view) return;
    const effect = state.StateEffect.define();
    this.field = state.StateField.define({
      create: () => view.Decoration.none,
      update: (ranges: Ranges, change: Transaction) =>
        change.effects.find((each) => each.is(effect))?.value ?? ranges.map(change.changes),
      provide: (field: unknown) => view.EditorView.decorations.from(field),
    });
    [this.effect, this.view, this.append] = [effect, view, state.StateEffect.appendConfig];
  }

  /** Mark some lines of a cell, beside those that are. */
  mark(cell: Cell, lines: [first: number, last: number]): void {
    const editor = cell.editor?.editor as Editor | undefined;
    if (!editor || !this.view) return;
    const all = [...(this.marked.get(editor) ?? []), lines];
    const numbers = new Set(all.flatMap(([a, b]) => Array.from({ length: b - a + 1 }, (_, i) => a + i + 1)));
    const line = this.view.Decoration.line({ class: MARKED });
    const { doc } = editor.state;
    const sorted = [...numbers].filter((n) => n <= doc.lines).sort((a, b) => a - b);
    this.set(editor, this.view.Decoration.set(sorted.map((n) => line.range(doc.line(n).from))));
    this.marked.set(editor, all);
  }

  clear(): void {
    for (const editor of this.marked.keys()) if (this.view) this.set(editor, this.view.Decoration.none);
    this.marked.clear();
  }

  private set(editor: Editor, ranges: Ranges): void {
    const has = editor.state.field(this.field, false) !== undefined;
    const first = has ? [] : [this.append?.of(this.field)];
    editor.dispatch({ effects: [...first, this.effect?.of(ranges)] });
  }
}
