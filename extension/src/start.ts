/** The start page: how the notebook stands, with buttons, and what there is. */
import { button, h, linked } from "./dom";
import type { Guard } from "./guard";
import type { Model, StartState, View } from "./model";
import { part, SheetWidget } from "./sheet";

export class StartWidget implements View {
  readonly quiet = true;
  readonly root = h("div", { class: "tfnb-start" });

  private sheet: SheetWidget | undefined;

  constructor(
    private readonly model: Model,
    private readonly guard: Guard,
  ) {}

  update(): void {
    const state = this.model.get("state") as StartState;
    const lines = state.lines.map(([text, label, name]) => {
      const act = label && button(label, label, () => this.model.send({ type: "do", name }));
      return h("li", {}, h("span", {}, ...linked(text, state.cells)), act || null);
    });
    const groups = state.groups.map(([title, pairs]) =>
      h("section", {}, h("h4", {}, title), h("dl", {}, ...pairs.flatMap(entry))),
    );
    if (state.sheet) {
      this.sheet ??= new SheetWidget(part(this.model, "sheet"), this.guard);
      this.sheet.update();
    }
    this.root.replaceChildren(
      h("ul", {}, ...lines),
      ...(state.sheet && this.sheet ? [this.sheet.root] : []),
      h("p", { class: "tfnb-note", role: "status", hidden: !state.note }, state.note),
      h("div", { class: "tfnb-groups" }, ...groups),
      h(
        "p",
        { class: "tfnb-note", hidden: !groups.length },
        "%tfnb help NAME tells of one of them, --help behind a magic of its options.",
      ),
    );
  }

  receive(message: { type: string }, buffers: DataView[]): void {
    this.sheet?.receive(message, buffers);
  }

  resize(): void {
    this.sheet?.resize();
  }
}

function entry([magic, what]: [string, string]): HTMLElement[] {
  return [h("dt", {}, h("code", {}, magic)), h("dd", {}, what)];
}
