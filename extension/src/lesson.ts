/** Lessons below a cell: a sentence each, the corrected code, a button that runs it where it may, and where to read on. */
import { button, h, linked } from "./dom";
import type { LessonState, Model, View } from "./model";

export class LessonWidget implements View {
  readonly quiet = true;
  readonly root = h("div", { class: "tfnb-lessons" });

  constructor(private readonly model: Model) {}

  update(): void {
    const state = this.model.get("state") as LessonState;
    this.root.replaceChildren(
      ...state.lessons.map((lesson, i) => this.lesson(lesson, i)),
      h("p", { class: "tfnb-note", role: "status", hidden: !state.note }, state.note),
    );
  }

  private lesson(
    { text, cells, code, runs, read, href }: LessonState["lessons"][number],
    i: number,
  ): HTMLElement {
    const fix = code && h("pre", {}, h("code", {}, code));
    const act = () => this.model.send({ type: "do", name: String(i) });
    const copy = () => void navigator.clipboard?.writeText(code);
    const press = runs
      ? button("Fix", "Run this line in the notebook", act)
      : button("Copy", "Copy the corrected code", copy);
    const link = href ? h("a", { href, target: "_blank", rel: "noopener" }, read) : read;
    return h(
      "section",
      {},
      h("p", {}, ...linked(text, cells)),
      fix ? h("div", { class: "tfnb-fix" }, fix, press) : null,
      h("p", { class: "tfnb-read" }, "Read on: ", link),
    );
  }
}
