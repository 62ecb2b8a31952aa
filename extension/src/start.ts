/** The start page: how the notebook stands, with buttons, and what there is. */
import { button, h } from "./dom";
import type { Model, StartState, View } from "./model";

export class StartWidget implements View {
  readonly quiet = true;
  readonly root = h("div", { class: "tfnb-start" });

  constructor(private readonly model: Model) {}

  update(): void {
    const state = this.model.get("state") as StartState;
    const lines = state.lines.map(([text, label, name]) => {
      const act = label && button(label, label, () => this.model.send({ type: "do", name }));
      return h("li", {}, h("span", {}, text), act || null);
    });
    const groups = state.groups.map(([title, pairs]) =>
      h("section", {}, h("h4", {}, title), h("dl", {}, ...pairs.flatMap(entry))),
    );
    this.root.replaceChildren(
      h("ul", {}, ...lines),
      h("p", { class: "tfnb-note", role: "status", hidden: !state.note }, state.note),
      h("div", { class: "tfnb-groups" }, ...groups),
      h(
        "p",
        { class: "tfnb-note" },
        "%tfnb help NAME tells of one of them, --help behind a magic of its options.",
      ),
    );
  }
}

function entry([magic, what]: [string, string]): HTMLElement[] {
  return [h("dt", {}, h("code", {}, magic)), h("dd", {}, what)];
}
