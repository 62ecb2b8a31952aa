/** The parts of JupyterLab 4 and Notebook 7 that are used here, as they are found in the page. */

export interface Signal {
  connect(slot: () => void): unknown;
  disconnect(slot: () => void): unknown;
}

interface Position {
  line: number;
  column: number;
}

export interface Cell {
  readonly node: HTMLElement;
  readonly model: { readonly id: string; readonly sharedModel: { getSource(): string } };
  /** null for a cell that was never in sight. */
  readonly editor: { readonly editor?: unknown; getSelection(): { start: Position; end: Position } } | null;
}

export interface Notebook {
  readonly widgets: readonly Cell[];
  readonly activeCell: Cell | null;
  readonly mode: string;
  readonly activeCellChanged: Signal;
  scrollToItem?(index: number, align?: string): Promise<void>;
}

export interface Widget {
  readonly id: string;
  readonly node: HTMLElement;
  readonly isDisposed: boolean;
  readonly disposed: Signal;
  dispose(): void;
}

/** A notebook with its toolbar and kernel. */
export interface Panel extends Widget {
  readonly content: Notebook;
  readonly sessionContext: unknown;
}

export interface Tab extends Widget {
  id: string;
  readonly title: { label: string; caption: string; closable: boolean };
}

export interface App {
  readonly name: string;
  readonly version: string;
  readonly shell: {
    /** JupyterLab's; Notebook 7 has none. */
    readonly mode?: string;
    widgets(area: string): Iterable<Widget>;
    add(widget: Widget, area: string, options?: { mode?: string; ref?: string }): void;
    activateById(id: string): void;
    expandRight?(id?: string): void;
    /** Notebook 7's: the parts of the page are the children of a SplitPanel. */
    readonly rightHandler?: { panel: { parent: { setRelativeSizes?(sizes: number[]): void } | null } };
  };
}

type Shared = Record<
  string,
  Record<string, { get(): Promise<() => unknown>; loaded?: unknown; eager?: boolean }>
>;

/** Modules that the page has already, by the names of their packages. */
export class Modules {
  constructor(private readonly shared: Shared) {}

  /** A module as the page itself uses it; undefined if there is none of that name. */
  async find<T>(name: string): Promise<T | undefined> {
    const versions = Object.values(this.shared[name] ?? {});
    const used = versions.find((each) => each.loaded) ?? versions.find((each) => each.eager) ?? versions[0];
    return used && ((await used.get())() as T);
  }
}

export type { Shared };

/** The notebook that an element is in. */
export function panelOf(app: App, element: Node): Panel | undefined {
  for (const widget of app.shell.widgets("main"))
    if (isPanel(widget) && widget.node.contains(element)) return widget;
  return undefined;
}

function isPanel(widget: Widget): widget is Panel {
  const content = (widget as Partial<Panel>).content;
  return Array.isArray(content?.widgets) && "activeCell" in content;
}
