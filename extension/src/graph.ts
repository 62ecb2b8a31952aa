/** The graph view: the kernel's drawing, moved, zoomed and asked about. */
import { detailsPanel } from "./details";
import { button, h, parseSvg } from "./dom";
import type { Guard } from "./guard";
import { HeatMaps } from "./heat";
import { Minimap } from "./minimap";
import type { Details, GraphState, Hit, Model } from "./model";
import { glide, places } from "./motion";
import { Viewport } from "./viewport";

const MOST_HEIGHT = 1400;
const LEAST_HEIGHT = 170;
const LEAST_PANEL = 400;
const ASK_AFTER = 180; // milliseconds without a key before a search is asked for
const SLOW = 600; // milliseconds without an answer before the reader is told to wait
const LOST = 6000;
const ROOM = 840; // pixels that the kernel draws for unless it is told
const LIKE = 24; // a room that differs by less is the same
const TELL_AFTER = 250; // milliseconds without another size

export class GraphWidget {
  readonly quiet = true;
  readonly root = h("div", { class: "tfnb-graph-view" });
  private readonly stage = h("div", { class: "tfnb-stage", tabindex: 0, role: "group" });
  private readonly panel = h("aside", { class: "tfnb-details", hidden: true, "aria-label": "Details" });
  private readonly note = h("span", { class: "tfnb-note", role: "status" });
  private readonly hint = h("div", { class: "tfnb-hint" }, "Ctrl + scroll zooms, drag moves");
  private readonly hits = h("ul", { class: "tfnb-hits", hidden: true, role: "listbox" });
  private readonly find = h("input", {
    type: "search",
    placeholder: "Find an op",
    "aria-label": "Find an op",
  });
  private readonly search = h("span", { class: "tfnb-search" }, this.find, this.hits);
  private readonly colors = h("select", { "aria-label": "Colours say", title: "What colours say" });
  private readonly levels = h(
    "select",
    {
      "aria-label": "Level",
      title: "Layers: a layer with its variables is one box. Ops: every scope as it was named.",
    },
    h("option", { value: "layers" }, "layers"),
    h("option", { value: "ops" }, "ops"),
  );
  private readonly stop = button("End trace", "Show everything strong again", () => this.ask("trace", ""));
  private readonly view: Viewport;
  private readonly minimap: Minimap;
  private heat: HeatMaps | undefined; // what is enlarged
  private svg: SVGSVGElement | undefined;
  private size = { width: 1, height: 1 };
  private drawn = "";
  private lit: ReadonlySet<string> = new Set();
  private waiting: ReturnType<typeof setTimeout>[] = [];
  private asked: ReturnType<typeof setTimeout> | undefined;
  private sought: string | undefined; // the text of a search that is not answered yet
  private known = ""; // the text that the hits are of
  private jump = false; // Enter was pressed before they came
  private anchor: { key: string; x: number; y: number } | undefined; // where the scope is that is to open or close
  private told: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly model: Model,
    private readonly guard: Guard,
    private readonly most = MOST_HEIGHT,
  ) {
    this.view = new Viewport(
      this.stage,
      () => this.flashHint(),
      () => this.minimap?.follow(),
    );
    this.minimap = new Minimap(this.view);
    const bar = h(
      "div",
      { class: "tfnb-bar", role: "toolbar", "aria-label": "Graph" },
      button("+", "Zoom in", () => this.view.zoom(1.3)),
      button("−", "Zoom out", () => this.view.zoom(1 / 1.3)),
      button("Fit", "Show the whole graph", () => this.view.fit(true)),
      this.levels,
      this.colors,
      this.stop,
      button("SVG", "Save the drawing as an SVG file", () => this.saveAs(this.drawn, "svg", "image/svg+xml")),
      button("PNG", "Save the drawing as a PNG image", () => this.savePng()),
      button("DOT", "Save the drawing as Graphviz DOT", () => this.ask("dot", "")),
      this.search,
      this.note,
    );
    this.root.append(bar, h("div", { class: "tfnb-body" }, this.stage, this.panel));
    this.stage.append(this.minimap.root, this.hint);
    this.stage.addEventListener(
      "click",
      guard((event: MouseEvent) => this.onClick(event)),
    );
    this.stage.addEventListener(
      "dblclick",
      guard((event: MouseEvent) => this.onDouble(event)),
    );
    this.stage.addEventListener(
      "keydown",
      guard((event: KeyboardEvent) => this.onKey(event)),
    );
    this.stage.addEventListener("pointerover", (event) => this.lightRefs(event.target as Element, true));
    this.stage.addEventListener("pointerout", (event) => this.lightRefs(event.target as Element, false));
    this.colors.addEventListener(
      "change",
      guard(() => this.ask("color", this.colors.value)),
    );
    this.levels.addEventListener(
      "change",
      guard(() => this.ask("level", this.levels.value)),
    );
    this.find.addEventListener(
      "input",
      guard(() => this.onFind()),
    );
    this.find.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.first();
    });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.hideHits();
    });
    this.search.addEventListener("focusout", () =>
      setTimeout(() => {
        if (!this.isSearching()) this.hits.hidden = true;
      }, 200),
    );
  }

  private get state(): GraphState {
    return this.model.get("state") as GraphState;
  }

  /** Show the model's present state. */
  update(): void {
    this.answered();
    const state = this.state;
    const another = state.svg !== this.drawn;
    if (another) this.draw(state.svg);
    this.note.textContent = state.note ?? "";
    this.showChoices(state);
    this.showDetails(state);
    this.showHits(state.hits ?? []);
    this.showEnlarged(state);
    this.pick(state.selected);
    if (another && this.svg) this.minimap.settle(this.svg);
    this.found();
  }

  /** Fit again when the place got another size. */
  resize(): void {
    this.heat?.draw();
    this.tellRoom();
    if (this.svg && !this.view.moved) {
      this.setHeight();
      this.view.fit();
    }
    if (this.svg) this.minimap.settle(this.svg);
  }

  dispose(): void {
    clearTimeout(this.told);
    this.heat?.dispose();
  }

  /** Tell the kernel how wide a drawing may be; the details beside it come and go without a new one. */
  private tellRoom(): void {
    const width = this.root.clientWidth;
    clearTimeout(this.told);
    if (width && Math.abs(width - (this.state.room ?? ROOM)) > LIKE)
      this.told = setTimeout(() => this.model.send({ type: "room", width }), TELL_AFTER);
  }

  /** Where on the screen the sign of a scope is, else its node. */
  private signOf(key: string): DOMRect | undefined {
    const named = [...(this.svg?.querySelectorAll("g.head, g.n") ?? [])].filter(
      (one) => one.getAttribute("data-name") === key,
    );
    const found = named.map((one) => one.querySelector(".fold")).find(Boolean) ?? named[0];
    return found?.getBoundingClientRect();
  }

  /** Keep a scope that opened or closed under the pointer; returns by how much the view was moved, in the drawing. */
  private keepInPlace(from: { x: number; y: number }): { x: number; y: number } {
    const now = this.anchor && this.signOf(this.anchor.key);
    if (!now || !this.anchor) return { x: 0, y: 0 };
    const scale = this.view.scale;
    this.view.pan((now.x - this.anchor.x) / scale, (now.y - this.anchor.y) / scale);
    this.anchor = undefined;
    if (this.view.seen.y < 0) {
      this.setHeight(-this.view.seen.y * scale); // what is free above is not taken from below
      this.view.regain();
    }
    return { x: this.view.seen.x - from.x, y: this.view.seen.y - from.y };
  }

  private draw(text: string): void {
    const before = this.svg ? places(this.svg) : new Map();
    const seen = this.view.seen;
    const svg = parseSvg(text);
    const width = Number(svg.getAttribute("width"));
    const height = Number(svg.getAttribute("height"));
    svg.setAttribute("role", "group");
    svg.removeAttribute("style"); // the stage decides how large it is
    svg.setAttribute("data-theme", this.root.closest<HTMLElement>("[data-theme]")?.dataset.theme ?? "light");
    for (const node of svg.querySelectorAll("g.n")) {
      node.setAttribute("tabindex", "0");
      node.setAttribute("role", "button");
    }
    if (this.svg) this.svg.replaceWith(svg);
    else this.stage.prepend(svg);
    this.svg = svg;
    for (const value of svg.querySelectorAll("[data-tensor]")) {
      value.setAttribute("tabindex", "0");
      value.setAttribute("role", "button");
    }
    this.drawn = text;
    this.size = { width, height };
    this.setHeight();
    const next = svg.querySelector(".is-next")?.getAttribute("data-name");
    this.view.target = next ? places(svg).get(next) : undefined;
    this.minimap.draw(svg);
    this.view.show(svg, width, height);
    const { x, y } = this.keepInPlace(seen);
    for (const place of before.values()) {
      place.x += x;
      place.y += y;
    }
    glide(svg, before);
    this.mark();
  }

  /** As high as the drawing needs at this width, and what is free above it, within bounds. */
  private setHeight(above = 0): void {
    const high = Math.round(Math.min(this.most, Math.max(LEAST_HEIGHT, this.size.height + above)));
    this.stage.style.height = `${high}px`;
    this.panel.style.maxHeight = `${Math.max(LEAST_PANEL, high)}px`; // a longer one scrolls beside the drawing
  }

  private node(target: EventTarget | null): Element | null {
    return (target as Element | null)?.closest?.("g.n, g.head") ?? null;
  }

  private onClick(event: MouseEvent): void {
    if (this.view.dragged) return;
    const node = this.node(event.target);
    const value = (event.target as Element).closest("[data-tensor]")?.getAttribute("data-tensor");
    if (value) this.ask("enlarge", value);
    else if (node && (event.target as Element).closest(".fold")) this.toggle(node);
    else this.select(node);
  }

  private onDouble(event: MouseEvent): void {
    const node = this.node(event.target);
    if (node && !(event.target as Element).closest(".fold")) this.toggle(node);
  }

  private onKey(event: KeyboardEvent): void {
    const node = this.node(event.target);
    const value = (event.target as Element).closest("[data-tensor]")?.getAttribute("data-tensor");
    const step = this.view.seen.w / 12;
    const acts: Record<string, () => void> = {
      Enter: () => (value ? this.ask("enlarge", value) : node && this.toggle(node)),
      " ": () => (value ? this.ask("enlarge", value) : node && this.select(node)),
      Escape: () => this.ask("select", ""),
      "+": () => this.view.zoom(1.3),
      "=": () => this.view.zoom(1.3),
      "-": () => this.view.zoom(1 / 1.3),
      "0": () => this.view.fit(true),
      ArrowLeft: () => this.view.pan(-step, 0),
      ArrowRight: () => this.view.pan(step, 0),
      ArrowUp: () => this.view.pan(0, -step),
      ArrowDown: () => this.view.pan(0, step),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : acts[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  }

  private toggle(node: Element): void {
    const key = node.getAttribute("data-name") ?? "";
    const sign = this.signOf(key);
    this.anchor = sign && { key, x: sign.x, y: sign.y };
    if (node.classList.contains("is-open")) this.ask("collapse", key);
    else if (node.hasAttribute("data-open")) this.ask("expand", key);
    else this.select(node);
  }

  /** Show the details of a node, of none without one; what stands for nodes that do not fit has none. */
  private select(node: Element | null): void {
    const key = node?.getAttribute("data-name") ?? "";
    if (!key.endsWith("...") && key !== (this.state.selected ?? "")) this.ask("select", key);
  }

  private ask(type: string, name: string, more: Record<string, unknown> = {}): void {
    this.model.send({ type, name, ...more });
    this.answered();
    this.waiting = [
      setTimeout(() => (this.note.textContent = "waiting for the kernel …"), SLOW),
      setTimeout(
        () => (this.note.textContent = "no answer: is the kernel running? Run the cell again."),
        LOST,
      ),
    ];
  }

  private answered(): void {
    for (const timer of this.waiting) clearTimeout(timer);
    this.waiting = [];
  }

  private pick(key: string): void {
    const svg = this.svg;
    if (!svg) return;
    const near = new Set([key]);
    for (const edge of svg.querySelectorAll("[data-from]")) {
      const [from, to] = [edge.getAttribute("data-from") ?? "", edge.getAttribute("data-to") ?? ""];
      const lit = key !== "" && (this.within(from, key) || this.within(to, key));
      edge.classList.toggle("is-lit", lit);
      if (lit) near.add(from).add(to);
    }
    for (const node of svg.querySelectorAll("g.n")) {
      const name = node.getAttribute("data-name") ?? "";
      node.classList.toggle("is-picked", key !== "" && name === key);
      node.classList.toggle("is-near", name !== key && key !== "" && near.has(name));
      if (name === key && key !== "" && this.view.cut)
        this.view.reveal(places(svg).get(key) ?? { x: 0, y: 0 });
    }
  }

  /** Mark what the line made that the cursor is in, in this drawing and the next ones. */
  light(keys: ReadonlySet<string>): void {
    this.lit = keys;
    const [first] = this.mark();
    const at = this.svg && places(this.svg).get(first?.getAttribute("data-name") ?? "");
    if (!at || !this.view.cut) return;
    this.view.target = at;
    if (!this.root.matches(":hover")) this.view.reveal(at); // a click into the drawing lights, too: it must not jump
  }

  private mark(): Element[] {
    const all = (which: string) => [...(this.svg?.querySelectorAll(`g.n${which}`) ?? [])];
    const lit = (node: Element) => this.lit.has(node.getAttribute("data-name") ?? "");
    const boxes = all(":not(.is-open)");
    let made = boxes.filter(lit);
    if (!made.length) made = all(".is-open").filter(lit); // a frame, where what glows in it is not drawn
    if (made.length === boxes.length) made = []; // a drawing that glows all over says nothing
    for (const node of all("")) node.classList.toggle("is-made", made.includes(node));
    return made;
  }

  private within(key: string, group: string): boolean {
    return key === group || (group.endsWith("/") && key.startsWith(group));
  }

  private lightRefs(target: Element, on: boolean): void {
    const ref = target.closest?.(".ref")?.getAttribute("data-ref");
    if (!ref || !this.svg) return;
    for (const mark of this.svg.querySelectorAll(`.ref[data-ref="${ref}"]`))
      mark.classList.toggle("is-hot", on);
  }

  private showDetails(state: GraphState): void {
    const had = this.panel.hidden;
    const found = state.details;
    this.panel.hidden = !found;
    this.panel.replaceChildren(...(found ? [this.describe(state, found)] : []));
    if (found && this.svg) this.view.target = places(this.svg).get(state.selected);
    if (had !== this.panel.hidden) this.resize();
  }

  private describe(state: GraphState, found: Details): HTMLElement {
    const open = state.expanded.includes(found.key.replace(/\/$/, "")) && found.expandable;
    const aside = state.aside[found.key] ?? this.isShelved(found.key);
    return detailsPanel(found, open, aside, {
      reveal: (name) => this.ask("reveal", name),
      toggle: (key, wanted) => this.ask(wanted ? "expand" : "collapse", key),
      aside: (key, value) => this.ask("aside", key, { value }),
      trace: (key, direction) => this.ask("trace", key, { value: direction }),
      enlarge: (tensor) => this.ask("enlarge", tensor),
      close: () => this.ask("select", ""),
    });
  }

  private showEnlarged(state: GraphState): void {
    if (state.enlarged && !this.heat) {
      this.heat = new HeatMaps((message) => this.model.send(message), this.guard);
      this.root.append(this.heat.root);
    }
    const opened = this.heat?.root.hidden && state.enlarged;
    this.heat?.show(state.enlarged ?? null);
    if (opened) this.heat?.root.scrollIntoView?.({ block: "nearest" });
  }

  private showChoices(state: GraphState): void {
    const made = (state.colors ?? []).map(([value, word]) => h("option", { value }, `colour: ${word}`));
    this.colors.replaceChildren(...made);
    this.colors.hidden = made.length === 0;
    this.colors.value = state.color ?? "structure";
    this.stop.hidden = !state.trace;
    this.levels.value = state.level ?? "layers";
    this.levels.hidden = state.level === undefined;
  }

  private isShelved(key: string): boolean {
    for (const node of this.svg?.querySelectorAll("g.n[data-aside]") ?? [])
      if (node.getAttribute("data-name") === key) return true;
    return false;
  }

  private onFind(): void {
    clearTimeout(this.asked);
    this.jump = false;
    this.asked = setTimeout(() => this.seek(), ASK_AFTER);
  }

  private seek(): void {
    clearTimeout(this.asked);
    this.sought = this.find.value;
    this.ask("search", "", { text: this.sought });
  }

  /** Go to the first hit, once those of what is typed are there. */
  private first(): void {
    this.jump = this.known !== this.find.value;
    if (this.jump) this.seek();
    else this.hits.querySelector("button")?.click();
  }

  private found(): void {
    if (this.sought === undefined) return;
    this.known = this.sought;
    this.sought = undefined;
    if (this.jump && this.known === this.find.value) this.first();
  }

  private isSearching(): boolean {
    return this.search.contains(document.activeElement);
  }

  private hideHits(): void {
    this.find.focus({ preventScroll: true });
    this.hits.hidden = true;
  }

  private showHits(hits: Hit[]): void {
    const wanted = this.find.value.trim() !== "" && this.isSearching();
    this.hits.hidden = !wanted;
    if (!wanted) return;
    const rows = hits.map((hit) => {
      const go = button(hit.name, `Show ${hit.name}`, () => {
        this.find.value = "";
        this.hideHits();
        this.ask("reveal", hit.name);
      });
      return h("li", {}, go, h("small", {}, hit.what));
    });
    this.hits.replaceChildren(...(rows.length ? rows : [h("li", {}, "nothing of that name")]));
    this.hits.style.left = "0"; // of the field, if there is room
    const right = (of: HTMLElement) => of.getBoundingClientRect().right;
    this.hits.style.left = `${Math.min(0, right(this.root) - right(this.hits))}px`;
  }

  private flashHint(): void {
    this.hint.classList.add("is-shown");
    setTimeout(() => this.hint.classList.remove("is-shown"), 1400);
  }

  /** A message of the kernel: it has heard, or the DOT text that was asked for. */
  receive(message: { type: string; text?: string }): void {
    this.answered();
    this.note.textContent = this.state.note ?? "";
    if (message.type === "heard") this.found();
    if (message.type === "dot") this.saveAs(message.text ?? "", "dot", "text/vnd.graphviz");
  }

  private saveAs(content: BlobPart, ending: string, type: string): void {
    const url = URL.createObjectURL(new Blob([content], { type }));
    h("a", { href: url, download: `${this.state.title || "graph"}.${ending}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  private savePng(): void {
    const picture = new Image();
    const url = URL.createObjectURL(new Blob([this.drawn], { type: "image/svg+xml" }));
    picture.onload = () => {
      const { width, height } = this.size;
      const scale = Math.min(2, 8000 / Math.max(width, height)); // twice as fine, within what browsers draw
      const canvas = h("canvas", { width: width * scale, height: height * scale });
      canvas.getContext("2d")?.drawImage(picture, 0, 0, width * scale, height * scale);
      URL.revokeObjectURL(url);
      canvas.toBlob((blob) => blob && this.saveAs(blob, "png", "image/png"));
    };
    picture.src = url;
  }
}
