/** Cells that are run for a view: the event `tfnb:run-cells` on an element of a notebook, with {ids} in its detail. */
import { type App, type Modules, panelOf } from "./jupyter";

const RUN = "tfnb:run-cells";

interface Actions {
  NotebookActions: {
    runCells?(notebook: unknown, cells: readonly unknown[], session: unknown): Promise<boolean>;
  };
}

/** Run the cells that events ask for, in the order given, and answer by preventDefault; one that fails is the last. */
export async function runOnRequest(app: App, modules: Modules): Promise<void> {
  const actions = (await modules.find<Actions>("@jupyterlab/notebook"))?.NotebookActions;
  if (!actions?.runCells) return;
  const run = actions.runCells.bind(actions);
  document.addEventListener(RUN, (event) => {
    const ids = (event as CustomEvent<{ ids?: unknown }>).detail?.ids;
    const panel = event.target instanceof Node ? panelOf(app, event.target) : undefined;
    if (!panel || !Array.isArray(ids)) return;
    const notebook = panel.content;
    const cells = ids.flatMap((id) => notebook.widgets.filter((cell) => cell.model.id === id));
    if (!cells.length) return;
    event.preventDefault();
    const all = async () => {
      for (const cell of cells) if (!(await run(notebook, [cell], panel.sessionContext))) return;
    };
    void all();
  });
}
