// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { FakeModel, stage } from "./fake";

const { el, show } = stage();
const read = "03_sessions_feeds.ipynb: A fetch and a feed";

test("a lesson has a sentence, its code, where to read on, and a button that runs it if it may", () => {
  const lessons = [
    { text: "`<b>w</b>` has no value", code: "tf.notebook.initialize(sess)", runs: true, read, href: "" },
    { text: "`y == 1` compares objects", code: "tf.equal(y, 1)", runs: false, read, href: "03.ipynb#A" },
    { text: "a ` alone", code: "", runs: false, read, href: "" },
  ];
  const model = show(new FakeModel({ kind: "lesson", state: { lessons, note: "" } }));
  expect(el.querySelectorAll("section")).toHaveLength(3);
  expect(el.querySelector("section p code")?.textContent).toBe("<b>w</b>");
  expect([...el.querySelectorAll("pre")].map((each) => each.textContent)).toEqual([
    "tf.notebook.initialize(sess)",
    "tf.equal(y, 1)",
  ]);
  const buttons = [...el.querySelectorAll("button")];
  expect(buttons.map((each) => each.textContent)).toEqual(["Fix", "Copy"]);
  buttons[0]?.click();
  buttons[1]?.click();
  expect(model.sent).toEqual([{ type: "do", name: "0" }]);
  expect([...el.querySelectorAll("a")].map((each) => each.getAttribute("href"))).toEqual(["03.ipynb#A"]);
  model.setState({ lessons, note: "Done. Now run the cell again." });
  expect(el.querySelector("[role=status]")?.textContent).toBe("Done. Now run the cell again.");
});

test("cells that a text names are links, which the extension of JupyterLab may answer", () => {
  const lessons = [
    { text: "since [5] line 2, not [6]", cells: { "[5]": "a b" }, code: "", runs: false, read, href: "" },
  ];
  show(new FakeModel({ kind: "lesson", state: { lessons, note: "" } }));
  const links = [...el.querySelectorAll("a")];
  expect(links.map((each) => [each.textContent, each.getAttribute("href")])).toEqual([
    ["[5] line 2", "#cell-id=a%20b"],
  ]);
  const asked: unknown[] = [];
  const answer = (event: Event) => {
    event.preventDefault();
    asked.push((event as CustomEvent).detail);
  };
  document.addEventListener("tfnb:go-to-cell", answer);
  links[0]?.click();
  document.removeEventListener("tfnb:go-to-cell", answer);
  expect(asked).toEqual([{ id: "a b", line: 2 }]);
});
