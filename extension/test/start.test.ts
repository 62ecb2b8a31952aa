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

test("the start page shows the table of runs that was asked for", () => {
  const sheet = { title: "runs", note: "", buttons: [], tables: [], heat: null, filter: "" };
  const state = { lines: [["2 trainings kept", "All of them", "runs"]], groups: [], note: "", sheet: null };
  const model = show(new FakeModel({ kind: "start", state }));
  expect(el.querySelector(".tfnb-sheet")).toBeNull();
  model.setState({ ...state, sheet });
  const filter = el.querySelector<HTMLInputElement>("input[type=search]");
  filter?.dispatchEvent(new Event("input"));
  expect(model.sent).toEqual([{ type: "sheet", message: { type: "filter", text: "" } }]);
});
