/** A row of sliders and menus whose places the kernel knows: one message at a time, and some run by themselves. */
import { h } from "./dom";
import type { SliderState } from "./model";

const BEAT = 700; // milliseconds between two places of a slider that runs

interface Made {
  input: HTMLInputElement | HTMLSelectElement;
  words: HTMLOutputElement;
  state: SliderState;
}

export class Sliders {
  readonly root = h("div", { class: "tfnb-bar tfnb-sliders", hidden: true });
  private made = new Map<string, Made>();
  private shape = "";
  private timer: ReturnType<typeof setInterval> | undefined;
  private running = "";
  private waits: [string, number] | undefined; // what the kernel is to hear when it has answered
  private busy = false;

  constructor(private readonly send: (name: string, value: number) => void) {}

  show(sliders: SliderState[]): void {
    this.root.hidden = !sliders.length;
    const shape = JSON.stringify(sliders.map(({ name, most, options }) => [name, most, options]));
    if (shape !== this.shape) {
      this.shape = shape;
      this.made = new Map(sliders.map((slider) => [slider.name, this.make(slider)]));
      this.root.replaceChildren(...sliders.flatMap((slider) => this.parts(slider)));
      if (!this.made.has(this.running)) this.stop();
    }
    this.busy = false;
    const next = this.waits;
    this.waits = undefined;
    for (const slider of sliders) {
      const made = this.made.get(slider.name) as Made;
      made.state = slider;
      if (next?.[0] !== slider.name) made.input.value = String(slider.value);
      made.words.textContent = slider.words;
    }
    if (next) this.move(...next);
  }

  stop(): void {
    clearInterval(this.timer);
    this.running = "";
    for (const play of this.root.querySelectorAll("button")) play.setAttribute("aria-pressed", "false");
  }

  private make(slider: SliderState): Made {
    const menu = slider.options.length > 0;
    const input = menu
      ? h(
          "select",
          { "aria-label": slider.label },
          ...slider.options.map((word, i) => h("option", { value: i }, word)),
        )
      : h("input", { type: "range", min: 0, max: slider.most, step: 1, "aria-label": slider.label });
    input.addEventListener(menu ? "change" : "input", () => this.move(slider.name, Number(input.value)));
    return { input, words: h("output"), state: slider };
  }

  private parts(slider: SliderState): HTMLElement[] {
    const { input, words } = this.made.get(slider.name) as Made;
    const label = h("label", {}, slider.label, input, words);
    if (!slider.play) return [label];
    const play = h(
      "button",
      { type: "button", "aria-pressed": "false", title: `Show one ${slider.label} after the other` },
      "Play",
    );
    play.addEventListener("click", () => this.play(slider.name, play));
    return [label, play];
  }

  private play(name: string, button: HTMLElement): void {
    const again = this.running !== name;
    this.stop();
    if (!again) return;
    this.running = name;
    button.setAttribute("aria-pressed", "true");
    this.timer = setInterval(() => {
      const { state } = this.made.get(name) ?? {};
      if (!state || !this.root.isConnected) this.stop();
      else if (!this.busy) this.move(name, (state.value + 1) % (state.most + 1));
    }, BEAT);
  }

  private move(name: string, value: number): void {
    if (this.made.get(name)?.state.value === value) return;
    if (this.busy) {
      this.waits = [name, value];
      return;
    }
    this.busy = true;
    this.send(name, value);
  }
}
