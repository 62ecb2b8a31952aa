/** The one module behind every tfnb view; the trait `kind` says which view it is. */

import { offer } from "./beside";
import { hearButtons } from "./cells";
import { h } from "./dom";
import { GraphWidget } from "./graph";
import { complain, type Guard, makeGuard, report } from "./guard";
import { watchKernel } from "./kernel";
import { keepFocus, keepKeys } from "./keys";
import { LessonWidget } from "./lesson";
import { LiveWidget } from "./live";
import type { Model, View } from "./model";
import { takePlaces } from "./place";
import { SheetWidget } from "./sheet";
import { StartWidget } from "./start";
import styles from "./style.css";
import { followTheme } from "./theme";
import { TrainWidget } from "./train";

interface Place {
  model: Model;
  el: HTMLElement;
}

const VIEWS = new Map<unknown, (model: Model, guard: Guard) => View>([
  ["graph", (model, guard) => new GraphWidget(model, guard)],
  ["lesson", (model) => new LessonWidget(model)],
  ["live", (model) => new LiveWidget(model)],
  ["sheet", (model, guard) => new SheetWidget(model, guard)],
  ["start", (model, guard) => new StartWidget(model, guard)],
  ["train", (model) => new TrainWidget(model)],
]);

type Stop = () => void;

function render({ model: given, el }: Place): Stop {
  const host = h("div", { class: "tfnb" });
  const [model, unwatch] = watchKernel(given, host);
  const theme = h("style");
  theme.textContent = styles;
  el.append(theme, host);
  const stops: Stop[] = [followTheme(host), unwatch];
  const guard = makeGuard(host, model);
  try {
    const make = VIEWS.get(model.get("kind"));
    if (!make)
      throw new Error(`no view of kind ${JSON.stringify(model.get("kind"))} in this version of tfnb`);
    const view = make(model, guard);
    connect(view, model, host, guard, stops);
    stops.push(offer(view, model, given, host, (el) => render({ model: given, el })));
  } catch (problem) {
    report(host, model, problem);
  }
  return () => {
    for (const stop of stops) stop();
  };
}

function connect(view: View, model: Model, host: HTMLElement, guard: Guard, stops: Stop[]): void {
  const listen = (event: string, handler: (...args: never[]) => void) => {
    model.on(event, handler);
    stops.push(() => model.off(event, handler));
  };
  host.append(view.root);
  stops.push(keepKeys(host));
  stops.push(() => view.dispose?.());
  listen(
    "change:state",
    guard(() => {
      complain(host, "");
      keepFocus(host, () => view.update());
    }),
  );
  watchSize(
    host,
    guard(() => view.resize?.()),
    stops,
  );
  view.update();
  listen(
    "msg:custom",
    guard((message: { type: string; message?: string }, buffers: DataView[]) => {
      if (message.type === "failed") complain(host, `The kernel could not do this. ${message.message}`);
      view.receive?.(message, buffers);
    }),
  );
  if (view.receive && !view.quiet) model.send({ type: "ready" });
}

function watchSize(host: HTMLElement, act: () => void, stops: Stop[]): void {
  if (typeof ResizeObserver === "undefined") return;
  const observer = new ResizeObserver(act);
  observer.observe(host);
  stops.push(() => observer.disconnect());
}

function initialize({ model }: { model: Model }): Stop | undefined {
  if (model.get("kind") === "cells") return hearButtons(model);
  const name = model.get("place");
  return typeof name === "string" && name ? takePlaces(name, (el) => render({ model, el })) : undefined;
}

export default { initialize, render };
