/** Panels of the live board beside curves: histograms over time as a ridge, and pictures with a slider over steps. */
import { COLORS, type Look } from "./chart";
import { h, s } from "./dom";
import { pointByKeys } from "./keys";
import { nearest, shortNumber, ticks } from "./series";

const HEIGHT = 210;
const TOP = 8;
const RIGHT = 46; // room for the steps
const LEFT = 40; // and for the counts
const BOTTOM = 28;
const PEAK = 64; // pixels of the highest bin

interface RidgeData {
  low: number;
  high: number;
  steps: number[];
  table: Float32Array; // a row of bins for each step, 0 to 1
  top: number; // the count that 1 is
}

export class RidgePanel {
  readonly root = h("figure", { class: "tfnb-chart" });
  private readonly svg = s("svg", { class: "tfnb-plot", role: "img", height: HEIGHT }) as SVGSVGElement;
  private readonly tip = h("div", { class: "tfnb-tip", hidden: true });
  private data: RidgeData | undefined;
  private at: [number, number] | undefined; // of the pointer, within
  private width = 420; // when it was seen last

  constructor(
    readonly name: string,
    private readonly color: number,
    private readonly look: Look, // whose pointer is that of the curves
    private readonly redraw: () => void,
  ) {
    const box = h("div", { class: "tfnb-plot-box" }, this.svg, this.tip);
    this.root.append(h("figcaption", {}, name), box);
    pointByKeys(this.svg);
    this.svg.addEventListener("pointermove", (event) => {
      const box = this.svg.getBoundingClientRect();
      this.at = [event.clientX - box.left, event.clientY - box.top];
      const at = this.look.x === "step" ? this.data?.steps[this.row(this.at[1])] : undefined;
      this.look.pointer = at === undefined ? undefined : { at };
      this.redraw();
    });
    this.svg.addEventListener("pointerleave", () => {
      this.at = this.look.pointer = undefined;
      this.redraw();
    });
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
    const { low, high, steps, top } = this.data;
    const last = steps.length - 1;
    const front = HEIGHT - BOTTOM;
    const labels = ticks(steps[0] as number, steps[last] as number, 4).map((step) =>
      s("text", { x: width - RIGHT + 6, y: this.base(step) + 3 }, shortNumber(step)),
    );
    const scale = [
      s("path", { class: "tfnb-axis", d: `M${LEFT - 3} ${front - PEAK}h-3v${PEAK}h3` }),
      s(
        "text",
        { x: LEFT - 9, y: front - PEAK + 3, "text-anchor": "end" },
        shortNumber(Number(top.toPrecision(2))),
      ),
      s("text", { x: LEFT - 9, y: front + 3, "text-anchor": "end" }, "0"),
    ];
    const below = ticks(low, high, Math.max(4, Math.floor(width / 90))).map((tick) =>
      s("text", { x: this.column(tick, width), y: HEIGHT - 10, "text-anchor": "middle" }, shortNumber(tick)),
    );
    const rows = steps.map((_, row) =>
      s("path", {
        class: `tfnb-ridge tfnb-s${this.color % COLORS}`,
        d: this.path(row, width),
        "stroke-opacity": (0.35 + (0.65 * row) / Math.max(1, last)).toFixed(2),
      }),
    );
    this.svg.replaceChildren(...rows, ...scale, ...below, ...labels);
    const range = `${shortNumber(low)} to ${shortNumber(high)}`;
    this.svg.setAttribute(
      "aria-label",
      `${this.name}: histograms of ${steps.length} steps up to ${steps[last]}, values ${range}`,
    );
    this.point();
  }

  private column(value: number, width: number): number {
    const { low, high } = this.data as RidgeData;
    return LEFT + ((value - low) / (high - low)) * (width - RIGHT - LEFT);
  }

  /** The line that a step stands on; the newest stands in front. */
  private base(step: number): number {
    const { steps } = this.data as RidgeData;
    const [began, ended] = [steps[0] as number, steps.at(-1) as number];
    const back = TOP + PEAK;
    const front = HEIGHT - BOTTOM;
    return ended > began ? back + ((front - back) * (step - began)) / (ended - began) : front;
  }

  /** The row that is nearest to a height. */
  private row(y: number): number {
    const far = (this.data as RidgeData).steps.map((step) => Math.abs(this.base(step) - 6 - y));
    return far.indexOf(Math.min(...far));
  }

  private path(row: number, width: number): string {
    const { low, high, steps, table } = this.data as RidgeData;
    const bins = table.length / steps.length;
    const base = this.base(steps[row] as number);
    let text = `M${this.column(low, width).toFixed(1)} ${base.toFixed(1)}`;
    for (let i = 0; i < bins; i++) {
      const x = this.column(low + ((i + 0.5) / bins) * (high - low), width);
      text += `L${x.toFixed(1)} ${(base - PEAK * (table[row * bins + i] as number)).toFixed(1)}`;
    }
    return `${text}L${this.column(high, width).toFixed(1)} ${base.toFixed(1)}`;
  }

  /** Mark the row under the pointer, here or at that step in another panel. */
  private point(): void {
    const { low, high, steps } = this.data as RidgeData;
    const pointer = this.look.x === "step" ? this.look.pointer?.at : undefined;
    this.tip.hidden = !this.at && pointer === undefined;
    if (this.tip.hidden) return;
    const row = this.at ? this.row(this.at[1]) : nearest(Float64Array.from(steps), pointer as number);
    this.svg.querySelectorAll(".tfnb-ridge")[row]?.classList.add("is-picked");
    const value = this.at && low + ((this.at[0] - LEFT) / (this.width - RIGHT - LEFT)) * (high - low);
    const here = value === undefined ? "" : ` · value ${shortNumber(Math.min(high, Math.max(low, value)))}`;
    this.tip.replaceChildren(h("small", {}, `step ${shortNumber(steps[row] as number)}${here}`));
    this.tip.style.left = `${Math.max(0, Math.min((this.at?.[0] ?? LEFT) + 12, this.width - 150))}px`;
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
