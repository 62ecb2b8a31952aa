/** The timeline of a run: zoomed and moved by wheel, drag, keys and buttons; bars too narrow to be seen are added up. */
import { button, h, s } from "./dom";
import type { TimelineState } from "./model";
import { drag, wheelZoom } from "./pointer";
import { shortNumber, ticks } from "./series";

const LANE = 34;
const GAP = 8;
const TOP = 6;
const LEFT = 76;
const COLUMN = 3; // pixels: bars that are narrower are added up
const LEAST = 1000; // nanoseconds that are seen at most closely
const MEMORY = TOP + 2 * (LANE + GAP);

type Bar = TimelineState["bars"][number];

export class Timeline {
  readonly root = h("div", { class: "tfnb-timeline" });
  private readonly by = h("select", { "aria-label": "Time by" });
  private readonly range = h("span", { class: "tfnb-note", role: "status" });
  private readonly svg = s("svg", { class: "tfnb-plot", role: "img", tabindex: 0 }) as SVGSVGElement;
  private readonly tip = h("div", { class: "tfnb-tip", role: "tooltip", hidden: true });
  private state: TimelineState | undefined;
  private seen: [number, number] = [0, 1]; // nanoseconds
  private width = 800; // when it was seen last
  private at = -1; // the bar that the keys are at

  constructor(send: (message: Record<string, unknown>) => void) {
    this.by.addEventListener("change", () => send({ type: "act", act: `by ${this.by.value}` }));
    const bar = h(
      "div",
      { class: "tfnb-bar" },
      this.by,
      button("+", "Closer: the middle of the timeline", () => this.zoom(2)),
      button("−", "Farther away", () => this.zoom(0.5)),
      button("Whole", "Show the whole run", () => this.look(0, this.end)),
      this.range,
    );
    this.root.append(bar, h("div", { class: "tfnb-plot-box" }, this.svg, this.tip));
    this.svg.addEventListener("pointermove", (event) => this.point(event));
    for (const event of ["pointerleave", "blur"]) this.svg.addEventListener(event, () => this.tell());
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.drag(event));
    this.svg.addEventListener("dblclick", (event) => this.zoom(4, this.time(event)));
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }

  show(state: TimelineState): void {
    const other = state.end !== this.state?.end;
    this.state = state;
    this.by.replaceChildren(...state.ways.map((way) => h("option", { value: way }, `by ${way}`)));
    this.by.value = state.by;
    if (other) this.look(0, state.end);
    else this.draw();
  }

  private get end(): number {
    return this.state?.end ?? 1;
  }

  private get scale(): number {
    return (this.width - LEFT - 14) / (this.seen[1] - this.seen[0]);
  }

  private x(time: number): number {
    return LEFT + (time - this.seen[0]) * this.scale;
  }

  private time(event: MouseEvent): number {
    return this.seen[0] + (event.clientX - this.svg.getBoundingClientRect().left - LEFT) / this.scale;
  }

  /** See the run from one time to another, within its bounds. */
  private look(from: number, to: number): void {
    const span = Math.min(this.end, Math.max(Math.min(LEAST, this.end), to - from));
    const begin = Math.max(0, Math.min(this.end - span, from));
    this.seen = [begin, begin + span];
    this.draw();
  }

  private zoom(factor: number, about = (this.seen[0] + this.seen[1]) / 2): void {
    const [from, to] = this.seen;
    this.look(about - (about - from) / factor, about + (to - about) / factor);
  }

  private pan(share: number): void {
    const [from, to] = this.seen;
    this.look(from + share * (to - from), to + share * (to - from));
  }

  private wheel(event: WheelEvent): void {
    const factor = wheelZoom(event, this.svg);
    if (factor === undefined) return;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / this.width);
    else this.zoom(factor, this.time(event));
  }

  private drag(press: PointerEvent): void {
    const [from, to] = this.seen;
    drag((event) => {
      const by = (press.clientX - event.clientX) / this.scale;
      this.look(from + by, to + by);
    });
  }

  private key(event: KeyboardEvent): void {
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.go(-1),
      ArrowRight: () => this.go(1),
      ArrowUp: () => this.zoom(2, this.middle()),
      ArrowDown: () => this.zoom(0.5, this.middle()),
      "+": () => this.zoom(2, this.middle()),
      "-": () => this.zoom(0.5, this.middle()),
      PageUp: () => this.pan(-0.8),
      PageDown: () => this.pan(0.8),
      Home: () => this.look(0, this.end),
      Escape: () => this.look(0, this.end),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
    if (this.at >= 0) this.tell(this.at);
  }

  /** The time of the bar that the keys are at, if it is seen. */
  private middle(): number | undefined {
    const [start, length] = this.state?.bars[this.at] ?? [-1, 0];
    const time = start + length / 2;
    return time >= this.seen[0] && time <= this.seen[1] ? time : undefined;
  }

  /** To the next bar, or the one before; the first one that is seen, where the last one isn't. */
  private go(step: number): void {
    const bars = this.state?.bars ?? [];
    const first = bars.findIndex(([start, length]) => start + length > this.seen[0]);
    this.at = this.middle() === undefined ? first : Math.max(0, Math.min(bars.length - 1, this.at + step));
    const [start, length] = bars[this.at] ?? [0, 0];
    const [from, to] = this.seen;
    if (start < from || start + length > to) this.look(start - (to - from) / 2, start + (to - from) / 2);
    else this.draw();
  }

  /** The bar under the pointer, or the nearest one in its column. */
  private point(event: PointerEvent): void {
    if (event.movementX === 0 && event.movementY === 0) return; // told anew for what was drawn under it
    const box = this.svg.getBoundingClientRect();
    const lane = Math.floor((event.clientY - box.top - TOP) / (LANE + GAP));
    const [time, near] = [this.time(event), COLUMN / 2 / this.scale];
    const bars = this.state?.bars ?? [];
    this.tell(
      bars.findIndex((bar) => bar[2] === lane && bar[0] - near <= time && bar[0] + bar[1] + near >= time),
    );
  }

  /** Say all of a bar; -1: of none. */
  private tell(place = -1): void {
    const bar = this.state?.bars[place];
    const lines = bar && this.state?.kinds[bar[4]];
    this.tip.hidden = !bar || !lines;
    if (!bar || !lines) return;
    const took = `${shortTime(bar[1])} as it ran, at ${shortTime(bar[0])}`;
    this.tip.replaceChildren(
      h("b", {}, lines[0] ?? ""),
      ...[took, ...lines.slice(1)].map((line) => h("div", {}, line)),
    );
    const right = Math.max(0, this.width - this.tip.offsetWidth - 8);
    this.tip.style.left = `${Math.max(0, Math.min(this.x(bar[0]), right))}px`;
    this.tip.style.top = `${TOP + bar[2] * (LANE + GAP) + LANE + 6}px`;
  }

  draw(): void {
    const { state } = this;
    if (!state) return;
    this.width = this.svg.clientWidth || this.width;
    const memory = state.bars.some((bar) => bar[6] > 0);
    const low = memory ? MEMORY + LANE : MEMORY - GAP;
    this.svg.setAttribute("height", String(low + 24));
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${low + 24}`);
    const shown = state.bars.filter(
      ([start, length]) => start + length >= this.seen[0] && start <= this.seen[1],
    );
    const names = memory ? [...state.lanes, "memory"] : state.lanes;
    const words = names.map((name, lane) => s("text", { x: 4, y: TOP + lane * (LANE + GAP) + 21 }, name));
    this.svg.replaceChildren(...this.axis(low), ...words, ...this.memory(shown), ...this.bars(shown));
    const [from, to] = this.seen;
    const whole = to - from >= this.end;
    const count = `${shown.length.toLocaleString("en")} of ${state.bars.length.toLocaleString("en")} bars`;
    this.range.textContent = whole
      ? "drag moves, Ctrl and the wheel zoom, a double click looks closer; arrow keys go from bar to bar"
      : `${shortTime(from)} to ${shortTime(to)}: ${count}`;
    this.svg.setAttribute("aria-label", `Timeline, ${shortTime(from)} to ${shortTime(to)}: ${count}`);
  }

  private axis(low: number): SVGElement[] {
    const [from, to] = this.seen;
    const span = to - from;
    const [unit, size] = unitOf(span);
    const marks = ticks(from / size, to / size, Math.max(3, Math.floor(this.width / 90)));
    return marks.flatMap((tick, i) => {
      const x = this.x(tick * size).toFixed(1);
      const word = String(Number(tick.toPrecision(9))) + (i === marks.length - 1 ? ` ${unit}` : "");
      return [
        s("path", { class: "tfnb-grid", d: `M${x} ${TOP}V${low}` }),
        s("text", { x, y: low + 16, "text-anchor": "middle" }, word),
      ];
    });
  }

  /** Bars one by one, and columns of those that are too narrow, each colour as high as its share of the time. */
  private bars(shown: Bar[]): SVGElement[] {
    const drawn: SVGElement[] = [];
    const columns = new Map<number, Map<string, number>>();
    for (const bar of shown) {
      const [start, length, lane, color, kind, group] = bar;
      const style = `tfnb-s${color}${this.state && this.state.lit >= 0 && this.state.lit !== group ? " is-faint" : ""}`;
      const width = length * this.scale;
      const here = bar === this.state?.bars[this.at];
      if (width >= COLUMN || here)
        drawn.push(
          ...this.bar(bar, `${style}${here ? " is-picked" : ""}`, this.state?.kinds[kind]?.[0] ?? ""),
        );
      if (width >= COLUMN) continue;
      const column = 2 * Math.floor(this.x(start + length / 2) / COLUMN) + lane;
      const sums = columns.get(column) ?? new Map<string, number>();
      sums.set(style, (sums.get(style) ?? 0) + width / COLUMN);
      columns.set(column, sums);
    }
    const added = [...columns].flatMap(([column, sums]) => {
      let y = TOP + (column % 2) * (LANE + GAP) + LANE;
      return [...sums].sort().map(([style, share]) => {
        const high = Math.max(1, Math.min(1, share) * LANE);
        y -= high;
        return s("rect", {
          class: style,
          x: Math.floor(column / 2) * COLUMN,
          y,
          width: COLUMN,
          height: high,
        });
      });
    });
    return [...added, ...drawn];
  }

  private bar([start, length, lane, color]: Bar, style: string, name: string): SVGElement[] {
    const x = Math.max(LEFT, this.x(start));
    const width = Math.max(1.5, Math.min(this.width - 14, this.x(start + length)) - x);
    const y = TOP + lane * (LANE + GAP);
    const box = s("rect", { class: style, x, y, width, height: LANE, rx: 1.5 });
    if (name.length * 6.4 + 10 > width) return [box];
    return [box, s("text", { class: `is-label on-${color}`, x: x + 4, y: y + 21 }, name)];
  }

  /** The bytes in use, the most of each pixel; calls from Python tell of none: the curve goes on over them. */
  private memory(shown: Bar[]): SVGElement[] {
    const peak = Math.max(0, ...(this.state?.bars ?? []).map((bar) => bar[6]));
    if (!peak) return [];
    const most = new Map<number, number>();
    for (const [start, length, , , , , live] of shown) {
      const last = Math.min(this.width - 14, this.x(start + length));
      for (let x = Math.floor(Math.max(LEFT, this.x(start))); live >= 0 && x <= last; x++)
        most.set(x, Math.max(most.get(x) ?? 0, live));
    }
    const low = MEMORY + LANE;
    let level = low;
    let line = `M${LEFT} ${low}`;
    for (const [x, bytes] of [...most].sort(([a], [b]) => a - b)) {
      level = low - ((LANE - 2) * bytes) / peak;
      line += `H${x}V${level.toFixed(1)}`;
    }
    const end = Math.min(this.width - 14, this.x(this.end)).toFixed(1);
    return [
      s("path", { class: "tfnb-memory", d: `${line}H${end}V${low}Z` }),
      s("text", { x: 4, y: MEMORY + 34 }, `≤ ${shortNumber(peak)}B`),
    ];
  }
}

function unitOf(span: number): [string, number] {
  return span >= 2e9 ? ["s", 1e9] : span >= 2e6 ? ["ms", 1e6] : ["µs", 1e3];
}

/** Nanoseconds as "0.84 µs", "12.3 ms". */
export function shortTime(time: number): string {
  const [unit, size] = time >= 0.9995e9 ? ["s", 1e9] : time >= 0.9995e6 ? ["ms", 1e6] : ["µs", 1e3];
  return `${Number((time / (size as number)).toPrecision(4))} ${unit}`;
}
