/** Panels of the live board beside curves: histograms over time as a ridge, and pictures with a slider over steps. */
import { COLORS } from "./chart";
import { h, s } from "./dom";
import { pointByKeys } from "./keys";
import { shortNumber, ticks } from "./series";

const HEIGHT = 210;
const TOP = 8;
const RIGHT = 46; // room for the steps
const BOTTOM = 28;
const PEAK = 64; // pixels of the highest bin

export interface RidgeData {
  low: number;
  high: number;
  steps: number[];
  table: Float32Array; // a row of bins for each step, 0 to 1
}

export class RidgePanel {
  readonly root = h("figure", { class: "tfnb-chart" });
  private readonly svg = s("svg", { class: "tfnb-plot", role: "img", height: HEIGHT }) as SVGSVGElement;
  private readonly tip = h("div", { class: "tfnb-tip", hidden: true });
  private data: RidgeData | undefined;
  private width = 420; // when it was seen last

  constructor(
    readonly name: string,
    private readonly color: number,
  ) {
    const box = h("div", { class: "tfnb-plot-box" }, this.svg, this.tip);
    this.root.append(h("figcaption", {}, name), box);
    pointByKeys(this.svg);
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    this.svg.addEventListener("pointerleave", () => this.point());
  }

  show(data: RidgeData): void {
    this.data = data;
    this.draw();
  }

  draw(): void {
    this.width = this.svg.clientWidth || this.root.clientWidth || this.width;
    const width = this.width;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    if (!this.data) return;
    const { low, high, steps } = this.data;
    const last = steps.length - 1;
    const labels = [...new Set([0, Math.round(last / 2), last])].map((row) =>
      s("text", { x: width - RIGHT + 6, y: this.base(row) }, shortNumber(steps[row] as number)),
    );
    const below = ticks(low, high, Math.max(4, Math.floor(width / 90))).map((tick) =>
      s("text", { x: this.at(tick, width), y: HEIGHT - 10, "text-anchor": "middle" }, shortNumber(tick)),
    );
    const rows = steps.map((_, row) =>
      s("path", {
        class: `tfnb-ridge tfnb-s${this.color % COLORS}`,
        d: this.path(row, width),
        "stroke-opacity": (0.35 + (0.65 * row) / Math.max(1, last)).toFixed(2),
      }),
    );
    this.svg.replaceChildren(...rows, ...below, ...labels);
    const range = `${shortNumber(low)} to ${shortNumber(high)}`;
    this.svg.setAttribute(
      "aria-label",
      `${this.name}: histograms of ${steps.length} steps up to ${steps[last]}, values ${range}`,
    );
  }

  private at(value: number, width: number): number {
    const { low, high } = this.data as RidgeData;
    return 8 + ((value - low) / (high - low)) * (width - RIGHT - 8);
  }

  /** The line that a row stands on; the newest stands in front. */
  private base(row: number): number {
    const rows = (this.data as RidgeData).steps.length;
    const back = rows > 1 ? TOP + PEAK : HEIGHT - BOTTOM;
    return back + ((HEIGHT - BOTTOM - back) * row) / Math.max(1, rows - 1);
  }

  private path(row: number, width: number): string {
    const { low, high, steps, table } = this.data as RidgeData;
    const bins = table.length / steps.length;
    const base = this.base(row);
    let text = `M${this.at(low, width).toFixed(1)} ${base.toFixed(1)}`;
    for (let i = 0; i < bins; i++) {
      const x = this.at(low + ((i + 0.5) / bins) * (high - low), width);
      text += `L${x.toFixed(1)} ${(base - PEAK * (table[row * bins + i] as number)).toFixed(1)}`;
    }
    return `${text}L${this.at(high, width).toFixed(1)} ${base.toFixed(1)}`;
  }

  private point(event?: PointerEvent): void {
    this.tip.hidden = !event || !this.data;
    const lines = [...this.svg.querySelectorAll(".tfnb-ridge")];
    for (const each of lines) each.classList.remove("is-picked");
    if (!event || !this.data) return;
    const { low, high, steps } = this.data;
    const box = this.svg.getBoundingClientRect();
    const rows = steps.map((_, row) => Math.abs(this.base(row) - 6 - (event.clientY - box.top)));
    const row = rows.indexOf(Math.min(...rows));
    lines[row]?.classList.add("is-picked");
    const value = low + ((event.clientX - box.left - 8) / (box.width - RIGHT - 8)) * (high - low);
    const here = `value ${shortNumber(Math.min(high, Math.max(low, value)))}`;
    this.tip.replaceChildren(h("small", {}, `step ${shortNumber(steps[row] as number)} · ${here}`));
    this.tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 12, box.width - 150))}px`;
  }
}

export class PicturePanel {
  readonly root = h("figure", { class: "tfnb-chart tfnb-picture" });
  private readonly image = h("img");
  private readonly slider = h("input", { type: "range", min: 0, step: 1 });
  private readonly words = h("output");
  private urls: string[] = [];
  private steps: number[] = [];

  constructor(readonly name: string) {
    this.slider.setAttribute("aria-label", `Step of ${name}`);
    this.slider.addEventListener("input", () => this.draw());
    this.root.append(h("figcaption", {}, name), this.image, h("label", {}, this.slider, this.words));
  }

  /** PNG files, one a step; the newest is shown, unless the reader looks at an older one. */
  show(steps: number[], files: (DataView | ArrayBuffer)[]): void {
    const newest = Number(this.slider.value) >= this.steps.length - 1;
    this.free();
    this.steps = steps;
    this.urls = files.map((file) => URL.createObjectURL(new Blob([file as BlobPart], { type: "image/png" })));
    this.slider.max = String(steps.length - 1);
    if (newest) this.slider.value = this.slider.max;
    this.slider.hidden = steps.length < 2;
    this.draw();
  }

  draw(): void {
    const place = Number(this.slider.value);
    const step = shortNumber(this.steps[place] ?? 0);
    this.image.src = this.urls[place] ?? "";
    this.image.alt = `${this.name} at step ${step}`;
    this.words.textContent = `step ${step}`;
  }

  free(): void {
    for (const url of this.urls) URL.revokeObjectURL(url);
  }
}
