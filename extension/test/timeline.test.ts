// @vitest-environment happy-dom
import { expect, test } from "vitest";
import view from "../src/index";
import { FakeModel } from "./fake";

test("a bar under the pointer tells its lines as text", () => {
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><rect data-bar="0"/><rect data-bar="7"/></svg>';
  const model = new FakeModel({ kind: "timeline", state: { svg, bars: [["MatMul", "<img src=x>"]] } });
  const stop = view.render({ model, el });
  const tip = el.querySelector(".tfnb-tip") as HTMLElement;
  const bars = el.querySelectorAll("[data-bar]");
  bars[0]?.dispatchEvent(new Event("pointermove", { bubbles: true }));
  expect(tip.hidden).toBe(false);
  expect(tip.textContent).toBe("MatMul<img src=x>");
  expect(bars[0]?.getAttribute("tabindex")).toBe("0");
  bars[1]?.dispatchEvent(new Event("pointermove", { bubbles: true }));
  expect(tip.hidden).toBe(true);
  expect(el.querySelector("img")).toBeNull();
  stop();
});
