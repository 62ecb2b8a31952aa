/** Tables that are sorted by a click on their heads and asked about by a click on their rows; heat maps under them. */
import { button, h, linked, s } from "./dom";
import { GraphWidget } from "./graph";
import type { Guard } from "./guard";
import { HeatMaps } from "./heat";
import { keepFocus } from "./keys";
import { LiveWidget } from "./live";
import type { LiveMessage, Model, SheetCell, SheetState, SheetTable, TimelineState, View } from "./model";
import { Timeline } from "./timeline";

const GRAPH_HEIGHT = 380; // of a drawing above the tables

const BOARD = new Set(["points", "detail", "ridge", "pictures", "reset"]); // messages for the board below

const LONG = 24; // letters from which a text may be cut, and is told in full under the pointer

export class SheetWidget implements View {
  readonly quiet = true;
  readonly root = h("div", { class: "tfnb-sheet" });
  private readonly heading = h("h3");
  private readonly note = h("span", { class: "tfnb-note", role: "status" });
  private readonly buttons = h("span", { class: "tfnb-buttons" });
  private readonly filter = h("input", {
    type: "search",
    placeholder: "filter: lenet loss<0.1",
    title: "Regular expressions, and conditions on columns",
    "aria-label": "Filter",
    size: 24,
  });
  private readonly head = h("div", { class: "tfnb-bar" }, this.heading, this.note, this.filter, this.buttons);
  private readonly body = h("div");
  private readonly heat: HeatMaps;
  private graph: GraphWidget | undefined;
  private live: LiveWidget | undefined;
  private timeline: Timeline | undefined;
  private readonly sorts = new Map<string, [number, boolean]>();
  private readonly typed = new Map<string, string>(); // into fields, which a new state makes anew

  constructor(
    private readonly model: Model,
    private readonly guard: Guard,
  ) {
    this.heat = new HeatMaps((message) => model.send(message), guard);
    this.root.append(this.head, this.body, this.heat.root);
    this.filter.addEventListener("input", () => this.model.send({ type: "filter", text: this.filter.value }));
  }

  update(): void {
    const state = this.model.get("state") as SheetState;
    this.head.hidden = !state.title && !state.note;
    this.heading.textContent = state.title;
    this.note.replaceChildren(...linked(state.note, state.cells));
    this.buttons.replaceChildren(
      ...state.buttons.map(([act, label]) => button(label, "", () => this.model.send({ type: "act", act }))),
    );
    this.body.replaceChildren(...state.tables.map((table) => this.table(table)));
    this.filter.hidden = state.filter === undefined;
    if (document.activeElement !== this.filter) this.filter.value = state.filter ?? "";
    if (state.graph) this.showGraph();
    this.showLive(!!state.live);
    if (state.timeline) this.showTimeline(state.timeline);
    this.root.classList.toggle("is-heat-first", !!state.heat?.first);
    this.heat.show(state.heat);
  }

  private showTimeline(state: TimelineState): void {
    if (!this.timeline) {
      this.timeline = new Timeline((message) => this.model.send(message));
      this.body.before(this.timeline.root);
    }
    this.timeline.show(state);
  }

  private showLive(there: boolean): void {
    if (!there) this.live?.root.remove();
    else if (this.live) this.body.after(this.live.root);
    else {
      const model = part(this.model, "live");
      this.live = new LiveWidget(model);
      this.body.after(this.live.root);
      model.send({ type: "ready" });
    }
    if (there) this.live?.update();
  }

  private showGraph(): void {
    if (!this.graph) {
      this.graph = new GraphWidget(part(this.model, "graph"), this.guard, GRAPH_HEIGHT);
      this.body.before(this.graph.root);
    }
    this.graph.update();
  }

  receive(message: { type: string }, buffers: DataView[] = []): void {
    this.graph?.receive(message);
    if (BOARD.has(message.type)) this.live?.receive(message as LiveMessage, buffers);
  }

  resize(): void {
    this.heat.draw();
    this.graph?.resize();
    this.live?.resize();
    this.timeline?.draw();
  }

  dispose(): void {
    this.graph?.dispose();
    this.heat.dispose();
  }

  private table(table: SheetTable): HTMLElement {
    const sort = this.sorts.get(table.id) ?? table.sort;
    const heads = table.columns.map((column, i) => {
      const by = sort?.[0] === i;
      const mark = by ? (sort[1] ? " ▼" : " ▲") : "";
      const head = button(
        column.title + mark,
        `Sort by ${column.title}${column.tip && `: ${column.tip}`}`,
        () => {
          const descending = by ? !sort[1] : column.number;
          this.sorts.set(table.id, [i, descending]);
          this.model.send({ type: "sort", table: table.id, column: i, descending });
          keepFocus(this.root, () => this.update());
        },
      );
      const order = by ? (sort[1] ? "descending" : "ascending") : undefined;
      return h(
        "th",
        {
          scope: "col",
          "aria-sort": order,
          class: column.number ? "is-number" : table.rows.some(({ cells }) => cells[i]?.acts) && "has-acts",
        },
        head,
      );
    });
    const rows = order(table, sort).map((row) => this.row(table, row));
    const grid = h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows));
    return h(
      "section",
      {},
      table.title && h("h4", {}, table.title),
      table.note && h("p", { class: "tfnb-note" }, table.note),
      rows.length ? h("div", { class: "tfnb-scroll" }, grid) : null,
    );
  }

  private row(table: SheetTable, row: SheetTable["rows"][number]): HTMLElement {
    const name = Math.max(
      0,
      table.columns.findIndex(({ title, number }) => title && !number),
    );
    const cells = row.cells.map((cell, i) => {
      const place = h("td", {
        class: `${table.columns[i]?.number ? "is-number" : ""}${cell.bad ? " is-bad" : ""}${cell.acts ? " has-acts" : ""}`,
      });
      if (i === name && table.pickable)
        place.append(pickButton(cell.t ?? "", () => this.pick(table, row.id)));
      else fill(place, cell, (act) => this.model.send({ type: "act", act, row: row.id }));
      if (cell.edit) place.append(this.field(table.id, row.id, cell.edit));
      return place;
    });
    const made = h("tr", { "aria-selected": row.id === table.picked ? "true" : undefined }, ...cells);
    if (table.pickable)
      made.addEventListener(
        "click",
        this.guard((event: MouseEvent) => {
          if (!(event.target as Element).closest("button, a")) this.pick(table, row.id);
        }),
      );
    return made;
  }

  /** A place to type a value into; Enter sends it. */
  private field(table: string, row: string, name: string): HTMLElement {
    const example = name.split(": ")[1]; // "A condition: has_nan"
    const size = Math.max(12, example?.length ?? 0);
    const field = h("input", {
      placeholder: example ?? (name.startsWith("New name") ? "new name" : "new value"),
      "aria-label": name,
      title: name,
      size,
    });
    const key = JSON.stringify([table, row, name]);
    field.value = this.typed.get(key) ?? "";
    field.addEventListener("input", () => this.typed.set(key, field.value));
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      this.typed.delete(key);
      this.model.send({ type: "edit", table, row, text: field.value });
    });
    return field;
  }

  private pick(table: SheetTable, row: string): void {
    this.model.send({ type: "pick", table: table.id, row: row === table.picked ? "" : row });
  }
}

/** The model of a view within this one, whose state is a part of this one's. */
export function part(model: Model, name: string): Model {
  return {
    get: (key) => (key === "state" ? (model.get("state") as Record<string, unknown>)[name] : model.get(key)),
    on: () => {},
    off: () => {},
    send: (message) => model.send({ type: name, message }),
  };
}

function pickButton(name: string, act: () => void): HTMLElement {
  const made = button(name, `Show ${name}`, act);
  made.className = "tfnb-pick";
  return made;
}

/** The rows as they are sorted; those without a value come last. */
export function order(table: SheetTable, sort: [number, boolean] | null): SheetTable["rows"] {
  if (!sort) return table.rows;
  const [column, descending] = sort;
  const key = (row: SheetTable["rows"][number]) => row.cells[column]?.v ?? row.cells[column]?.t;
  return [...table.rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    const found = typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;
    return descending ? -found : found;
  });
}

function fill(place: HTMLElement, cell: SheetCell, act: (what: string) => void): void {
  if (cell.spark) place.append(spark(cell.spark), " ");
  if (cell.hist) place.append(histogram(cell.hist), " ");
  if (cell.check !== undefined) {
    const box = h("input", { type: "checkbox", "aria-label": "Draw it", checked: cell.check > 0 });
    box.addEventListener("change", () => act("check"));
    place.append(box, " ");
  }
  if (cell.swatch !== undefined) place.append(h("i", { class: `tfnb-s${cell.swatch}` }));
  if (cell.t) place.append(...linked(cell.t, cell.cells));
  if ((cell.t ?? "").length > LONG) place.title = cell.t as string;
  for (const [what, label, tip] of cell.acts ?? [])
    place.append(
      button(label, tip ?? "", () => act(what)),
      " ",
    );
}

function spark(values: number[]): SVGElement {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (i: number) => (1 + (i / Math.max(1, values.length - 1)) * 62).toFixed(1);
  const y = (v: number) => (high > low ? 14 - ((v - low) / (high - low)) * 12 : 8).toFixed(1);
  const line = values.map((v, i) => `${x(i)} ${y(v)}`).join("L");
  const svg = s("svg", { class: "tfnb-spark tfnb-s0", width: 64, height: 16, role: "img" });
  svg.setAttribute("aria-label", `from ${low.toPrecision(3)} to ${high.toPrecision(3)}`);
  svg.append(s("path", { class: "tfnb-line", d: `M${line}` }));
  return svg;
}

/** Two histograms over the same bins: one filled, one as an outline. */
function histogram(both: number[][]): SVGElement {
  const most = Math.max(1, ...both.flat());
  const svg = s("svg", { class: "tfnb-spark", width: 96, height: 22, "aria-hidden": "true" });
  both.forEach((counts, which) => {
    const wide = 96 / counts.length;
    const steps = counts.map(
      (n, i) => `${(i * wide).toFixed(1)} ${(21 - (n / most) * 20).toFixed(1)}h${wide.toFixed(2)}`,
    );
    const line = `M0 21L${steps.join("L")}L96 21`;
    svg.append(s("path", { class: which ? "tfnb-line tfnb-s1" : "tfnb-area tfnb-s0", d: line }));
  });
  return svg;
}
