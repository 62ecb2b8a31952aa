/** Heat maps side by side: colours diverge from zero, or go one way where values do; one cell is marked in all. */
import { button, h } from "./dom";
import type { Guard } from "./guard";
import type { HeatPanel, HeatState } from "./model";
import { shortNumber } from "./series";
import { Sliders } from "./sliders";

const ROOM = 200;
const MOST_CELL = 24;
const SLIM = 100;
const GAP = 2e38; // what is larger, and finite, is no cell
const LIGHT = ["084a78", "4fa0d4", "f7f7f7", "f0955a", "9c3a00"];
const DARK = ["9bd6ff", "2f7fb5", "1d252d", "bd5c20", "ffbd93"];
const ONE_SIDED = new Map([
  [
    1,
    [
      ["f7f7f7", "fdd9b5", "f0955a", "c2571a", "6b2600"],
      ["1d252d", "6b3a1a", "bd5c20", "f09a5f", "ffe0cb"],
    ],
  ],
  [
    -1,
    [
      ["f7f7f7", "bfdff2", "4fa0d4", "1f6aa5", "06375a"],
      ["1d252d", "1f4a68", "2f7fb5", "6cbcec", "d5efff"],
    ],
  ],
]);
const NOT_FINITE = [200, 0, 200];

interface Shown {
  panel: HeatPanel;
  values: Float32Array;
  canvas: HTMLCanvasElement;
  mark: HTMLElement;
  said: HTMLElement;
}

export class HeatMaps {
  readonly root = h("div", { class: "tfnb-heat", hidden: true });
  private readonly title = h("b");
  private readonly place = h("span", { class: "tfnb-place", role: "status" });
  private readonly back: HTMLButtonElement;
  private readonly panels = h("div", { class: "tfnb-heats" });
  private readonly facts = h("div", { class: "tfnb-facts" });
  private readonly again: HTMLButtonElement;
  private readonly close: HTMLButtonElement;
  private readonly sliders: Sliders;
  private room = ROOM;
  private readonly theme = new MutationObserver(() => this.draw());
  private shown: Shown[] = [];
  private known = "";
  private at: [number, number] = [0, 0];
  private pointed = -1; // the panel with the pointer

  constructor(
    private readonly send: (message: Record<string, unknown>) => void,
    private readonly guard: Guard,
  ) {
    this.back = button("Whole", "Show the whole matrix again", () => this.send({ type: "whole" }));
    this.again = button("Look again", "Run again, for the values of now beside those before", () =>
      this.send({ type: "look" }),
    );
    this.close = button("×", "Close the pictures", () => this.send({ type: "enlarge", name: "" }));
    this.close.className = "tfnb-close";
    this.sliders = new Sliders((name, value) => this.send({ type: "slide", name, value }));
    const bar = h("div", { class: "tfnb-bar" }, this.title, this.place, this.again, this.back, this.close);
    this.root.append(bar, this.sliders.root, this.facts, this.panels);
    this.theme.observe(document.body, { attributes: true });
  }

  dispose(): void {
    this.theme.disconnect();
    this.sliders.stop();
  }

  show(heat: HeatState | null): void {
    this.root.hidden = !heat;
    this.sliders.show(heat?.sliders ?? []);
    this.facts.textContent = heat?.facts ?? "";
    this.again.hidden = !heat?.again;
    this.close.hidden = !heat?.close;
    this.room = heat?.room ?? ROOM;
    this.root.style.setProperty("--tf-room", `${this.room}px`);
    this.back.hidden = !heat?.zoomed;
    const many = this.room < ROOM; // small pictures in one scale
    if (many && heat?.panels[0]) this.facts.append(scaleOf(heat.panels[0]));
    this.drawScales();
    const known = JSON.stringify(heat?.panels ?? []);
    if (!heat || known === this.known) return;
    this.known = known;
    this.place.textContent = "point at a cell, or move with the arrow keys; a click looks closer";
    this.shown = heat.panels.map((panel, i) => this.panel(panel, i));
    this.panels.replaceChildren(
      ...this.shown.map(({ panel, canvas, mark, said }) =>
        h(
          "figure",
          {},
          h(
            "figcaption",
            {},
            panel.title,
            !many && h("small", {}, ` ${panel.shape.join("×") || "one number"}`),
          ),
          h("div", { class: "tfnb-cells" }, canvas, mark),
          !many && scaleOf(panel),
          said,
          h("small", {}, panel.note),
        ),
      ),
    );
    if (heat.title === this.title.textContent) this.point(this.pointed, ...this.at);
    this.title.textContent = heat.title;
    this.draw();
  }

  private panel(panel: HeatPanel, index: number): Shown {
    const bytes = Uint8Array.from(atob(panel.data), (c) => c.charCodeAt(0));
    const [wide, high] = sizeOf(panel, this.room);
    const canvas = h("canvas", {
      width: panel.cols,
      height: panel.rows,
      tabindex: 0,
      role: "img",
      "aria-label": `${panel.title} ${panel.shape.join("×")}: arrow keys move, Enter looks closer, Escape goes back`,
    });
    canvas.style.width = `${wide}px`;
    canvas.style.height = `${high}px`;
    const where = (event: MouseEvent): [number, number] => [
      Math.floor((event.offsetY / high) * panel.rows),
      Math.floor((event.offsetX / wide) * panel.cols),
    ];
    canvas.addEventListener(
      "pointermove",
      this.guard((event: PointerEvent) => this.point(index, ...where(event))),
    );
    canvas.addEventListener("pointerleave", () => this.point(-1, 0, 0));
    canvas.addEventListener("click", () => this.closer(index));
    canvas.addEventListener(
      "keydown",
      this.guard((event: KeyboardEvent) => this.key(event, index)),
    );
    const said = h("output");
    const mark = h("div", { hidden: true });
    return { panel, values: new Float32Array(bytes.buffer), canvas, mark, said };
  }

  private key(event: KeyboardEvent, index: number): void {
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
    };
    const move = moves[event.key];
    if (move) this.point(index, ...this.next(index, move));
    else if (event.key === "Enter") this.closer(index);
    else if (event.key === "Escape") this.send({ type: "whole" });
    else return;
    event.preventDefault();
  }

  /** The next cell that way, over the gaps between tiles; the same one at the end. */
  private next(index: number, [down, right]: [number, number]): [number, number] {
    const { panel, values } = this.shown[index] as Shown;
    let [row, column] = this.at;
    do {
      row += down;
      column += right;
      if (row !== clamp(row, panel.rows) || column !== clamp(column, panel.cols)) return this.at;
    } while (isGap(values[row * panel.cols + column] as number));
    return [row, column];
  }

  private closer(index: number): void {
    this.send({ type: "zoom", panel: index, row: this.at[0], column: this.at[1] });
  }

  /** Mark a cell in every panel that has the same cells as panel `index`, and tell its values; -1: none. */
  private point(index: number, row: number, column: number): void {
    this.pointed = index;
    const from = this.shown[index]?.panel;
    if (from) {
      this.at = [clamp(row, from.rows), clamp(column, from.cols)];
      const gap = isGap(this.shown[index]?.values[this.at[0] * from.cols + this.at[1]] as number);
      this.place.textContent = gap
        ? ""
        : `${from.form === "matrix" ? "" : "element "}${nameOf(from, ...this.at)}`;
    }
    for (const { panel, values, mark, said } of this.shown) {
      const linked = from && panel.form === from.form && panel.rows === from.rows && panel.cols === from.cols;
      const value = linked ? (values[this.at[0] * panel.cols + this.at[1]] as number) : Number.NaN;
      mark.hidden = !linked || isGap(value);
      said.textContent = mark.hidden ? "" : shortNumber(value);
      if (mark.hidden) continue;
      const [wide, high] = sizeOf(panel, this.room);
      const [w, t] = [wide / panel.cols, high / panel.rows];
      mark.style.cssText = `left:${this.at[1] * w}px;top:${this.at[0] * t}px;width:${w}px;height:${t}px`;
    }
  }

  private stops(side: number): string[] {
    const dark = this.root.closest(".tfnb")?.getAttribute("data-theme") === "dark";
    return (ONE_SIDED.get(side) ?? [LIGHT, DARK])[Number(dark)] as string[];
  }

  private drawScales(): void {
    for (const ramp of this.root.querySelectorAll<HTMLElement>(".tfnb-scale i")) {
      const side = Number(ramp.dataset.side);
      const to = `to ${side < 0 ? "left" : "right"}`;
      ramp.style.background = `linear-gradient(${[to, ...this.stops(side).map((hex) => `#${hex}`)].join()})`;
    }
  }

  draw(): void {
    this.drawScales();
    for (const { panel, values, canvas } of this.shown) {
      const side = panel.side ?? 0;
      const stops = this.stops(side).map((hex) =>
        [0, 2, 4].map((i) => Number.parseInt(hex.slice(i, i + 2), 16)),
      );
      const context = canvas.getContext?.("2d");
      if (!context || !values.length) continue;
      const image = context.createImageData(panel.cols, panel.rows);
      values.forEach((value, i) => {
        if (isGap(value)) return;
        const [r, g, b] = Number.isFinite(value)
          ? colour(value / Math.min(panel.limit || 1, GAP), stops, side)
          : NOT_FINITE;
        image.data.set([r as number, g as number, b as number, 255], 4 * i);
      });
      context.putImageData(image, 0, 0);
    }
  }
}

function scaleOf({ limit, side = 0 }: HeatPanel): HTMLElement {
  const [low, high] = [side > 0 ? "0" : shortNumber(-limit), side < 0 ? "0" : shortNumber(limit)];
  return h("div", { class: "tfnb-scale" }, low, h("i", { "data-side": side }), high);
}

function isGap(value: number): boolean {
  return value > GAP && value < Number.POSITIVE_INFINITY;
}

function clamp(place: number, count: number): number {
  return Math.max(0, Math.min(count - 1, place));
}

function colour(share: number, stops: number[][], side: number): number[] {
  const clipped = Math.max(-1, Math.min(1, share));
  const at = side ? Math.max(0, clipped * side) * 4 : clipped * 2 + 2;
  const [low, rest] = [Math.min(3, Math.floor(at)), at - Math.min(3, Math.floor(at))];
  const [a, b] = [stops[low] as number[], stops[low + 1] as number[]];
  return a.map((from, i) => from + ((b[i] as number) - from) * rest);
}

function sizeOf({ rows, cols, form }: HeatPanel, room: number): [number, number] {
  let cell = Math.min(MOST_CELL * Math.max(1, room / ROOM), room / Math.max(rows, cols, 1));
  if (cell >= 2) cell = Math.floor(cell);
  const least = (count: number) => (form === "matrix" ? Math.min(MOST_CELL, SLIM / count) : 0);
  return [cols * Math.max(cell, least(cols)), rows * Math.max(cell, least(rows))];
}

/** Which element, or block of elements, a cell stands for: "[3, 17]", "[0:8, 16:24]". */
export function nameOf(panel: HeatPanel, row: number, column: number): string {
  const range = (first: number, count: number) => (count === 1 ? `${first}` : `${first}:${first + count}`);
  const { form, start, block, tile, shape } = panel;
  if (form === "strip") return `[${range((row * panel.cols + column) * block[1], block[1])}]`;
  if (form === "matrix")
    return `[${range(start[0] + row * block[0], block[0])}, ${range(start[1] + column * block[1], block[1])}]`;
  const [high, wide] = [tile[0] + 1, tile[1] + 1];
  const places = [row % high, column % wide, Math.floor(row / high), Math.floor(column / wide)];
  return `[${places.slice(4 - shape.length).join(", ")}]`;
}
