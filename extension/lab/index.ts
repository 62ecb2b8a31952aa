/**
 * tfnb in JupyterLab 4 and Notebook 7: a prebuilt extension. JupyterLab loads such ones as containers of webpack's
 * module federation; this one is written by hand, for it takes all modules that it needs from the page.
 */
import { Besides } from "./beside";
import { type App, Modules, type Shared, type Tab } from "./jupyter";
import { runOnRequest } from "./run";
import styles from "./style.css";

const LEAST_VERSION = 4;
let shared: Shared = {};

async function activate(app: App): Promise<void> {
  if (Number.parseInt(app.version, 10) < LEAST_VERSION) return;
  const modules = new Modules(shared);
  const tabs = await modules.find<{ Widget: new () => Tab }>("@lumino/widgets");
  if (!tabs) return;
  const sheet = document.createElement("style");
  sheet.textContent = styles;
  document.head.append(sheet);
  await Promise.all([new Besides(app, tabs).start(modules), runOnRequest(app, modules)]);
}

const plugin = {
  id: "tfnb:beside",
  description: "Graphs beside the code that made them.",
  autoStart: true,
  activate,
};

declare global {
  var _JUPYTERLAB: Record<string, unknown> | undefined;
}

globalThis._JUPYTERLAB ??= {};
globalThis._JUPYTERLAB.tfnb = {
  init: (scope: Shared) => {
    shared = scope;
  },
  get: async () => () => ({ __esModule: true, default: plugin }),
};
