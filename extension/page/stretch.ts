/**
 * Room in a drawing: the place of a box grows, and what is beyond it moves away. Distances never shrink, so nothing comes
 * to lie on another thing; edges keep their ends at their nodes.
 */

export type Point = readonly [x: number, y: number];
export type Move = (point: Point) => Point;

const NUMBER = /-?\d+(\.\d+)?/g;

/** A rectangle by its sides. */
export interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Grows from its middle: `before` more room on the one side, `after` on the other. */
export function grown(from: number, to: number, before: number, after: number): (value: number) => number {
  const middle = (from + to) / 2;
  return (value) => {
    if (value <= from) return value;
    if (value >= to) return value + before + after;
    const [part, rest] = [Math.min(1, (value - from) / (middle - from)), (value - middle) / (to - middle)];
    return value + before * part + after * Math.max(0, rest);
  };
}

const rounded = (value: number) => String(Math.round(value * 10) / 10);
const minus = (a: Point, b: Point): Point => [a[0] - b[0], a[1] - b[1]];
const plus = (a: Point, b: Point): Point => [a[0] + b[0], a[1] + b[1]];

/** The numbers in an attribute of SVG, as points. */
export function points(text: string): Point[] {
  const numbers = (text.match(NUMBER) ?? []).map(Number);
  return numbers.flatMap((x, i) => (i % 2 ? [] : [[x, numbers[i + 1] ?? 0] as const]));
}

function written(text: string, made: readonly Point[]): string {
  const numbers = made.flat();
  let i = 0;
  return text.replace(NUMBER, () => rounded(numbers[i++] ?? 0));
}

function at(element: Element): Point {
  return points(element.getAttribute("transform") ?? "")[0] ?? [0, 0];
}

function put(element: Element, [x, y]: Point): void {
  element.setAttribute("transform", `translate(${rounded(x)} ${rounded(y)})`);
}

const numeric = (element: Element, name: string) => Number(element.getAttribute(name) ?? 0);
const nameOf = (element: Element) => element.getAttribute("data-name") ?? "";

const sides = (x: number, y: number, w: number, h: number): Area => ({
  left: x,
  right: x + w,
  top: y,
  bottom: y + h,
});

/** The area of a node, the areas of the columns that a frame goes through. */
export function areasOf(node: Element): Area[] {
  const [x, y] = at(node);
  return [...node.querySelectorAll(":scope > .s")].map((shape) => {
    const of = (name: string) => numeric(shape, name);
    if (shape.nodeName === "rect") return sides(x + of("x"), y + of("y"), of("width"), of("height"));
    const [rx, ry] = [of("rx") || of("r"), of("ry") || of("r")];
    if (rx) return sides(x - rx, y - ry, 2 * rx, 2 * ry);
    const all = points(shape.getAttribute("d") ?? "");
    const [xs, ys] = [all.map((each) => each[0]), all.map((each) => each[1])];
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    return sides(x + left, y + top, Math.max(...xs) - left, Math.max(...ys) - top);
  });
}

/** The least area around two. */
export function around(a: Area, b: Area): Area {
  return {
    left: Math.min(a.left, b.left),
    right: Math.max(a.right, b.right),
    top: Math.min(a.top, b.top),
    bottom: Math.max(a.bottom, b.bottom),
  };
}

/** The stretches of the edges that don't touch a node, as areas. */
export function linesOf(root: Element, key: string): Area[] {
  const free = [...root.querySelectorAll(".edges > .edge")].filter(
    (edge) => edge.getAttribute("data-from") !== key && edge.getAttribute("data-to") !== key,
  );
  return free.flatMap((edge) => {
    const all = points(edge.querySelector(".e")?.getAttribute("d") ?? "");
    return all.slice(1).map((end, i) => {
      const begin = all[i] ?? end;
      return around(sides(begin[0], begin[1], 0, 0), sides(end[0], end[1], 0, 0));
    });
  });
}

/** What an edge ends at that was opened: its key, and where an end at the old box goes. */
interface Opened {
  key: string;
  end: Move;
}

/** Move everything in a drawing. */
export function moveAll(root: Element, move: Move, opened?: Opened): void {
  const shifts = new Map<string, Point>();
  for (const node of root.querySelectorAll(".nodes > .n")) {
    const old = at(node);
    shifts.set(nameOf(node), minus(move(old), old));
    put(node, move(old));
  }
  for (const frame of root.querySelectorAll(".groups > .n")) moveFrame(root, frame, move);
  const moved = new Map<string, Moved>();
  for (const edge of root.querySelectorAll(".edges > .edge"))
    moved.set(endsOf(edge), moveEdge(edge, move, shifts, opened));
  for (const label of root.querySelectorAll(".labels > *")) moveLabel(label, moved.get(endsOf(label)) ?? []);
  for (const line of root.querySelectorAll(".shelf path")) moveAttribute(line, "d", (all) => all.map(move));
  for (const text of root.querySelectorAll(".shelf text")) moveText(text, move);
}

function moveFrame(root: Element, frame: Element, move: Move): void {
  const old = at(frame);
  const rects = [...frame.querySelectorAll(":scope > rect")].map((rect) => {
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => numeric(rect, name)) as [
      number,
      number,
      number,
      number,
    ];
    const [from, to] = [plus(old, [x, y]), plus(old, [x + w, y + h])];
    return { rect, from, begin: move(from), end: move(to) };
  });
  const first = rects[0];
  if (!first) return;
  const middle: Point = [(first.begin[0] + first.end[0]) / 2, (first.begin[1] + first.end[1]) / 2];
  put(frame, middle);
  for (const { rect, begin, end } of rects) {
    const [x, y] = minus(begin, middle);
    const [w, h] = minus(end, begin);
    const name = rect.nextElementSibling; // of a frame in its next column
    if (name?.nodeName === "text")
      moveText(name, (old) => plus(old, minus([x, y], [numeric(rect, "x"), numeric(rect, "y")])));
    for (const [name, value] of Object.entries({ x, y, width: w, height: h }))
      rect.setAttribute(name, rounded(value));
  }
  for (const head of root.querySelectorAll(".heads > .head")) // its parts are placed from the frame's upper left corner
    if (nameOf(head) === nameOf(frame)) put(head, plus(at(head), minus(first.begin, first.from)));
}

/** The points of an edge: where they were, and where they are. */
type Moved = (readonly [Point, Point])[];

const endsOf = (element: Element) =>
  JSON.stringify([element.getAttribute("data-from"), element.getAttribute("data-to")]);

function moveEdge(edge: Element, move: Move, shifts: Map<string, Point>, opened?: Opened): Moved {
  const end = (all: readonly Point[], i: number, name: string): [Point, Point] => {
    const here: Point = all.at(i) ?? [0, 0];
    const key = edge.getAttribute(name) ?? "";
    const shift = shifts.get(key);
    if (key === opened?.key) return [here, opened.end(here)];
    return [here, shift ? plus(here, shift) : move(here)];
  };
  let tip: Point = [0, 0];
  let moved: Moved = [];
  for (const shaft of edge.querySelectorAll(".e"))
    moveAttribute(shaft, "d", (all) => {
      const made = all.map(move);
      const [[a, first], [b, last]] = [end(all, 0, "data-from"), end(all, -1, "data-to")];
      tip = minus(last, b);
      if (all.length > 3) {
        made[1] = plus(first, minus(made[1] as Point, move(a))); // a curve leaves and comes in the direction it had
        made[made.length - 2] = plus(last, minus(made.at(-2) as Point, move(b)));
      }
      [made[0], made[made.length - 1]] = [first, last];
      moved = all.map((old, i) => [old, made[i] ?? old]);
      return made;
    });
  for (const head of edge.querySelectorAll(".a"))
    moveAttribute(head, "d", (all) => all.map((each) => plus(each, tip)));
  return moved;
}

/** A label goes with the point of its edge that it is nearest to. */
function moveLabel(label: Element, edge: Moved): void {
  const text = label.nodeName === "text" ? label : label.querySelector("text");
  if (!text) return;
  const here = plus([numeric(text, "x"), numeric(text, "y")], at(label));
  const far = ([old]: readonly [Point, Point]) => Math.hypot(old[0] - here[0], old[1] - here[1]);
  const [old, made] = edge.reduce((a, b) => (far(b) < far(a) ? b : a), edge[0] ?? [here, here]);
  put(label, plus(at(label), minus(made, old)));
}

function moveText(text: Element, move: Move): void {
  const [x, y] = move([numeric(text, "x"), numeric(text, "y")]);
  text.setAttribute("x", rounded(x));
  text.setAttribute("y", rounded(y));
}

function moveAttribute(element: Element, name: string, change: (all: Point[]) => Point[]): void {
  const text = element.getAttribute(name) ?? "";
  element.setAttribute(name, written(text, change(points(text))));
}
