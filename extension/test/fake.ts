/** A model whose kernel is the test, and the place where views are shown. */
import { afterEach, beforeEach } from "vitest";
import view from "../src/index";
import type { GraphState, Model } from "../src/model";

type Call = (...args: never[]) => void;

export class FakeModel implements Model {
  sent: Record<string, unknown>[] = [];
  listeners = new Map<string, Call[]>();

  constructor(public values: Record<string, unknown>) {}

  get(key: string): unknown {
    return this.values[key];
  }

  on(event: string, call: Call): void {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), call]);
  }

  off(event: string, call?: Call): void {
    this.listeners.set(
      event,
      (this.listeners.get(event) ?? []).filter((one) => call && one !== call),
    );
  }

  send(content: unknown): void {
    this.sent.push(content as Record<string, unknown>);
  }

  emit(event: string, ...args: unknown[]): void {
    for (const call of this.listeners.get(event) ?? []) call(...(args as never[]));
  }

  setState(state: unknown): void {
    this.values = { ...this.values, state };
    this.emit("change:state");
  }

  /** Points of (step, value); half a second a step. */
  points(tag: number, start: number, pairs: number[]): void {
    const points = pairs.flatMap((x, i) => (i % 2 ? [x, (pairs[i - 1] as number) / 2] : [x]));
    this.emit("msg:custom", { type: "points", tag, start }, [new DataView(new Float32Array(points).buffer)]);
  }
}

/** Where the tests of a file show views: empty at the begin of each, and at its end the view is taken away. */
export function stage() {
  const el = document.createElement("div");
  let stop = () => {};
  beforeEach(() => {
    el.replaceChildren();
    document.body.replaceChildren(el);
  });
  afterEach(() => stop());
  const show = (model: FakeModel): FakeModel => {
    stop = view.render({ model, el });
    return model;
  };
  return { el, show, hide: () => stop() };
}

export const SVG = `<svg xmlns="http://www.w3.org/2000/svg" class="tfnb-graph" width="300" height="200" viewBox="0 0 300 200">
<g class="world"><g class="groups"></g><g class="edges"><g class="edge" data-from="x" data-to="layer1/"><path class="e" d="M0 0L9 9"/></g></g>
<g class="nodes"><g class="n f-op r-input" data-name="x" transform="translate(50 20)"><title>x</title><rect class="s"/></g>
<g class="n f-scope r-scope" data-name="layer1/" data-open="1" transform="translate(50 90)"><rect class="s"/>
<g class="fold"><rect/></g><text class="ttl">layer1</text></g></g></g></svg>`;

export function graphState(more: Partial<GraphState> = {}): GraphState {
  const none = { title: "", expanded: [], selected: "", aside: {}, details: null, hits: [], note: "" };
  return { ...none, svg: SVG, ...more };
}
