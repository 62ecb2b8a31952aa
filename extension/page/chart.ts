/** Numbers of curves under the pointer, on a page without a kernel; a drawing has its range in `data-plot`. */
import { h, s } from "../src/dom";

const NEAR = 8; // pixels beside a plot that count as in it

interface Curve {
  name: string;
  path: Element;
  numbers: Numbers;
}

/** [xs, ys] of a curve. */
export type Numbers = readonly [readonly number[], readonly number[]];

/** Follow the pointer over all charts of a drawing; `root` is around it, `numbers` are those of its curves in order. */
export function followCharts(root: HTMLElement, numbers: readonly Numbers[]): void {
  const left = [...numbers];
  for (const chart of root.querySelectorAll<SVGSVGElement>("svg[data-plot]")) {
    const curves = [...chart.querySelectorAll("[data-name]")];
    followChart(
      root,
      chart,
      curves.map((element) => curveOf(element, left.shift())),
    );
  }
}

function curveOf(path: Element, numbers: Numbers = [[], []]): Curve {
  return { name: path.getAttribute("data-name") ?? "", path, numbers };
}

function followChart(root: HTMLElement, chart: SVGSVGElement, curves: readonly Curve[]): void {
  const range = (chart.getAttribute("data-plot") ?? "").split(" ").map(Number);
  const [left = 0, right = 0, top = 0, low = 0, x0 = 0, x1 = 0] = range;
  const line = s("path", { class: "x", fill: "none", "pointer-events": "none" });
  const tip = h("div", { class: "tfnb-page-tip", hidden: true });
  chart.append(line);
  root.append(tip);
  chart.addEventListener("pointermove", (event) => {
    const place = chart.getScreenCTM()?.inverse();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(place).x;
    const x = x0 + ((at - left) / (right - left)) * (x1 - x0);
    const near = curves.flatMap((curve) => nearest(curve, x));
    const first = near[0];
    tip.hidden = !first || at < left - NEAR || at > right + NEAR;
    const seen = left + (((first?.x ?? 0) - x0) / (x1 - x0)) * (right - left);
    line.setAttribute("d", tip.hidden ? "" : `M${seen} ${top}V${low}`);
    if (!first) return;
    const rows = near.map(({ curve, y }) => h("div", {}, swatch(curve.path), `${curve.name}  ${y}`));
    tip.replaceChildren(h("b", {}, String(first.x)), ...rows);
    const around = root.getBoundingClientRect();
    const room = around.width - (event.clientX - around.left);
    tip.style.left = room < 200 ? "" : `${event.clientX - around.left + 14}px`;
    tip.style.right = room < 200 ? `${room + 14}px` : "";
    tip.style.top = `${event.clientY - around.top + 14}px`;
  });
  chart.addEventListener("pointerleave", () => {
    tip.hidden = true;
    line.setAttribute("d", "");
  });
}

function swatch(path: Element): HTMLElement {
  const made = h("i");
  made.style.background = getComputedStyle(path).stroke;
  return made;
}

function nearest(curve: Curve, x: number): { curve: Curve; x: number; y: number }[] {
  const [xs, ys] = curve.numbers;
  const best = xs.reduce((a, each, i) => (Math.abs(each - x) < Math.abs((xs[a] ?? 0) - x) ? i : a), 0);
  return xs.length ? [{ curve, x: xs[best] ?? 0, y: ys[best] ?? 0 }] : [];
}
