/** From one drawing to the next: what is in both glides, what is new grows out of the scope it was in. */

export interface Place {
  x: number;
  y: number;
}

const MILLISECONDS = 260;
const MOST_MOVING = 400;

/** Where the nodes of a drawing are, by key. */
export function places(svg: Element): Map<string, Place> {
  const found = new Map<string, Place>();
  for (const node of svg.querySelectorAll("g.n, g.head")) {
    const at = placeOf(node);
    const key = node.getAttribute("data-name");
    if (at && key) found.set(key, at);
  }
  return found;
}

/** Where a node comes from: its old place, or that of the nearest scope around it. */
function origin(key: string, before: Map<string, Place>): Place | undefined {
  const here = before.get(key) ?? before.get(`${key.replace(/\/$/, "")}/`);
  if (here) return here;
  const parts = key.replace(/\/$/, "").split("/");
  for (let n = parts.length - 1; n > 0; n--) {
    const around = before.get(`${parts.slice(0, n).join("/")}/`);
    if (around) return around;
  }
  return undefined;
}

/** Animate into `svg`; nothing moves for readers who asked for less motion. */
export function glide(svg: SVGSVGElement, before: Map<string, Place>): void {
  if (!before.size || globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches) return;
  const timing = { duration: MILLISECONDS, easing: "cubic-bezier(.3,.7,.3,1)" };
  const nodes = [...svg.querySelectorAll("g.n, g.head")];
  if (nodes.length > MOST_MOVING || typeof svg.animate !== "function") return;
  for (const node of nodes) {
    const key = node.getAttribute("data-name") ?? "";
    const to = placeOf(node);
    const from = origin(key, before);
    if (!to || !from) continue;
    const known = before.has(key);
    node.animate(
      [
        { transform: `translate(${from.x}px, ${from.y}px)`, opacity: known ? 1 : 0 },
        { transform: `translate(${to.x}px, ${to.y}px)`, opacity: 1 },
      ],
      timing,
    );
  }
  for (const line of svg.querySelectorAll(".edges, .labels")) {
    line.animate([{ opacity: 0 }, { opacity: 0, offset: 0.5 }, { opacity: 1 }], timing);
  }
}

/** Where a node, or a text, is. */
export function placeOf(node: Element): Place | undefined {
  const at = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(node.getAttribute("transform") ?? "");
  const [x, y] = at ? [at[1], at[2]] : [node.getAttribute("x"), node.getAttribute("y")];
  return x && y ? { x: Number(x), y: Number(y) } : undefined;
}
