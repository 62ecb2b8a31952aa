/** A training: progress, what it reported, and the buttons that steer it. The kernel decides; this only asks. */
import { button, h } from "./dom";
import type { Model, TrainState, View } from "./model";
import { shortNumber } from "./series";

const DECADES = 2; // that the slider reaches to either side of the rate it begins with

export class TrainWidget implements View {
  readonly root = h("div", { class: "tfnb-train" });
  private readonly title = h("h3");
  private readonly status = h("span", { class: "tfnb-status", role: "status" });
  private readonly pause = button("Pause", "Pause after this step", () => this.toggle());
  private readonly step = button("Step", "Do one step, then pause", () => this.ask("step"));
  private readonly stop = button("Stop", "End the training after this step", () => this.ask("stop"));
  private readonly done = h("div");
  private readonly bar = h(
    "div",
    { class: "tfnb-progress", role: "progressbar", "aria-label": "Steps" },
    this.done,
  );
  private readonly facts = h("p", { class: "tfnb-facts" });
  private readonly note = h("p", { class: "tfnb-facts tfnb-note" });
  private readonly failure = h("pre", { class: "tfnb-error", role: "alert", hidden: true });
  private readonly slider = h("input", { type: "range", step: 0.02 });
  private readonly number = h("input", { type: "text", inputmode: "decimal", size: 8 });
  private readonly decades = h("span", { class: "tfnb-decades", "aria-hidden": "true" });
  private readonly rateName = h("span");
  private readonly rate = h("div", { class: "tfnb-facts tfnb-rate", hidden: true });
  private asked: number | undefined; // a rate that the kernel has not confirmed yet

  constructor(private readonly model: Model) {
    const scaled = h("span", { class: "tfnb-scaled" }, this.slider, this.decades);
    this.rate.append(h("label", {}, this.rateName, scaled), this.number);
    this.slider.addEventListener("input", () => this.setRate(10 ** Number(this.slider.value)));
    this.number.addEventListener("change", () => this.setRate(Number(this.number.value.trim() || "none")));
    const bar = h("div", { class: "tfnb-bar" }, this.title, this.status, this.pause, this.step, this.stop);
    this.root.append(bar, this.bar, this.facts, this.rate, this.note, this.failure);
  }

  private get state(): TrainState {
    return this.model.get("state") as TrainState;
  }

  private ask(type: string): void {
    this.model.send({ type });
  }

  private toggle(): void {
    this.ask(this.state.status === "paused" ? "resume" : "pause");
  }

  private setRate(value: number): void {
    if (Number.isFinite(value) && value >= 0) {
      this.asked = Number(value.toPrecision(3));
      this.model.send({ type: "rate", value: this.asked });
    } else if (this.state.rate) {
      this.number.value = shortNumber(this.state.rate.value); // what was typed is no rate
    }
    this.showRate();
  }

  /** Show what the model says. */
  update(): void {
    const { title, status, note, done, total, error } = this.state;
    const active = status === "running" || status === "paused";
    this.title.textContent = title;
    this.status.textContent = status;
    this.root.dataset.status = status;
    this.pause.textContent = status === "paused" ? "Resume" : "Pause";
    this.pause.title = status === "paused" ? "Resume the training" : "Pause after this step";
    this.pause.setAttribute("aria-label", this.pause.title);
    for (const each of [this.pause, this.step, this.stop]) each.hidden = !active;
    this.done.style.width = `${total ? (100 * done) / total : 100}%`;
    this.bar.classList.toggle("is-endless", !total && active);
    this.bar.setAttribute("aria-valuenow", String(done));
    this.bar.setAttribute("aria-valuemax", String(total ?? done));
    this.facts.replaceChildren(...this.words());
    this.note.textContent = note;
    this.note.hidden = !note;
    this.failure.hidden = !error;
    this.failure.textContent = error ? `${error.what}\nat ${error.where}` : "";
    this.showRate();
  }

  private words(): Node[] {
    const { facts, values } = this.state;
    return [
      ...facts.map((text) => h("span", {}, text)),
      ...values.map(([tag, value]) => h("span", {}, `${tag} `, h("b", {}, value))),
    ];
  }

  private showRate(): void {
    const { rate, status } = this.state;
    this.rate.hidden = !rate;
    if (!rate) return;
    if (!this.slider.max) {
      const middle = Math.log10(rate.value > 0 ? rate.value : 1e-3);
      this.slider.min = String(middle - DECADES);
      this.slider.max = String(middle + DECADES);
      this.decades.replaceChildren(...scale(middle - DECADES, middle + DECADES));
      this.slider.setAttribute("aria-label", `Learning rate ${rate.name}, logarithmic`);
      this.number.setAttribute("aria-label", `Learning rate ${rate.name}`);
    }
    if (Math.fround(this.asked ?? Number.NaN) === Math.fround(rate.value)) this.asked = undefined; // may be a float32
    const value = this.asked ?? rate.value;
    this.rateName.textContent = rate.name;
    this.slider.value = value > 0 ? String(Math.log10(value)) : this.slider.min;
    this.slider.setAttribute("aria-valuetext", shortNumber(value));
    if (document.activeElement !== this.number) this.number.value = shortNumber(value);
    this.slider.disabled = this.number.disabled = status !== "running" && status !== "paused";
  }
}

/** Powers of ten below a slider whose ends are those of `low` and `high`. */
function scale(low: number, high: number): HTMLElement[] {
  const first = Math.ceil(low - 1e-9);
  return Array.from({ length: Math.floor(high + 1e-9) - first + 1 }, (_, i) => {
    const share = (first + i - low) / (high - low);
    return h("small", { style: `--at: ${share.toFixed(4)}` }, shortNumber(10 ** (first + i)));
  });
}
