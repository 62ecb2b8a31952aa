/** A small picture of a drawing that is larger than its place, with a frame around what is seen. */
import { h, s } from "./dom";
import { placeOf } from "./motion";
import type { Viewport } from "./viewport";

const LONGEST = 150; // pixels of its longer side
const CORNERS = ["", "left", "top", "top left"];
const NEAR_X = 70; // from the middle of a box to its side, mostly
const NEAR_Y = 24;

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

  /** Stand in the corner where it hides least of the drawing as it is seen now: by its numbers, for it may glide yet. */
  settle(svg: SVGSVGElement): void {
    const { x, y, w, h: high } = this.view.seen;
    const [wide, tall] = [parseFloat(this.root.style.width), parseFloat(this.root.style.height)].map(
      (pixels) => pixels / this.view.scale,
    ) as [number, number];
    const shown = [...svg.querySelectorAll(".nodes > g.n, .legend text")].map(placeOf);
    const hidden = CORNERS.map((corner) => {
      const left = corner.includes("left") ? x : x + w - wide;
      const top = corner.includes("top") ? y : y + high - tall;
      return shown.filter(
        (at) =>
          at &&
          at.x > left - NEAR_X &&
          at.x < left + wide + NEAR_X &&
          at.y > top - NEAR_Y &&
          at.y < top + tall + NEAR_Y,
      ).length;
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
