/** Pan and zoom of an SVG by its viewBox: lines and letters stay sharp. */
import { drag, wheelZoom } from "./pointer";

interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

const MOST_ZOOM = 4; // pixels on the screen per pixel of the drawing
const LEAST_ZOOM = 0.1;
const LEGIBLE = 1; // the least zoom that a drawing begins with: its letters are 11 pixels high and more
const DRAG = 4; // pixels that the pointer moves before a press is a drag and no click

/** Where to begin so that a point is in the middle, or as near to it as the drawing reaches. */
const from = (middle: number, seen: number, size: number) =>
  seen > size ? (size - seen) / 2 : Math.min(Math.max(0, middle - seen / 2), size - seen);

export class Viewport {
  /** What of the drawing is seen. */
  seen: Rect = { x: 0, y: 0, w: 1, h: 1 };
  /** Whether the reader has moved it: then it is not fitted again by itself. */
  moved = false;
  dragged = false;
  /** Pixels on the screen per pixel of the drawing. */
  scale = 1;
  /** What is to be in sight, where not all of the drawing can be read at once. */
  target: { x: number; y: number } | undefined;
  private svg: SVGSVGElement | undefined;
  private size = { w: 1, h: 1 };

  constructor(
    private readonly stage: HTMLElement,
    private readonly onHint: () => void = () => {},
    private readonly onMove: () => void = () => {},
  ) {
    stage.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.onPress(event));
  }

  /** Show a new drawing of this size. */
  show(svg: SVGSVGElement, width: number, height: number): void {
    this.svg = svg;
    this.size = { w: width, h: height };
    svg.setAttribute("width", "100%");
    svg.setAttribute("height", "100%");
    svg.setAttribute("preserveAspectRatio", "xMidYMid meet");
    if (this.moved) this.regain();
    else this.fit();
    if (this.moved && this.target) this.reveal(this.target);
  }

  /** See as much more or less as the place has grown or shrunk, in the same size. */
  regain(): void {
    const { w, h } = this.pixels();
    this.set({ ...this.seen, w: w / this.scale, h: h / this.scale });
  }

  /** The size of the drawing. */
  get whole(): { w: number; h: number } {
    return this.size;
  }

  /** Whether a part of the drawing is out of sight. */
  get cut(): boolean {
    return this.seen.w < this.size.w - 1 || this.seen.h < this.size.h - 1;
  }

  /** Bring a point of the drawing to the middle. */
  center(at: { x: number; y: number }): void {
    this.pan(at.x - this.seen.x - this.seen.w / 2, at.y - this.seen.y - this.seen.h / 2);
  }

  /**
   * All of the drawing, never enlarged; if its letters were too small then, and not `whole`: its beginning, or what is
   * around the target.
   */
  fit(whole = false): void {
    const { w, h } = this.pixels();
    const all = Math.min(1, w / this.size.w, h / this.size.h);
    const part = !whole && all < LEGIBLE;
    const at = part ? this.target : undefined;
    const [width, height] = part ? [w / LEGIBLE, h / LEGIBLE] : [w / all, h / all];
    this.moved = whole;
    this.set({
      x: from(at?.x ?? 0, width, this.size.w),
      y: from(at?.y ?? 0, height, this.size.h),
      w: width,
      h: height,
    });
  }

  /** Enlarge by `factor` about a point of the drawing (its middle by default). */
  zoom(factor: number, at?: { x: number; y: number }): void {
    const { x, y, w, h } = this.seen;
    const about = at ?? { x: x + w / 2, y: y + h / 2 };
    const now = this.pixels().w / w;
    const f = Math.min(MOST_ZOOM / now, Math.max(LEAST_ZOOM / now, factor));
    this.moved = true;
    this.set({ x: about.x - (about.x - x) / f, y: about.y - (about.y - y) / f, w: w / f, h: h / f });
  }

  /** Move what is seen, in pixels of the drawing. */
  pan(dx: number, dy: number): void {
    this.moved = true;
    this.set({ ...this.seen, x: this.seen.x + dx, y: this.seen.y + dy });
  }

  /** Bring a point of the drawing to the middle if it is near the rim or out of sight. */
  reveal(at: { x: number; y: number }): void {
    const { x, y, w, h } = this.seen;
    const inside = at.x > x + w * 0.08 && at.x < x + w * 0.92 && at.y > y + h * 0.08 && at.y < y + h * 0.92;
    if (!inside) this.set({ ...this.seen, x: from(at.x, w, this.size.w), y: from(at.y, h, this.size.h) });
  }

  private set(seen: Rect): void {
    this.seen = seen;
    const { w, h } = this.pixels();
    this.scale = Math.min(w / seen.w, h / seen.h);
    const numbers = [seen.x, seen.y, seen.w, seen.h].map((n) => Math.round(n * 100) / 100);
    this.svg?.setAttribute("viewBox", numbers.join(" "));
    this.onMove();
  }

  private pixels(): { w: number; h: number } {
    return { w: this.stage.clientWidth || this.size.w, h: this.stage.clientHeight || this.size.h };
  }

  private onWheel(event: WheelEvent): void {
    const factor = wheelZoom(event, this.stage);
    if (factor === undefined) {
      this.onHint();
      return;
    }
    const box = this.stage.getBoundingClientRect();
    const scale = this.seen.w / box.width;
    const at = {
      x: this.seen.x + (event.clientX - box.left) * scale,
      y: this.seen.y + (event.clientY - box.top) * scale,
    };
    this.zoom(factor, at);
  }

  private onPress(press: PointerEvent): void {
    if (press.button !== 0) return;
    const from = { ...this.seen };
    const scale = this.seen.w / (this.stage.clientWidth || 1);
    this.dragged = false;
    const move = (event: PointerEvent) => {
      const [dx, dy] = [event.clientX - press.clientX, event.clientY - press.clientY];
      if (!this.dragged && Math.hypot(dx, dy) < DRAG) return;
      this.dragged = this.moved = true;
      this.stage.classList.add("is-dragged");
      this.set({ ...from, x: from.x - dx * scale, y: from.y - dy * scale });
    };
    drag(move, () => this.stage.classList.remove("is-dragged"));
  }
}
