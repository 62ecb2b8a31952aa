/** One panel of the live board: axes, curves, a cross-hair with values. */
import { h, s } from "./dom";
import { pointByKeys } from "./keys";
import { nearest, reduce, type Series, shortNumber, smooth, ticks, unitOf } from "./series";

export interface Curve {
  name: string;
  color: number;
  series: Series;
  shown: boolean;
}

export interface Look {
  smoothing: number;
  logY: boolean;
  x: string;
}

const HEIGHT = 210;
const TOP = 12;
const RIGHT = 14;
const BOTTOM = 28;
export const COLORS = 8;

interface Scale {
  low: number;
  high: number;
  at(value: number): number;
}

export class Chart {
  readonly root = h("figure", { class: "tfnb-chart" });
  private readonly title = h("figcaption");
  private readonly legend = h("div", { class: "tfnb-legend" });
  private readonly svg = s("svg", { class: "tfnb-plot", role: "img", height: HEIGHT }) as SVGSVGElement;
  private readonly tip = h("div", { class: "tfnb-tip", hidden: true });
  private pointer: number | undefined;
  private width = 420; // when it was seen last: out of the window it has none
  private readonly entries = new Map<Curve, { value: HTMLElement; button: HTMLElement }>();

  constructor(
    group: string,
    readonly curves: Curve[],
    private readonly look: Look,
    private readonly redraw: () => void,
    private readonly peers = curves, // whose ranges count
  ) {
    this.title.textContent = group;
    this.root.append(this.title, h("div", { class: "tfnb-plot-box" }, this.svg, this.tip), this.legend);
    for (const curve of curves) this.add(curve);
    pointByKeys(this.svg);
    this.svg.addEventListener("pointermove", (event) => {
      this.pointer = event.clientX - this.svg.getBoundingClientRect().left;
      this.draw();
    });
    this.svg.addEventListener("pointerleave", () => {
      this.pointer = undefined;
      this.draw();
    });
  }

  private add(curve: Curve): void {
    const value = h("b");
    const made = h(
      "button",
      { type: "button", "aria-pressed": String(curve.shown), title: `Show or hide ${curve.name}` },
      h("i", { class: `tfnb-s${curve.color % COLORS}` }),
      curve.name,
      " ",
      value,
    );
    made.addEventListener("click", () => {
      curve.shown = !curve.shown;
      made.setAttribute("aria-pressed", String(curve.shown));
      this.redraw();
    });
    this.entries.set(curve, { value, button: made });
    this.legend.append(made);
  }

  /** Draw what there is now. */
  draw(): void {
    this.width = this.svg.clientWidth || this.root.clientWidth || this.width;
    const width = this.width;
    const peers = this.peers.filter((curve) => curve.shown && curve.series.length);
    const shown = peers.filter((curve) => this.curves.includes(curve));
    const smoothed = new Map(peers.map((c) => [c, smooth(c.series.values, this.look.smoothing)]));
    const y = this.yScale(peers, smoothed);
    const yTicks = this.look.logY ? logTicks(y.low, y.high) : ticks(y.low, y.high, 5);
    const left = 14 + 6.4 * Math.max(3, ...yTicks.map((tick) => shortNumber(tick).length));
    const x = this.xScale(peers, left, width - RIGHT);
    const [unit, size] = this.look.x === "time" ? unitOf(x.high) : ["", 1];
    const xTicks = ticks(x.low / size, x.high / size, Math.max(4, Math.floor(width / 90)));
    const parts = [
      ...yTicks.flatMap((tick) => this.yTick(tick, y, left, width)),
      ...xTicks.map((tick, i) =>
        s(
          "text",
          { x: x.at(tick * size), y: HEIGHT - 10, "text-anchor": "middle" },
          shortNumber(tick) + (i < xTicks.length - 1 ? "" : ` ${unit}`),
        ),
      ),
      s("path", { class: "tfnb-axis", d: `M${left} ${HEIGHT - BOTTOM + 0.5}H${width - RIGHT}` }),
      ...shown.flatMap((curve) => this.lines(curve, smoothed.get(curve) as Float64Array, x, y)),
      ...(shown.length
        ? []
        : [s("text", { x: width / 2, y: HEIGHT / 2, "text-anchor": "middle" }, this.nothing())]),
    ];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.replaceChildren(...parts);
    this.svg.setAttribute("aria-label", this.words(shown));
    for (const [curve, entry] of this.entries) entry.value.textContent = last(curve.series);
    this.cross(shown, smoothed, x, y, width);
  }

  private words(shown: Curve[]): string {
    return `${this.title.textContent}: ${shown.map((c) => `${c.name} ${last(c.series)}`).join(", ") || this.nothing()}`;
  }

  private nothing(): string {
    return this.curves.some((curve) => !curve.shown) ? "all of it is hidden" : "no values yet";
  }

  private xScale(shown: Curve[], from: number, to: number): Scale {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const { series } of shown) {
      const along = series.along(this.look.x);
      low = Math.min(low, along[0] as number);
      high = Math.max(high, along[series.length - 1] as number);
    }
    if (!(low <= high)) [low, high] = [0, 1];
    if (low > 0 && low < high / 50) low = 0; // the first point may have been thinned out
    if (low === high) high = low + Math.max(1, Math.abs(low) * 1e-9);
    return { low, high, at: (value) => from + ((value - low) / (high - low)) * (to - from) };
  }

  private yScale(shown: Curve[], smoothed: Map<Curve, Float64Array>): Scale {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const curve of shown) {
      for (const values of [curve.series.values, smoothed.get(curve) ?? []]) {
        for (const value of values) {
          if (!Number.isFinite(value) || (this.look.logY && value <= 0)) continue;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
    if (!(low <= high)) [low, high] = this.look.logY ? [0.1, 1] : [0, 1];
    const f = this.look.logY ? Math.log10 : (value: number) => value;
    let [a, b] = [f(low), f(high)];
    const even = b - a <= Math.abs(a) * 1e-9; // the mean of equal values differs from them in the last digit
    const pad = (even ? Math.abs(a) * 0.1 : (b - a) * 0.06) || 0.5;
    [a, b] = [a - pad, b + pad];
    if (!this.look.logY && low >= 0 && a < 0) a = 0;
    const span = HEIGHT - BOTTOM - TOP;
    return {
      low: this.look.logY ? 10 ** a : a,
      high: this.look.logY ? 10 ** b : b,
      at: (value) => HEIGHT - BOTTOM - ((f(value) - a) / (b - a)) * span,
    };
  }

  private yTick(tick: number, y: Scale, left: number, width: number): SVGElement[] {
    const at = Math.round(y.at(tick)) + 0.5;
    return [
      s("path", { class: "tfnb-grid", d: `M${left} ${at}H${width - RIGHT}` }),
      s("text", { x: left - 6, y: at + 3.5, "text-anchor": "end" }, shortNumber(tick)),
    ];
  }

  private lines(curve: Curve, means: Float64Array, x: Scale, y: Scale): SVGElement[] {
    const columns = curve.series.along(this.look.x).map((place) => x.at(place));
    const draw = (data: Float64Array, faint: boolean) =>
      s("path", {
        class: `tfnb-line tfnb-s${curve.color % COLORS}${faint ? " is-faint" : ""}`,
        d: pathOf(columns, data, y, this.look.logY),
      });
    const raw = curve.series.values;
    return this.look.smoothing > 0 ? [draw(raw, true), draw(means, false)] : [draw(raw, false)];
  }

  private cross(shown: Curve[], smoothed: Map<Curve, Float64Array>, x: Scale, y: Scale, width: number): void {
    this.tip.hidden = this.pointer === undefined || !shown.length;
    if (this.tip.hidden || this.pointer === undefined) return;
    const step = x.low + ((this.pointer - x.at(x.low)) / (x.at(x.high) - x.at(x.low))) * (x.high - x.low);
    const first = (shown[0] as Curve).series;
    const at0 = nearest(first.along(this.look.x), step);
    const here = first.along(this.look.x)[at0] as number;
    const at = Math.round(x.at(here)) + 0.5;
    this.svg.append(s("path", { class: "tfnb-cross", d: `M${at} ${TOP}V${HEIGHT - BOTTOM}` }));
    const rows = shown.map((curve) => {
      const i = nearest(curve.series.along(this.look.x), here);
      const value = curve.series.values[i] as number;
      const mean = smoothed.get(curve)?.[i] as number;
      const seen = this.look.smoothing > 0 ? mean : value;
      if (Number.isFinite(seen))
        this.svg.append(
          s("circle", { class: `tfnb-dot tfnb-s${curve.color % COLORS}`, cx: at, cy: y.at(seen), r: 3.5 }),
        );
      const also = this.look.smoothing > 0 ? ` (mean ${shortNumber(mean)})` : "";
      return h(
        "div",
        {},
        h("i", { class: `tfnb-s${curve.color % COLORS}` }),
        `${curve.name} `,
        h("b", {}, shortNumber(value)),
        also,
      );
    });
    const seconds = first.along("time")[at0] as number;
    const [unit, size] = unitOf(seconds);
    const place = `step ${shortNumber(first.steps[at0] as number)} · ${shortNumber(seconds / size)} ${unit}`;
    this.tip.replaceChildren(h("small", {}, place), ...rows);
    const wide = this.tip.offsetWidth;
    const left = at + 10 + wide <= width ? at + 10 : Math.max(0, at - 10 - wide);
    this.tip.style.left = `${left}px`;
  }
}

function last(series: Series): string {
  return series.length ? shortNumber(series.values[series.length - 1] as number) : "";
}

function pathOf(columns: Float64Array, values: Float64Array, y: Scale, log: boolean): string {
  let text = "";
  let pen = "M";
  for (const i of reduce(columns, values)) {
    const value = values[i] as number;
    if (!Number.isFinite(value) || (log && value <= 0)) {
      pen = "M";
      continue;
    }
    text += `${pen}${(columns[i] as number).toFixed(1)} ${y.at(value).toFixed(1)}`;
    pen = "L";
  }
  return text && !text.includes("L") ? `${text}h.1` : text;
}

function logTicks(low: number, high: number): number[] {
  const [a, b] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  if (b - a < 1) return ticks(low, high, 5).filter((tick) => tick > 0);
  const every = Math.ceil((b - a + 1) / 6);
  return Array.from({ length: b - a + 1 }, (_, i) => 10 ** (a + i)).filter((_, i) => i % every === 0);
}
