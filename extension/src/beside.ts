/**
 * A view beside the code: what each graph view offers to tfnb's JupyterLab extension (../lab), by a DOM event that
 * elsewhere nobody answers. The extension shows the view in a tab, and says which line of code the cursor is in.
 */
import { button, h } from "./dom";
import type { GraphState, Model, View } from "./model";

export const OFFER = "tfnb:view";

type Stop = () => void;
/** First and last line of a statement, the text of the first, and the keys of the nodes with an op that it made. */
export type Statement = [first: number, last: number, text: string, keys: string[]];

/** Statements by the id of their cell; for each node those of its first op, innermost first: cell, place in its list. */
export interface Lines {
  cells: Record<string, Statement[]>;
  nodes: Record<string, [cell: string, index: number][]>;
}

export interface Offer {
  readonly title: string;
  /** The same for all views of a model. */
  readonly model: unknown;
  /** Fires when the view is taken from the page. */
  readonly ended: AbortSignal;
  /** The statements behind the drawing as it is now; undefined if the kernel does not answer. */
  lines(): Promise<Lines | undefined>;
  /** Show another view of the same model. */
  show(el: HTMLElement): Stop;
  /** Mark the nodes of these keys. */
  light(keys: ReadonlySet<string>): void;
  /** Leave a line in place of the view, with a button that calls `back`; without it the view is there again. */
  away(back?: () => void): void;
  /** Set by the extension: what the view's button does, */
  open?: () => void;
  /** what happens when the reader selects a node, */
  picked?: (key: string) => void;
  /** and when there is another drawing. */
  drawn?: () => void;
}

const PATIENCE = 10_000; // milliseconds that the kernel may take to answer

/** Offer a view to the extension. Returns how to take it back. */
export function offer(
  view: View,
  model: Model,
  identity: unknown,
  host: HTMLElement,
  show: (el: HTMLElement) => Stop,
): Stop {
  const ended = new AbortController();
  const state = () => model.get("state") as GraphState;
  const found = new Answer(model);
  const made: Offer = {
    title: state().title,
    model: identity,
    ended: ended.signal,
    lines: () => found.ask(state().svg),
    show,
    light: (keys) => view.light?.(keys),
    away: (back) => leave(host, view, back),
  };
  const taken = new CustomEvent<Offer>(OFFER, { bubbles: true, cancelable: true, detail: made });
  if (!view.light || host.dispatchEvent(taken)) return () => {}; // nobody took it
  addButton(host, made);
  let { svg, selected } = state();
  const changed = () => {
    const next = state();
    if (next.svg !== svg) made.drawn?.();
    if (next.selected !== selected && next.selected) made.picked?.(next.selected);
    ({ svg, selected } = next);
  };
  model.on("change:state", changed);
  return () => {
    model.off("change:state", changed);
    found.stop();
    ended.abort();
  };
}

/** What the kernel says of the lines of a drawing, asked for once. */
class Answer {
  private drawing = "";
  private pending: Promise<Lines | undefined> | undefined;
  private give: (lines: Lines | undefined) => void = () => {};

  constructor(private readonly model: Model) {}

  ask(drawing: string): Promise<Lines | undefined> {
    if (!this.pending) this.model.on("msg:custom", this.hear);
    if (!this.pending || drawing !== this.drawing) {
      this.drawing = drawing;
      this.pending = new Promise((give) => {
        this.give = give;
        setTimeout(() => give(undefined), PATIENCE);
      });
      this.model.send({ type: "lines" });
    }
    return this.pending;
  }

  stop(): void {
    this.model.off("msg:custom", this.hear);
    this.give(undefined);
  }

  private readonly hear = (message: { type: string } & Lines) => {
    if (message.type === "lines") this.give(message);
  };
}

function addButton(host: HTMLElement, made: Offer): void {
  if (!made.open) return;
  const go = button("Beside the code", "Open beside the code", () => made.open?.());
  const bar = host.querySelector(".tfnb-bar");
  bar?.insertBefore(go, bar.querySelector(".tfnb-search"));
}

function leave(host: HTMLElement, view: View, back?: () => void): void {
  host.querySelector(".tfnb-away")?.remove();
  host.classList.toggle("is-away", back !== undefined);
  if (back)
    host.append(h("p", { class: "tfnb-away" }, "Shown beside the code. ", button("Bring it back", "", back)));
  else view.resize?.();
}
