/** A small picture of a drawing that is larger than its place, with a frame around what is seen. */
import { h, s } from "./dom";
import type { Viewport } from "./viewport";

const LONGEST = 150; // pixels of its longer side
const CORNERS = ["", "left", "top", "top left"];
const SHOWN = ".nodes > g.n, .legend > g"; // what it should not hide

export class Minimap {
  readonly root = h("div", { class: "tfnb-minimap", hidden: true, "aria-hidden": true });
  private readonly frame = s("rect", { class: "frame" });

  constructor(private readonly view: Viewport) {
    const go = (event: PointerEvent) => {
      event.stopPropagation(); // the stage would drag
      if (event.type === "pointermove" && !(event.buttons & 1)) return;
      const box = this.root.getBoundingClientRect();
      const { w, h: high } = view.whole;
      const x = ((event.clientX - box.left) / (box.width || 1)) * w;
      view.center({ x, y: ((event.clientY - box.top) / (box.height || 1)) * high });
    };
    this.root.addEventListener("pointerdown", go);
    this.root.addEventListener("pointermove", go);
    this.root.addEventListener("click", (event) => event.stopPropagation());
  }

  /** Take the outlines of a drawing's nodes. */
  draw(svg: SVGSVGElement): void {
    const width = Number(svg.getAttribute("width")) || 1;
    const height = Number(svg.getAttribute("height")) || 1;
    const theme = svg.dataset.theme ?? "light";
    const small = s("svg", { class: "tfnb-graph", "data-theme": theme, viewBox: `0 0 ${width} ${height}` });
    for (const node of svg.querySelectorAll("g.n")) {
      const outline = node.querySelector(":scope > .s")?.cloneNode(true);
      if (!(outline instanceof Element)) continue;
      const attributes = {
        class: [...node.classList].filter((name) => /^[rp]-/.test(name)).join(" "),
        transform: node.getAttribute("transform") ?? "",
      };
      small.append(s("g", attributes, outline));
    }
    small.append(this.frame);
    const scale = LONGEST / Math.max(width, height);
    this.root.style.width = `${Math.max(24, width * scale)}px`;
    this.root.style.height = `${Math.max(24, height * scale)}px`;
    this.root.replaceChildren(small);
  }

  /** Stand in the corner where it hides least of the drawing as it is seen now. */
  settle(): void {
    if (this.root.hidden) return;
    const nodes = [...(this.root.parentElement?.querySelectorAll(SHOWN) ?? [])];
    const boxes = nodes.map((node) => node.getBoundingClientRect());
    const hidden = CORNERS.map((corner) => {
      this.root.dataset.corner = corner;
      const at = this.root.getBoundingClientRect();
      const over = (a: number, b: number, c: number, d: number) =>
        Math.max(0, Math.min(b, d) - Math.max(a, c));
      return boxes.reduce(
        (sum, box) =>
          sum + over(at.left, at.right, box.left, box.right) * over(at.top, at.bottom, box.top, box.bottom),
        0,
      );
    });
    this.root.dataset.corner = CORNERS[hidden.indexOf(Math.min(...hidden))];
  }

  /** Put the frame around what is seen. */
  follow(): void {
    const { x, y, w, h: high } = this.view.seen;
    this.root.hidden = !this.view.cut;
    for (const [name, value] of Object.entries({ x, y, width: w, height: high }))
      this.frame.setAttribute(name, String(Math.round(value)));
  }
}
