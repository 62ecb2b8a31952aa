// @vitest-environment happy-dom
import { afterEach, expect, test } from "vitest";
import { takePlaces } from "../src/place";

afterEach(() => {
  document.body.replaceChildren();
});

function output(inside: string): HTMLElement {
  const node = document.createElement("div");
  node.className = "jp-OutputArea-output jp-RenderedHTMLCommon";
  node.innerHTML = inside;
  return node;
}

function shown(log: string[], name = "view"): (el: HTMLElement) => () => void {
  return (el) => {
    el.textContent = name;
    log.push(`+${name}`);
    return () => log.push(`-${name}`);
  };
}

const later = () => new Promise((done) => setTimeout(done, 10));

test("a view takes the place of its table, there or yet to come, and of no other", async () => {
  const log: string[] = [];
  const here = output('<div data-tfnb="a1">table</div>');
  document.body.append(here, output('<div data-tfnb="b2">other</div>'));
  const stop = takePlaces("a1", shown(log));
  expect(here.textContent).toBe("view");
  expect(here.className).toBe("jp-OutputArea-output");
  const second = output('<p><b data-tfnb="a1">again</b></p>');
  document.body.append(second);
  await later();
  expect(second.textContent).toBe("view");
  expect(document.body.textContent).toBe("viewotherview");
  stop();
  expect(document.body.textContent).toBe("tableotheragain");
  expect(here.className).toContain("jp-RenderedHTMLCommon");
  expect(log).toEqual(["+view", "+view", "-view", "-view"]);
});

test("a cell that leaves the page has its picture, and its view again when it comes back", async () => {
  const log: string[] = [];
  const svg = encodeURIComponent('<svg data-tfnb="c3" width="1"/>');
  const host = document.createElement("div");
  host.className = "jp-RenderedSVG";
  const image = document.createElement("img");
  image.src = `data:image/svg+xml,${svg}`;
  host.append(image);
  document.body.append(host);
  const stop = takePlaces("c3", shown(log));
  expect(host.textContent).toBe("view");
  host.remove();
  await later();
  expect(host.firstElementChild).toBe(image);
  document.body.append(host);
  await later();
  expect(host.textContent).toBe("view");
  expect(log).toEqual(["+view", "-view", "+view"]);
  stop();
});
