/** The timeline of a run: the kernel's drawing, with words on the bar under the pointer or the focus. */
import { h, parseSvg } from "./dom";
import type { Model, TimelineState, View } from "./model";
import { pageTheme } from "./theme";

export class TimelineWidget implements View {
  readonly quiet = true;
  readonly root = h("div", { class: "tfnb-timeline" });
  private readonly by = h("select", { "aria-label": "Time by" });
  private readonly tip = h("div", { class: "tfnb-tip", role: "tooltip", hidden: true });

  constructor(private readonly model: Model) {
    this.by.addEventListener("change", () => model.send({ type: "by", name: this.by.value }));
    for (const event of ["pointermove", "focusin"])
      this.root.addEventListener(event, (one) => this.point(one));
    for (const event of ["pointerleave", "focusout"])
      this.root.addEventListener(event, () => {
        this.tip.hidden = true;
      });
  }

  update(): void {
    const state = this.model.get("state") as TimelineState;
    const svg = parseSvg(state.svg);
    svg.setAttribute("data-theme", pageTheme());
    for (const bar of svg.querySelectorAll("[data-bar]")) bar.setAttribute("tabindex", "0");
    this.by.replaceChildren(...(state.ways ?? []).map((way) => h("option", { value: way }, `by ${way}`)));
    this.by.value = state.by ?? "";
    const bar = h("div", { class: "tfnb-bar", hidden: !state.ways }, this.by);
    this.root.replaceChildren(bar, svg, this.tip);
  }

  private point(event: Event): void {
    const bar = (event.target as Element).closest("[data-bar]");
    const lines = (this.model.get("state") as TimelineState).bars[Number(bar?.getAttribute("data-bar"))];
    this.tip.hidden = !bar || !lines;
    if (!bar || !lines) return;
    this.tip.replaceChildren(...lines.map((line, i) => h("div", {}, i ? line : h("b", {}, line))));
    const [place, outer] = [bar.getBoundingClientRect(), this.root.getBoundingClientRect()];
    const left = Math.min(place.left - outer.left, outer.width - this.tip.offsetWidth - 8);
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${place.bottom - outer.top + 6}px`;
  }
}
