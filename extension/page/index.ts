/** What a saved notebook's page shows in place of a picture: the drawing itself, with no kernel and no network. */
import { h, parseSvg } from "../src/dom";
import { followCharts, type Numbers } from "./chart";
import { PageGraph } from "./graph";
import styles from "./style.css";

interface Pack {
  svg: string;
  insides?: Record<string, string>;
  numbers?: Numbers[];
}

/**
 * Show a packed drawing after the script that calls this, or in what the page calls `element`. name: of the view that
 * takes its place while there is a kernel (../src/place.ts).
 */
export async function show(packed: string, element?: Element, name?: string): Promise<void> {
  const host = h("div", { class: "tfnb-page", "data-tfnb": name });
  const here = document.currentScript;
  if (here?.isConnected && here.parentElement !== document.head) here.after(host);
  else element?.append(host);
  const pack = await unpacked(packed);
  const style = h("style");
  style.textContent = styles;
  const drawing = pack.insides ? new PageGraph(pack.svg, pack.insides).root : picture(pack.svg);
  host.append(style, drawing);
  followTheme(host);
  if (pack.numbers) followCharts(host, pack.numbers);
}

function picture(text: string): SVGSVGElement {
  const svg = parseSvg(text);
  svg.style.maxWidth = "100%";
  svg.style.height = "auto";
  return svg;
}

async function unpacked(packed: string): Promise<Pack> {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Light or dark, as what is behind the drawing. */
function followTheme(host: HTMLElement): void {
  const apply = () => {
    const theme = isDark(host) ? "dark" : "light";
    host.dataset.theme = theme;
    for (const svg of host.querySelectorAll("svg")) svg.setAttribute("data-theme", theme);
  };
  apply();
  const observer = new MutationObserver(apply); // pages with a switch note it on their root or body
  for (const element of [document.documentElement, document.body])
    observer.observe(element, { attributes: true });
}

function isDark(host: Element): boolean {
  for (let element: Element | null = host.parentElement; element; element = element.parentElement) {
    const [r = 0, g = 0, b = 0, a = 1] = (
      getComputedStyle(element).backgroundColor.match(/[\d.]+/g) ?? []
    ).map(Number);
    if (a > 0.5) return r + g + b < 384;
  }
  return false;
}
