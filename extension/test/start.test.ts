// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { FakeModel, stage } from "./fake";

const { el, show } = stage();

test("the start page tells how things stand, and its buttons ask the kernel", () => {
  const state = {
    lines: [
      ["The graph has 3 ops.", "", ""],
      ["2 cells must run again: [3] [4]", "Run 2 stale cells", "stale"],
    ],
    groups: [["Look", [["%graph", "Draw <b>the</b> graph"]]]],
    note: "",
  };
  const model = show(new FakeModel({ kind: "start", state }));
  expect(el.querySelectorAll("li")).toHaveLength(2);
  expect(el.querySelector("dd")?.textContent).toBe("Draw <b>the</b> graph");
  expect(el.querySelectorAll("button")).toHaveLength(1);
  el.querySelector("button")?.click();
  expect(model.sent).toEqual([{ type: "do", name: "stale" }]);
  model.setState({ ...state, lines: [], note: "ran [3] [4] again" });
  expect(el.querySelector("[role=status]")?.textContent).toBe("ran [3] [4] again");
});
