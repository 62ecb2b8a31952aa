/** The one module behind every tfnb view; the trait `kind` says which view it is. */

import { h } from "./dom";
import { GraphWidget } from "./graph";
import { makeGuard, report } from "./guard";
import { LiveWidget } from "./live";
import type { Model } from "./model";
import styles from "./style.css";
import { followTheme } from "./theme";

interface Place {
  model: Model;
  el: HTMLElement;
}

type Stop = () => void;

function render({ model, el }: Place): Stop {
  const host = h("div", { class: "tfnb" });
  const theme = h("style");
  theme.textContent = styles;
  el.append(theme, host);
  const stops: Stop[] = [followTheme(host)];
  const guard = makeGuard(host, model);
  const listen = (event: string, handler: (...args: never[]) => void) => {
    model.on(event, handler);
    stops.push(() => model.off(event, handler));
  };
  try {
    const kind = model.get("kind");
    if (kind === "graph") showGraph(model, host, guard, listen, stops);
    else if (kind === "live") showLive(model, host, guard, listen, stops);
    else throw new Error(`no view of kind ${JSON.stringify(kind)} in this version of tfnb`);
  } catch (problem) {
    report(host, model, problem);
  }
  return () => {
    for (const stop of stops) stop();
  };
}

type Listen = (event: string, handler: (...args: never[]) => void) => void;

function showGraph(
  model: Model,
  host: HTMLElement,
  guard: ReturnType<typeof makeGuard>,
  listen: Listen,
  stops: Stop[],
): void {
  const view = new GraphWidget(model, guard);
  host.append(view.root);
  listen(
    "change:state",
    guard(() => view.update()),
  );
  watchSize(
    host,
    guard(() => view.resize()),
    stops,
  );
  view.update();
}

function showLive(
  model: Model,
  host: HTMLElement,
  guard: ReturnType<typeof makeGuard>,
  listen: Listen,
  stops: Stop[],
): void {
  const board = new LiveWidget(model);
  host.append(board.root);
  listen(
    "change:state",
    guard(() => board.update()),
  );
  listen(
    "msg:custom",
    guard((message: { type: string }, buffers: DataView[]) => board.receive(message, buffers)),
  );
  watchSize(
    host,
    guard(() => board.schedule()),
    stops,
  );
  board.update();
  model.send({ type: "ready" });
}

function watchSize(host: HTMLElement, act: () => void, stops: Stop[]): void {
  if (typeof ResizeObserver === "undefined") return;
  const observer = new ResizeObserver(act);
  observer.observe(host);
  stops.push(() => observer.disconnect());
}

export default { render };
