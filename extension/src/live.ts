/** The live board: a panel for each group of tags, fed by binary messages, drawn at most once a frame. */
import { Chart, type Curve, FAINT, type Look } from "./chart";
import { button, h } from "./dom";
import type { LiveMessage, LiveState, LiveTag, Model } from "./model";
import { PicturePanel, RidgePanel } from "./rich";
import { floatsOf, Series } from "./series";

const OTHERS = 1000; // place of the first curve of another run
const AXES: [string, string][] = [
  ["step", "step"],
  ["time", "time"],
  ["share", "% of the run"],
];
const ASK_AGAIN = 1000; // milliseconds between two askings for points that got lost

const PARTS = "(?:train|val|valid|validation|test|eval)";
const PART = new RegExp(`^(?:${PARTS}_(.+)|(.+)_${PARTS})$`);

/** "layer1/weights/mean" belongs to "layer1/weights", "val_loss" to "loss"; others stand alone. */
export function groupOf(tag: LiveTag): string {
  if (tag.group) return tag.group;
  const cut = tag.name.lastIndexOf("/");
  if (cut >= 0) return cut ? tag.name.slice(0, cut) : tag.name;
  const part = PART.exec(tag.name);
  return part?.[1] ?? part?.[2] ?? tag.name;
}

export class LiveWidget {
  readonly root = h("div", { class: "tfnb-live" });
  private readonly heading = h("h3");
  private readonly bar = h("div", { class: "tfnb-bar" });
  private readonly panels = h("div", { class: "tfnb-panels" });
  private readonly slider = h("input", {
    type: "range",
    min: 0,
    max: 0.99,
    step: 0.01,
    "aria-label": "Smoothing",
  });
  private readonly amount = h("output");
  private readonly axis = h("select", {}, ...AXES.map(([value, label]) => h("option", { value }, label)));
  private readonly others = h("input", { type: "checkbox" });
  private readonly othersLabel = h("label", { title: "Earlier runs, in grey" }, this.others, " other runs");
  private readonly reset = button("Show all", "Show all again; a drag over a plot zooms", () => this.whole());
  private readonly look: Look = { smoothing: 0, logY: false, x: "step", marks: [] };
  private readonly series: Series[] = [];
  private charts: Chart[] = [];
  private ridges: RidgePanel[] = [];
  private pictures: PicturePanel[] = [];
  private known = "";
  private told: LiveState | undefined;
  private frame = 0;
  private asked = 0;
  private zoomed: [number, number] | undefined;
  private detailed = 0; // when finer points were asked for
  private grown = false; // since then

  constructor(private readonly model: Model) {
    const log = h("input", { type: "checkbox" });
    log.addEventListener("change", () => {
      this.look.logY = log.checked;
      this.schedule();
    });
    this.slider.addEventListener("input", () => {
      this.look.smoothing = Number(this.slider.value);
      this.amount.textContent = this.look.smoothing.toFixed(2);
      this.schedule();
    });
    this.axis.addEventListener("change", () => {
      this.look.x = this.axis.value;
      this.whole();
      this.tell();
    });
    this.others.addEventListener("change", () => this.tell());
    this.slider.addEventListener("change", () => this.tell());
    this.bar.append(
      this.heading,
      h("label", {}, "smoothing ", this.slider, this.amount),
      h("label", {}, log, " log scale"),
      h("label", {}, "along ", this.axis),
      this.othersLabel,
      this.reset,
    );
    this.root.append(this.bar, this.panels);
  }

  /** Let the kernel know what the reader chose. */
  private tell(): void {
    const others = this.othersLabel.hidden ? {} : { others: this.others.checked };
    this.model.send({ type: "look", smoothing: this.look.smoothing, x: this.look.x, ...others });
    this.schedule();
  }

  private whole(): void {
    this.look.range = undefined;
    for (const chart of this.charts) chart.whole();
    this.schedule();
  }

  /** Take over what the model says; what the reader chose stays until the model says otherwise. */
  update(): void {
    const state = this.model.get("state") as LiveState;
    this.heading.textContent = state.title ?? "";
    this.heading.hidden = !state.title;
    if (state.smoothing !== this.told?.smoothing) this.smoothing(state.smoothing ?? 0);
    if (state.x !== this.told?.x) this.look.x = this.axis.value = state.x || "step";
    this.panels.style.gridTemplateColumns = state.grid ? `repeat(${state.grid}, minmax(0, 1fr))` : "";
    if (state.others_shown !== this.told?.others_shown) this.others.checked = !!state.others_shown;
    this.look.marks = state.marks ?? [];
    this.told = state;
    const { tags = [], ridges = [], pictures = [], empty } = state;
    for (const each of this.bar.querySelectorAll("label")) each.hidden = !tags.length;
    this.othersLabel.hidden ||= state.others_shown === undefined;
    this.bar.hidden = !tags.length && !state.title;
    const others = (state.others_shown && state.others) || [];
    const layout = JSON.stringify([tags, ridges, pictures, empty, others]);
    this.ridges = ridges.map(({ name, color_index }, i) => {
      const had = this.ridges[i];
      return had?.name === name ? had : new RidgePanel(name, color_index, this.look, () => this.schedule());
    });
    const before = this.pictures;
    this.pictures = pictures.map(({ name }, i) => {
      const had = before[i];
      return had?.name === name ? had : new PicturePanel(name);
    });
    for (const each of before) if (!this.pictures.includes(each)) each.free();
    if (layout !== this.known) this.arrange(tags, others);
    this.known = layout;
    this.schedule();
  }

  private smoothing(weight: number): void {
    this.look.smoothing = weight;
    this.slider.value = String(weight);
    this.amount.textContent = weight.toFixed(2);
  }

  private arrange(tags: LiveTag[], others: { name: string; group: string }[]): void {
    const hidden = this.charts.flatMap((chart) => chart.curves.filter((curve) => !curve.shown));
    const groups = new Map<string, Curve[]>();
    const scales = new Map<string, Curve[]>();
    tags.forEach((tag, i) => {
      const curve = {
        name: shortName(tag, tags),
        color: tag.color_index,
        series: this.seriesOf(i),
        shown: !hidden.some(({ series }) => series === this.series[i]),
      };
      const group = groupOf(tag);
      groups.set(group, [...(groups.get(group) ?? []), curve]);
      const scale = tag.share ?? group;
      scales.set(scale, [...(scales.get(scale) ?? []), curve]);
    });
    others.forEach(({ name, group }, i) => {
      const curve = { name, color: FAINT, series: this.seriesOf(OTHERS + i), shown: true };
      groups.get(group)?.unshift(curve);
      scales.get(group)?.unshift(curve);
    });
    // panels of one scale stand side by side
    this.charts = [...scales.values()].flatMap((peers) =>
      [...groups]
        .filter(([, curves]) => peers.includes(curves.at(-1) as Curve))
        .map(([group, curves]) => new Chart(group, curves, this.look, () => this.schedule(), peers)),
    );
    this.panels.replaceChildren(
      ...[...this.charts, ...this.ridges, ...this.pictures].map((panel) => panel.root),
    );
    if (!this.panels.children.length)
      this.panels.append(
        h("p", { class: "tfnb-empty" }, (this.model.get("state") as LiveState).empty || "no values yet"),
      );
  }

  private seriesOf(tag: number): Series {
    let found = this.series[tag];
    if (!found) {
      found = new Series();
      this.series[tag] = found;
    }
    return found;
  }

  /** A custom message from the kernel. */
  receive(message: LiveMessage, buffers: (DataView | ArrayBuffer)[]): void {
    if (message.type === "reset") {
      for (const series of this.series) if (series) series.length = 0;
      this.look.pointer = undefined;
      for (const each of this.pictures) each.free();
      this.charts = [];
      this.ridges = [];
      this.pictures = [];
      this.known = "";
      this.update();
    } else if (message.type === "ridge") {
      const table = floatsOf(buffers[0] as DataView);
      this.ridges[message.ridge]?.show({ ...message, table });
    } else if (message.type === "pictures") {
      this.pictures[message.picture]?.show(message.steps, buffers);
    } else if (message.type === "detail") {
      this.seriesOf(message.tag).zoom(message.range, floatsOf(buffers[0] as DataView));
      this.schedule();
    } else if (message.type === "points") {
      const { tag, start } = message;
      const [buffer] = buffers;
      if (!Number.isInteger(tag) || tag < 0 || !Number.isInteger(start) || start < 0 || !buffer)
        throw new Error(`a points message without tag, start or buffer: ${JSON.stringify(message)}`);
      if (!this.seriesOf(tag).put(start, floatsOf(buffer))) this.askAgain();
      this.grown = true;
      this.schedule();
    }
  }

  resize(): void {
    this.schedule();
  }

  private askAgain(): void {
    const now = Date.now();
    if (now - this.asked < ASK_AGAIN) return;
    this.asked = now;
    this.model.send({ type: "ready" });
  }

  /** Ask for finer points of what is zoomed to, once, and again from time to time while it grows. */
  private askDetail(): void {
    const { range } = this.look;
    const now = Date.now();
    const grows = this.grown && now - this.detailed > ASK_AGAIN;
    if (range && (range !== this.zoomed || grows)) {
      this.detailed = now;
      this.grown = false;
      this.model.send({ type: "zoom", range });
    }
    this.zoomed = range;
  }

  /** Draw with the next frame, however many messages come until then. */
  schedule(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.askDetail();
      this.reset.hidden = !this.look.range && !this.charts.some((chart) => chart.zoomed);
      for (const panel of [...this.charts, ...this.ridges]) panel.draw();
    });
  }
}

/** A tag within its panel: without the group where the panel shows several. */
function shortName(tag: LiveTag, tags: LiveTag[]): string {
  const group = groupOf(tag);
  const alone = tags.filter((other) => groupOf(other) === group).length === 1;
  return !alone && tag.name.startsWith(`${group}/`) ? tag.name.slice(group.length + 1) : tag.name;
}
