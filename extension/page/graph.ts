/** A graph on a page without a kernel: its closed scopes open by drawings that were made with it. */
import { h, parseSvg } from "../src/dom";
import { glide, places } from "../src/motion";
import { type Area, areasOf, around, grown, linesOf, moveAll, type Point, points } from "./stretch";

const LAYERS = ["groups", "edges", "labels", "heads", "nodes"];
const LEAST_SCALE = 0.8; // a drawing that is wider than its place shrinks to this, then it can be scrolled
const GAP = 14; // between a scope that opens and what is beside it, or
const LINE = 34; // above and below, with an arrow between,
const PAD = 12; // and the frame around it,
const HEAD = 26; // and the name of that
const ALL = ".nodes > .n, .groups > .n";
const keyOf = (element: Element | null | undefined) => element?.getAttribute("data-name") ?? "";

export class PageGraph {
  readonly root = h("div", { class: "tfnb-page-graph" });
  private readonly open = new Set<string>();
  private svg: SVGSVGElement;

  constructor(
    private readonly text: string,
    private readonly insides: Readonly<Record<string, string>>,
  ) {
    this.svg = this.drawn();
    this.root.append(this.svg);
    this.root.addEventListener("click", (event) => this.toggle(this.node(event)));
    this.root.addEventListener("keydown", (event) => {
      const node = event.key === "Enter" || event.key === " " ? this.node(event) : null;
      if (!node) return;
      event.preventDefault();
      this.toggle(node);
    });
    for (const [type, on] of Object.entries({ pointerover: true, pointerout: false }))
      this.root.addEventListener(type, (event) => this.light(this.node(event), on));
  }

  private node(event: Event): Element | null {
    return (event.target as Element).closest(".n, .head");
  }

  /** Open a closed scope; close an open one, by its name and sign, with all that is open in it. */
  private toggle(node: Element | null): void {
    const key = keyOf(node);
    const frame = node?.classList.contains("is-open");
    if (!(key in this.insides) || (frame && !node?.classList.contains("head"))) return;
    if (!this.open.delete(key)) this.open.add(key);
    const before = places(this.svg);
    const next = this.drawn();
    next.setAttribute("data-theme", this.svg.getAttribute("data-theme") ?? "light");
    this.svg.replaceWith(next);
    this.svg = next;
    glide(next, before);
    this.find(next, key)?.focus({ preventScroll: true });
  }

  private find(svg: Element, key: string): SVGElement | undefined {
    const all = [...svg.querySelectorAll<SVGElement>(".nodes > .n, .heads > .head")];
    return all.find((node) => keyOf(node) === key);
  }

  private drawn(): SVGSVGElement {
    const svg = parseSvg(this.text);
    const before = extent(svg);
    for (const key of this.open) {
      const node = this.find(svg, key);
      if (node && !node.classList.contains("head")) this.unfold(svg, node);
    }
    const after = extent(svg);
    const more = Math.round(after.bottom - before.bottom);
    const width = Math.round(Number(svg.getAttribute("width")) + after.right - before.right);
    const height = Number(svg.getAttribute("height")) + more;
    svg.querySelector(".legend")?.setAttribute("transform", `translate(0 ${more})`);
    for (const each of [svg, ...svg.querySelectorAll(":scope > .bg")]) {
      each.setAttribute("width", String(width));
      each.setAttribute("height", String(height));
    }
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("style", `height:auto;max-width:max(100%,${Math.round(width * LEAST_SCALE)}px)`);
    svg.setAttribute("role", "group");
    this.prepare(svg);
    return svg;
  }

  /** Put the inside of a box in its place; what is in its way moves. */
  private unfold(svg: SVGSVGElement, node: Element): void {
    const inside = this.insides[keyOf(node)];
    if (!inside) return;
    const made = parseSvg(inside);
    const box = areasOf(node).reduce(around);
    const [wide, high] = [box.right - box.left, box.bottom - box.top];
    const [width, height] = [Number(made.getAttribute("width")), Number(made.getAttribute("height"))];
    node.remove();
    const [x, y] = roomFor(svg, keyOf(node), box, Math.max(wide, width) / 2, Math.max(high, height) / 2);
    const shelf = shelfOf(svg);
    const aside = isAside(shelf, box);
    const [cx, cy] = [x((box.left + box.right) / 2), y((box.top + box.bottom) / 2)];
    const end = ([a, b]: Point): Point => [
      a <= box.left + 1 ? cx - width / 2 : a >= box.right - 1 ? cx + width / 2 : x(a),
      b <= box.top + 1 ? cy - height / 2 : b >= box.bottom - 1 ? cy + height / 2 : y(b),
    ];
    const move = ([a, b]: Point): Point => {
      if (isAside(shelf, { left: a, right: a, top: b, bottom: b }) === aside) return [x(a), y(b)];
      if (aside) return [a, b]; // no line goes from what stands beside the model to it: it need not make room
      return shelf.below ? [a, y(b)] : [x(a), b];
    };
    moveAll(svg, move, { key: keyOf(node), end });
    moveAll(made, ([a, b]) => [a + cx - width / 2, b + cy - height / 2]);
    for (const layer of LAYERS)
      svg.querySelector(`.${layer}`)?.append(...(made.querySelector(`.${layer}`)?.childNodes ?? []));
  }

  /** What opens and closes can be reached and says so; signs of what does not are taken away. */
  private prepare(svg: SVGSVGElement): void {
    for (const node of svg.querySelectorAll(".nodes > .n, .heads > .head")) {
      if (keyOf(node) in this.insides) {
        node.setAttribute("tabindex", "0");
        node.setAttribute("role", "button");
        node.setAttribute("aria-expanded", String(node.classList.contains("head")));
        if (node.classList.contains("head")) node.setAttribute("aria-label", `close ${keyOf(node)}`);
      } else node.querySelector(":scope > .fold")?.remove();
    }
  }

  private light(node: Element | null, on: boolean): void {
    const key = keyOf(node);
    for (const edge of this.svg.querySelectorAll(".edge"))
      if (node && [edge.getAttribute("data-from"), edge.getAttribute("data-to")].includes(key))
        edge.classList.toggle("is-lit", on);
  }
}

type Map1 = (value: number) => number;
type Span = [from: number, to: number];

function extent(svg: Element): Area {
  return [...svg.querySelectorAll(ALL)]
    .flatMap(areasOf)
    .reduce(around, { left: 0, right: 0, top: 0, bottom: 0 });
}

/** What stands beside the model is beyond this x, or below this y. */
interface Shelf {
  at: number;
  below: boolean;
}

function shelfOf(svg: Element): Shelf {
  const [begin, end] = points(svg.querySelector(".shelf path")?.getAttribute("d") ?? "");
  const below = begin?.[1] === end?.[1];
  return { at: begin ? begin[below ? 1 : 0] : Number.POSITIVE_INFINITY, below };
}

const isAside = ({ at, below }: Shelf, area: Area) => (below ? area.top > at : area.left > at);

/** How a coordinate changes so that a span reaches `half` to both sides, clear of these ends and of what is near. */
function widened(span: Span, half: number, before: number[], after: number[], near: Span[]): Map1 {
  const middle = (span[0] + span[1]) / 2;
  for (const [from, to] of near)
    if (from + to < 2 * middle) before.push(to);
    else after.push(from);
  return grown(
    ...span,
    Math.max(0, Math.max(...before) - (middle - half)),
    Math.max(0, middle + half - Math.min(...after)),
  );
}

/** How coordinates change so that an area of twice these sizes fits around the middle of a box. */
function roomFor(svg: Element, key: string, box: Area, halfWide: number, halfHigh: number): [Map1, Map1] {
  const shelf = shelfOf(svg);
  const aside = isAside(shelf, box);
  const wall = (is: boolean, otherwise: number) => (is ? shelf.at : otherwise);
  const holds = (area: Area) =>
    area.left < box.left && area.right > box.right && area.top < box.top && area.bottom > box.bottom;
  const areas = [...svg.querySelectorAll(ALL)]
    .flatMap(areasOf)
    .filter((area) => aside === isAside(shelf, area));
  const frames = areas.filter(holds);
  const others = [...areas.filter((area) => !holds(area)), ...(aside ? [] : linesOf(svg, key))];
  const cx = (box.left + box.right) / 2;
  const row = others.filter((area) => area.bottom > box.top && area.top < box.bottom);
  const lefts = [wall(aside && !shelf.below, 0), ...frames.map((each) => each.left + PAD - GAP)];
  const rights = [
    wall(!aside && !shelf.below, Number.POSITIVE_INFINITY),
    ...frames.map((each) => each.right - PAD + GAP),
  ];
  const across = row.map((each): Span => [each.left, each.right]);
  const x = widened([box.left, box.right], halfWide + GAP, lefts, rights, across);
  const [from, to] = [x(cx) - halfWide - GAP, x(cx) + halfWide + GAP];
  const column = others.filter((area) => x(area.right) > from && x(area.left) < to);
  const tops = [wall(aside && shelf.below, PAD - LINE), ...frames.map((each) => each.top + HEAD - LINE)];
  const bottoms = [
    wall(!aside && shelf.below, Number.POSITIVE_INFINITY),
    ...frames.map((each) => each.bottom - PAD + LINE),
  ];
  const along = column.map((each): Span => [each.top, each.bottom]);
  return [x, widened([box.top, box.bottom], halfHigh + LINE, tops, bottoms, along)];
}
