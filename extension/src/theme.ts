/** Light or dark, as the page around us is: JupyterLab and VS Code say so on the body; else the reader's system does. */

function pageTheme(body: HTMLElement = document.body): "light" | "dark" {
  const lab = body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "true" ? "light" : "dark";
  const code = body.dataset.vscodeThemeKind;
  if (code !== undefined) return code.includes("light") ? "light" : "dark";
  return globalThis.matchMedia?.("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Keeps `data-theme` of the element as the page's; returns how to stop. */
export function followTheme(element: HTMLElement): () => void {
  const apply = () => {
    const theme = pageTheme();
    element.dataset.theme = theme;
    for (const svg of element.querySelectorAll("svg")) svg.setAttribute("data-theme", theme);
  };
  apply();
  const observer = new MutationObserver(apply);
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ["data-jp-theme-light", "data-vscode-theme-kind", "class"],
  });
  const query = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
  query?.addEventListener?.("change", apply);
  return () => {
    observer.disconnect();
    query?.removeEventListener?.("change", apply);
  };
}
