/** The end of the kernel: a view of a kernel that is gone says so and is grey, instead of a training that runs for ever. */
import { complain } from "./guard";
import type { Model } from "./model";

interface Signal {
  connect(slot: (sender: unknown, status: string) => void): void;
  disconnect(slot: (sender: unknown, status: string) => void): void;
}

/** What JupyterLab and Notebook give a widget beside its model. */
interface Managed {
  widget_manager?: { kernel?: { statusChanged?: Signal } | null };
}

const ENDED = new Set(["restarting", "autorestarting", "terminating", "dead"]);

/** Grey a view and say why. */
function end(host: HTMLElement): void {
  if (host.classList.contains("is-ended")) return;
  host.classList.add("is-ended");
  complain(host, "The kernel of this view has ended. Run the cell again.");
}

/** The model for a view in `host`, whose messages to a kernel that is gone end the view; and how to stop listening. */
export function watchKernel(model: Model, host: HTMLElement): [Model, () => void] {
  const changed = (_: unknown, status: string) => {
    if (ENDED.has(status)) end(host);
  };
  const signal = (model as Managed).widget_manager?.kernel?.statusChanged;
  signal?.connect(changed);
  const watched: Model = {
    get: (key) => model.get(key),
    on: (event, callback) => model.on(event, callback),
    off: (event, callback) => model.off(event, callback),
    send: (content) => {
      if (host.classList.contains("is-ended")) return;
      try {
        model.send(content);
      } catch {
        end(host);
      }
    },
  };
  return [watched, () => signal?.disconnect(changed)];
}
