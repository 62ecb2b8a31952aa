/**
 * Views in JupyterLab and Notebook. They keep no state of widgets: where one was, a notebook that is opened again shows
 * an error. So its picture or table stands in the output, with the name of the view, and the view takes its place.
 */

type Stop = () => void;
type Show = (el: HTMLElement) => Stop;

/** What all views of a page share; each widget has this module for itself. */
interface Places {
  views: Map<string, Show>;
  fill(root: HTMLElement): void;
  leave(name: string): void;
}

declare global {
  var tfnbPlaces: Places | undefined;
}

const PLACES = ".jp-RenderedSVG img, [data-tfnb]";
const STYLED = ["jp-RenderedHTMLCommon", "jp-RenderedSVG"]; // whose rules for tables and drawings are not for views

/** Show a view wherever its picture or table is, now and later. Returns how to end that. */
export function takePlaces(name: string, show: Show): Stop {
  globalThis.tfnbPlaces ??= watch();
  const places = globalThis.tfnbPlaces;
  places.views.set(name, show);
  places.fill(document.body);
  return () => {
    places.views.delete(name);
    places.leave(name);
  };
}

function watch(): Places {
  const views = new Map<string, Show>();
  const taken = new Map<HTMLElement, [name: string, leave: Stop]>();
  const leave = (wanted: (name: string, el: HTMLElement) => boolean) => {
    for (const [el, [name, stop]] of taken)
      if (wanted(name, el)) {
        taken.delete(el);
        stop();
      }
  };
  const take = (place: HTMLElement) => {
    const name = nameOf(place);
    const show = views.get(name);
    if (!show) return;
    const [el, stop] = replace(place, show);
    taken.set(el, [name, stop]);
  };
  const fill = (root: HTMLElement) => {
    if (root.matches(PLACES)) take(root);
    root.querySelectorAll<HTMLElement>(PLACES).forEach(take);
  };
  const observer = new MutationObserver((records) => {
    leave((_, el) => !el.isConnected); // cells out of sight are taken from the page, and come back
    for (const node of records.flatMap((record) => [...record.addedNodes]))
      if (node instanceof HTMLElement && node.isConnected) fill(node);
  });
  observer.observe(document.body, { childList: true, subtree: true });
  return { views, fill, leave: (name) => leave((each) => each === name) };
}

/** Which view a picture or table is of; "" for what is none of ours. JupyterLab's pictures are data URIs. */
function nameOf(place: HTMLElement): string {
  if (place instanceof HTMLImageElement) return /data-tfnb%3D%22(\w+)/.exec(place.src)?.[1] ?? "";
  return place.dataset.tfnb ?? "";
}

function replace(place: HTMLElement, show: Show): [HTMLElement, Stop] {
  const output = place.closest(".jp-OutputArea-output");
  const styles = STYLED.filter((style) => output?.classList.contains(style));
  const el = document.createElement("div");
  place.replaceWith(el);
  output?.classList.remove(...styles);
  const stop = show(el);
  return [
    el,
    () => {
      stop();
      el.replaceWith(place);
      output?.classList.add(...styles);
    },
  ];
}
