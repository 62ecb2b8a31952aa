/** One panel of the live board: axes, curves, marks of what happened, a cross-hair with values, zoom by a drag. */
import { h, s } from "./dom";
import { pointByKeys } from "./keys";
import type { Mark } from "./model";
import {
  ends,
  last,
  logTicks,
  nearest,
  pathOf,
  reach,
  type Series,
  shortNumber,
  smooth,
  ticks,
  unitOf,
} from "./series";

export interface Curve {
  name: string;
  color: number; // FAINT: of another run
  series: Series;
  shown: boolean;
}

/** A place on the x axis, and whose points tell its step and time: panels of thinned curves have different points. */
interface Pointer {
  at: number;
  by?: Series | undefined; // by default of the first panel that is drawn
}

/** What all panels of a board share. */
export interface Look {
  smoothing: number;
  logY: boolean;
  x: string;
  range?: [number, number] | undefined; // of x, that is zoomed to
  pointer?: Pointer | undefined; // the same in all panels
  marks: Mark[];
}

const HEIGHT = 210;
const TOP = 18;
const RIGHT = 14;
const BOTTOM = 28;
const DRAG = 5; // pixels that make a drag of a click
const NEAR = 7; // pixels from a mark within which it is told
export const COLORS = 8;
export const FAINT = -2;
const SIGNS: Record<string, string> = { rate: "◆", pause: "‖", end: "■" };

interface Scale {
  low: number;
  high: number;
  at(value: number): number;
  value(at: number): number;
}

interface Entry {
  value: HTMLElement;
  ends: HTMLElement;
}

export class Chart {
  readonly root = h("figure", { class: "tfnb-chart" });
  private readonly title = h("figcaption");
  private readonly legend = h("div", { class: "tfnb-legend" });
  private readonly svg = s("svg", { class: "tfnb-plot", role: "img", height: HEIGHT }) as SVGSVGElement;
  private readonly tip = h("div", { class: "tfnb-tip", hidden: true });
  private readonly entries = new Map<Curve, Entry>();
  private width = 420; // when it was seen last: out of the window it has none
  private scales: { x: Scale; y: Scale } | undefined; // as it was drawn last
  private drag: { from: [number, number]; to: [number, number] } | undefined;
  private rangeY: [number, number] | undefined; // that is zoomed to

  constructor(
    group: string,
    readonly curves: Curve[],
    private readonly look: Look,
    private readonly redraw: () => void,
    private readonly peers = curves, // whose ranges count
  ) {
    this.title.textContent = group;
    this.root.append(this.title, h("div", { class: "tfnb-plot-box" }, this.svg, this.tip), this.legend);
    for (const curve of curves) if (curve.color !== FAINT) this.add(curve);
    pointByKeys(this.svg);
    this.listen();
  }

  get zoomed(): boolean {
    return !!this.rangeY;
  }

  /** Show all again: the range of x is the board's. */
  whole(): void {
    this.rangeY = undefined;
  }

  private listen(): void {
    const place = (event: PointerEvent): [number, number] => {
      const box = this.svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const on = (name: string, act: (event: PointerEvent) => void) =>
      this.svg.addEventListener(name, (event) => act(event as PointerEvent));
    on("pointerdown", (event) => {
      if (event.button) return;
      this.drag = { from: place(event), to: place(event) };
      this.svg.setPointerCapture?.(event.pointerId);
    });
    on("pointermove", (event) => {
      const at = place(event);
      if (this.drag) this.drag.to = at;
      this.look.pointer = this.scales && this.snap(this.scales.x.value(at[0]));
      this.redraw();
    });
    on("pointerup", () => {
      const drag = this.drag;
      this.drag = undefined;
      if (drag) this.zoom(drag.from, drag.to);
    });
    on("pointercancel", () => {
      this.drag = undefined;
    });
    on("pointerleave", () => {
      this.look.pointer = undefined;
      this.redraw();
    });
    this.svg.addEventListener("mousedown", (event) => event.preventDefault()); // it takes the focus by Tab
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("keydown", (event) => {
      const factor = { "+": 0.5, "-": 2 }[event.key];
      if (event.key === "Escape" && (this.look.range || this.rangeY)) this.reset();
      else if (factor) this.scale(factor);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  private reset(): void {
    this.look.range = undefined;
    this.whole();
    this.redraw();
  }

  /** Zoom around the pointer. */
  private scale(factor: number): void {
    if (!this.scales) return;
    const { low, high } = this.scales.x;
    const middle = this.look.pointer?.at ?? (low + high) / 2;
    this.look.range = [middle - (middle - low) * factor, middle + (high - middle) * factor];
    this.redraw();
  }

  /** Zoom to what was dragged over: a range of x, or of y, or both. */
  private zoom(from: [number, number], to: [number, number]): void {
    if (!this.scales) return;
    const { x, y } = this.scales;
    const [wide, high] = [Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])];
    const order = (a: number, b: number): [number, number] => (a < b ? [a, b] : [b, a]);
    if (wide > DRAG && wide * 3 > high) this.look.range = order(x.value(from[0]), x.value(to[0]));
    if (high > 4 * DRAG && high * 3 > wide) this.rangeY = order(y.value(from[1]), y.value(to[1]));
    this.redraw();
  }

  private add(curve: Curve): void {
    const [value, ends] = [h("b"), h("small")];
    const made = h(
      "button",
      { type: "button", "aria-pressed": String(curve.shown), title: `Show or hide ${curve.name}` },
      h("i", { class: `tfnb-s${curve.color % COLORS}` }),
      curve.name,
      " ",
      value,
      " ",
      ends,
    );
    made.addEventListener("click", () => {
      curve.shown = !curve.shown;
      made.setAttribute("aria-pressed", String(curve.shown));
      this.redraw();
    });
    this.entries.set(curve, { value, ends });
    this.legend.append(made);
  }

  /** Draw what there is now. */
  draw(): void {
    this.width = this.svg.clientWidth || this.root.clientWidth || this.width;
    const width = this.width;
    const peers = this.peers.filter((curve) => curve.shown && curve.series.length);
    const shown = peers.filter((curve) => this.curves.includes(curve));
    const smoothed = new Map(
      peers.map((c) => [c, smooth(this.seen(c).values, c.color === FAINT ? 0 : this.look.smoothing)]),
    );
    const range = this.look.range;
    const y = this.yScale(peers, smoothed);
    const yTicks = this.look.logY ? logTicks(y.low, y.high) : ticks(y.low, y.high, 5);
    const left = 14 + 6.4 * Math.max(3, ...yTicks.map((tick) => shortNumber(tick).length));
    const x = this.xScale(peers, left, width - RIGHT);
    this.scales = { x, y };
    const [unit, size] = this.look.x === "time" ? unitOf(x.high) : [this.look.x === "share" ? "%" : "", 1];
    const xTicks = ticks(x.low / size, x.high / size, Math.max(4, Math.floor(width / 90)));
    const drawn = shown.flatMap((curve) => this.lines(curve, smoothed.get(curve) as Float64Array, x, y));
    const clipped = s("svg", { x: left, y: 0, width: width - RIGHT - left, height: HEIGHT - BOTTOM });
    clipped.setAttribute("viewBox", `${left} 0 ${width - RIGHT - left} ${HEIGHT - BOTTOM}`);
    clipped.append(...drawn);
    const parts = [
      ...yTicks.flatMap((tick) => this.yTick(tick, y, left, width)),
      ...xTicks.map((tick, i) => {
        const text = shortNumber(tick) + (i < xTicks.length - 1 ? "" : ` ${unit}`);
        const at = Math.min(x.at(tick * size), width - 3.2 * text.length);
        return s("text", { x: at, y: HEIGHT - 10, "text-anchor": "middle" }, text);
      }),
      s("path", { class: "tfnb-axis", d: `M${left} ${HEIGHT - BOTTOM + 0.5}H${width - RIGHT}` }),
      ...(range || this.rangeY ? [clipped] : drawn),
      ...this.marks(x).map(([mark, at]) => this.mark(mark, at)),
      ...(shown.length
        ? []
        : [s("text", { x: width / 2, y: HEIGHT / 2, "text-anchor": "middle" }, this.nothing())]),
    ];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    this.svg.replaceChildren(...parts);
    this.svg.setAttribute("aria-label", this.words(shown));
    for (const [{ series }, entry] of this.entries) {
      entry.value.textContent = last(series);
      entry.ends.textContent = ends(series);
    }
    this.cross(shown, smoothed, x, y, width);
    if (this.drag) this.band(this.drag.from, this.drag.to, x);
  }

  private band(from: [number, number], to: [number, number], x: Scale): void {
    const [a, b] = [from[0], to[0]]
      .map((at) => Math.min(x.at(x.high), Math.max(x.at(x.low), at)))
      .sort((one, other) => one - other) as [number, number];
    const whole = Math.abs(to[1] - from[1]) <= 4 * DRAG || Math.abs(to[1] - from[1]) * 3 <= b - a;
    const [top, low] = whole
      ? [TOP, HEIGHT - BOTTOM]
      : ([from[1], to[1]].sort((p, q) => p - q) as [number, number]);
    this.svg.append(s("rect", { class: "tfnb-band", x: a, y: top, width: b - a, height: low - top }));
  }

  private seen(curve: Curve): Series {
    return curve.series.within(this.look.range);
  }

  private words(shown: Curve[]): string {
    const said = shown.filter((curve) => curve.color !== FAINT).map((c) => `${c.name} ${last(c.series)}`);
    const marks = this.scales ? this.marks(this.scales.x).map(([mark]) => mark[3]) : [];
    return `${this.title.textContent}: ${[...said, ...marks].join(", ") || this.nothing()}`;
  }

  private nothing(): string {
    return this.curves.some((curve) => !curve.shown) ? "all of it is hidden" : "no values yet";
  }

  /** The marks of the runs that are shown here, and where they stand. */
  private marks(x: Scale): [Mark, number][] {
    const own = this.curves.filter((curve) => curve.color !== FAINT && curve.shown && curve.series.length);
    const found: [Mark, number][] = [];
    for (const mark of this.look.marks) {
      const [step, seconds, , , color] = mark;
      const its = own.filter((curve) => color < 0 || curve.color === color).map(({ series }) => series.end);
      if (!its.length) continue;
      const place = { time: seconds, share: (100 * step) / Math.max(1, ...its) }[this.look.x] ?? step;
      if (place >= x.low && place <= x.high * (1 + 1e-6) + 1)
        found.push([mark, Math.min(x.at(place), x.at(x.high))]);
    }
    return found;
  }

  private mark([, , kind, text, color]: Mark, place: number): SVGElement {
    const at = Math.round(place) + 0.5;
    const sign = s(
      "text",
      { class: "tfnb-sign", x: at, y: TOP - 6, "text-anchor": "middle" },
      SIGNS[kind] ?? "·",
    );
    const line = s("path", { d: `M${at} ${TOP - 3}V${HEIGHT - BOTTOM}` });
    const tone = color < 0 ? "" : ` tfnb-s${color % COLORS}`;
    return s("g", { class: `tfnb-mark${tone}` }, s("title", {}, text), line, sign);
  }

  private xScale(shown: Curve[], from: number, to: number): Scale {
    const all = shown.map(({ series }) => series);
    const [low, high] = this.look.range ?? reach(all, this.look.x);
    return {
      low,
      high,
      at: (value) => from + ((value - low) / (high - low)) * (to - from),
      value: (at) => low + ((at - from) / (to - from)) * (high - low),
    };
  }

  private yScale(shown: Curve[], smoothed: Map<Curve, Float64Array>): Scale {
    const f = this.look.logY ? Math.log10 : (value: number) => value;
    const back = this.look.logY ? (value: number) => 10 ** value : (value: number) => value;
    const span = HEIGHT - BOTTOM - TOP;
    const [a, b] = (this.rangeY?.map(f) as [number, number] | undefined) ?? this.yRange(shown, smoothed, f);
    return {
      low: back(a),
      high: back(b),
      at: (value) => HEIGHT - BOTTOM - ((f(value) - a) / (b - a)) * span,
      value: (at) => back(a + ((HEIGHT - BOTTOM - at) / span) * (b - a)),
    };
  }

  /** The range of what is seen of the curves, with some room around it. */
  private yRange(
    shown: Curve[],
    smoothed: Map<Curve, Float64Array>,
    f: (value: number) => number,
  ): [number, number] {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const [from, to] = this.look.range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const curve of shown) {
      const along = this.seen(curve).along(this.look.x);
      for (const values of [this.seen(curve).values, smoothed.get(curve) ?? []]) {
        for (const [i, value] of values.entries()) {
          if (!Number.isFinite(value) || (this.look.logY && value <= 0)) continue;
          if ((along[i] as number) < from || (along[i] as number) > to) continue;
          if (value < low) low = value;
          if (value > high) high = value;
        }
      }
    }
    if (!(low <= high)) [low, high] = this.look.logY ? [0.1, 1] : [0, 1];
    const [a, b] = [f(low), f(high)];
    const even = b - a <= Math.abs(a) * 1e-9; // the mean of equal values differs from them in the last digit
    const pad = (even ? Math.abs(a) * 0.1 : (b - a) * 0.06) || 0.5;
    return [!this.look.logY && low >= 0 && a - pad < 0 ? 0 : a - pad, b + pad];
  }

  private yTick(tick: number, y: Scale, left: number, width: number): SVGElement[] {
    const at = Math.round(y.at(tick)) + 0.5;
    return [
      s("path", { class: "tfnb-grid", d: `M${left} ${at}H${width - RIGHT}` }),
      s("text", { x: left - 6, y: at + 3.5, "text-anchor": "end" }, shortNumber(tick)),
    ];
  }

  private lines(curve: Curve, means: Float64Array, x: Scale, y: Scale): SVGElement[] {
    const columns = this.seen(curve)
      .along(this.look.x)
      .map((place) => x.at(place));
    const faint = curve.color === FAINT;
    const draw = (data: Float64Array, tone: string) =>
      s("path", { class: `tfnb-line ${tone}`, d: pathOf(columns, data, y, this.look.logY) });
    const raw = this.seen(curve).values;
    if (faint) return [draw(raw, "is-other")];
    const ink = `tfnb-s${curve.color % COLORS}`;
    return this.look.smoothing > 0 ? [draw(raw, `${ink} is-faint`), draw(means, ink)] : [draw(raw, ink)];
  }

  private cross(shown: Curve[], smoothed: Map<Curve, Float64Array>, x: Scale, y: Scale, width: number): void {
    const { at: pointer, by } = this.look.pointer ?? {};
    this.tip.hidden = pointer === undefined || !shown.length || pointer < x.low || pointer > x.high;
    if (this.tip.hidden || pointer === undefined) return;
    const first = by ?? (this.first(shown) as Series);
    this.look.pointer = { at: pointer, by: first };
    const at0 = nearest(first.along(this.look.x), pointer);
    const at = Math.round(x.at(pointer)) + 0.5;
    this.svg.append(s("path", { class: "tfnb-cross", d: `M${at} ${TOP}V${HEIGHT - BOTTOM}` }));
    const rows = shown.map((curve) => this.row(curve, pointer, smoothed.get(curve) as Float64Array, at, y));
    const marks = this.marks(x).filter(([, place]) => Math.abs(place - x.at(pointer)) < NEAR);
    const seconds = first.along("time")[at0] as number;
    const [unit, size] = unitOf(seconds);
    const step = this.look.x === "step" ? pointer : (first.steps[at0] as number);
    const place = `step ${shortNumber(step)} · ${shortNumber(seconds / size)} ${unit}`;
    const noted = marks.map(([mark]) => h("div", {}, `${SIGNS[mark[2]] ?? "·"} ${mark[3]}`));
    this.tip.replaceChildren(h("small", {}, place), ...rows, ...noted);
    const wide = this.tip.offsetWidth;
    const left = at + 10 + wide <= width ? at + 10 : Math.max(0, at - 10 - wide);
    this.tip.style.left = `${left}px`;
  }

  /** The points that the pointer goes by: those of the first curve. */
  private first(shown: Curve[]): Series | undefined {
    const found = shown.find((curve) => curve.color !== FAINT) ?? shown[0];
    return found && this.seen(found);
  }

  /** The point nearest to a place on the x axis. */
  private snap(place: number): Pointer {
    const by = this.first(this.curves.filter((each) => each.shown && each.series.length));
    const along = by?.along(this.look.x);
    return { at: along?.[nearest(along, place)] ?? place, by };
  }

  private row(curve: Curve, here: number, means: Float64Array, at: number, y: Scale): HTMLElement {
    const faint = curve.color === FAINT;
    const smoothing = this.look.smoothing > 0 && !faint;
    const series = this.seen(curve);
    const i = nearest(series.along(this.look.x), here);
    const value = series.values[i] as number;
    const seen = smoothing ? (means[i] as number) : value;
    const ink = faint ? "is-other" : `tfnb-s${curve.color % COLORS}`;
    if (Number.isFinite(seen) && !faint)
      this.svg.append(s("circle", { class: `tfnb-dot ${ink}`, cx: at, cy: y.at(seen), r: 3.5 }));
    const also = smoothing ? ` (mean ${shortNumber(seen)})` : "";
    return h("div", {}, h("i", { class: ink }), `${curve.name} `, h("b", {}, shortNumber(value)), also);
  }
}
