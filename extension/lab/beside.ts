/** Tabs with a view beside the code that made it: they follow the cursor, and lead from a node to its line. */
import { type Lines, OFFER, type Offer, type Statement } from "../src/beside";
import { type App, type Cell, type Modules, type Panel, panelOf, type Tab } from "./jupyter";
import { MARKED, Marker, place } from "./mark";

interface Tabs {
  Widget: new () => Tab;
}

const GO = "tfnb:go-to-cell"; // of a link in a view: ../src/dom.ts

interface Place {
  id: string;
  line: number; // 0 for all of the cell
}

/** Where a view is: the cell, and which of its views. */
interface Home {
  panel: Panel;
  cell: string;
  index: number;
}

const VIEWS = ".tfnb-graph-view";
const SIDES = [1, 1.6, 1]; // of Notebook 7's left sidebar, which is hidden most often, the notebook and the right sidebar

/** One tab: the offer of the view in the notebook that it stands for, and that of the view in it. */
class Beside {
  inline: Offer | undefined;
  inner: Offer | undefined;
  private stop = () => {};
  private model: unknown;

  constructor(
    readonly home: Home,
    readonly tab: Tab,
  ) {
    home.panel.disposed.connect(() => tab.dispose());
    tab.disposed.connect(() => this.close());
  }

  /** Show a view that is in the notebook, in place of the one before. */
  take(offer: Offer): void {
    this.inline = offer;
    offer.away(() => this.tab.dispose());
    if (offer.model === this.model) return; // the cell was out of sight and is back
    this.model = offer.model;
    this.stop();
    this.tab.node.replaceChildren();
    this.tab.title.label = offer.title || "Graph";
    this.stop = offer.show(this.tab.node);
  }

  private close(): void {
    this.stop();
    if (!this.inline?.ended.aborted) this.inline?.away();
  }
}

/** All tabs of the page, and the views that could have one. */
export class Besides {
  private readonly open: Beside[] = [];
  private readonly offers = new Map<Offer, Panel>();
  private readonly marker = new Marker();
  private readonly heard = new WeakSet<Panel>();
  private asked = 0;
  private made = 0;

  constructor(
    private readonly app: App,
    private readonly tabs: Tabs,
  ) {}

  /** Begin to listen to views and cursors. */
  async start(modules: Modules): Promise<void> {
    document.addEventListener(OFFER, (event) => this.offered(event as CustomEvent<Offer>));
    document.addEventListener(GO, (event) => this.go(event as CustomEvent<Place>));
    document.addEventListener("selectionchange", () => this.soon());
    await this.marker.load(modules);
  }

  private offered(event: CustomEvent<Offer>): void {
    const host = event.target as HTMLElement;
    const offer = event.detail;
    const around = this.open.find((each) => each.tab.node.contains(host));
    const home = around?.home ?? this.home(host);
    if (!home) return;
    event.preventDefault();
    this.offers.set(offer, home.panel);
    offer.ended.addEventListener("abort", () => this.offers.delete(offer));
    offer.drawn = () => this.soon();
    this.hear(home.panel);
    if (around) {
      around.inner = offer;
      offer.picked = (key) => void this.lead(around, key);
    } else {
      offer.open = () => this.beside(home, offer);
      this.open.find((each) => same(each.home, home))?.take(offer);
    }
    this.soon();
  }

  private home(host: HTMLElement): Home | undefined {
    const panel = panelOf(this.app, host);
    const cell = panel?.content.widgets.find((each) => each.node.contains(host));
    if (!panel || !cell) return undefined;
    const views = [...cell.node.querySelectorAll(VIEWS)];
    return { panel, cell: cell.model.id, index: views.findIndex((view) => host.contains(view)) };
  }

  /** Open a tab beside the notebook: to the right of it in JupyterLab, in the right sidebar of Notebook 7. */
  private beside(home: Home, offer: Offer): void {
    const tab = new this.tabs.Widget();
    const { shell } = this.app;
    this.made += 1;
    tab.id = `tfnb-beside-${this.made}`;
    tab.node.classList.add("tfnb-beside");
    tab.title.closable = true;
    tab.title.caption = "A graph beside its code";
    const made = new Beside(home, tab);
    this.open.push(made);
    tab.disposed.connect(() => {
      this.open.splice(this.open.indexOf(made), 1);
      this.marker.clear();
    });
    if (shell.mode === "multiple-document")
      shell.add(tab, "main", { mode: "split-right", ref: home.panel.id });
    else {
      shell.add(tab, "right");
      shell.expandRight?.(tab.id);
      shell.rightHandler?.panel.parent?.setRelativeSizes?.(SIDES);
    }
    made.take(offer);
    shell.activateById(tab.id);
  }

  private hear(panel: Panel): void {
    if (this.heard.has(panel)) return;
    this.heard.add(panel);
    panel.content.activeCellChanged.connect(() => this.soon());
  }

  /** Light what the cursor's line made, once for all that happens until the next frame. */
  private soon(): void {
    cancelAnimationFrame(this.asked);
    this.asked = requestAnimationFrame(() => this.follow());
  }

  private follow(): void {
    for (const [offer, panel] of this.offers) {
      const cell = panel.content.activeCell;
      if (!cell || panel.isDisposed || !panel.node.contains(document.activeElement)) continue;
      const lines = chosen(panel, cell);
      this.marker.clear(); // the reader looks elsewhere
      void offer.lines().then((found) => offer.light(keysOf(found, cell, lines)));
    }
  }

  /** Mark the lines that made a node, and bring the outermost into sight: the call of a function tells more. */
  private async lead(from: Beside, key: string): Promise<void> {
    const lines = await from.inner?.lines();
    const { content } = from.home.panel;
    const found = (lines?.nodes[key] ?? []).flatMap(([id, index]) => {
      const at = content.widgets.findIndex((cell) => cell.model.id === id);
      const [cell, statement] = [content.widgets[at], lines?.cells[id]?.[index]];
      const where = cell && statement && place(cell.model.sharedModel.getSource(), statement);
      return cell && where ? [{ at, cell, where }] : [];
    });
    await this.reveal(content, found);
  }

  /** Follow a link to a line of a cell. */
  private go(event: CustomEvent<Place>): void {
    const link = event.target as HTMLElement;
    const { id, line } = event.detail;
    const around = this.open.find((each) => each.tab.node.contains(link));
    const content = (around?.home.panel ?? panelOf(this.app, link))?.content;
    const at = content?.widgets.findIndex((each) => each.model.id === id) ?? -1;
    const cell = content?.widgets[at];
    if (!content || !cell) return;
    event.preventDefault();
    const last = cell.model.sharedModel.getSource().split("\n").length;
    const lines: [number, number] = line > 0 && line <= last ? [line - 1, line - 1] : [0, last - 1];
    void this.reveal(content, [{ at, cell, where: lines }]);
  }

  /** Bring the last of these places into sight, and mark their lines. */
  private async reveal(
    content: Panel["content"],
    found: { at: number; cell: Cell; where: [number, number] }[],
  ): Promise<void> {
    this.marker.clear();
    const last = found.at(-1);
    if (!last) return;
    await content.scrollToItem?.(last.at, "smart");
    for (const { cell, where } of found) this.marker.mark(cell, where);
    requestAnimationFrame(() => {
      const marked = [...last.cell.node.querySelectorAll(`.${MARKED}`)];
      const line = last.cell === found[0]?.cell && found.length > 1 ? marked.at(-1) : marked[0];
      line?.scrollIntoView({ block: "nearest" });
    });
  }
}

function same(a: Home, b: Home): boolean {
  return a.panel === b.panel && a.cell === b.cell && a.index === b.index;
}

/** The lines of a cell that the cursor is in: all of them unless it is being edited. */
function chosen({ content }: Panel, cell: Cell): [number, number] {
  if (content.mode !== "edit" || !cell.editor) return [0, Number.POSITIVE_INFINITY];
  const { start, end } = cell.editor.getSelection();
  return start.line < end.line ? [start.line, end.line] : [end.line, start.line];
}

function keysOf(found: Lines | undefined, cell: Cell, [first, last]: [number, number]): Set<string> {
  const text = cell.model.sharedModel.getSource();
  const touched = (statement: Statement) => {
    const at = place(text, statement);
    return at && at[0] <= last && at[1] >= first;
  };
  return new Set((found?.cells[cell.model.id] ?? []).filter(touched).flatMap((each) => each[3]));
}
