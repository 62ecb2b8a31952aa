"""Letters that can hardly be read: the contrast of each text with what is behind it, as the WCAG measure it."""
from __future__ import annotations

from typing import Any

LEAST = 3.0         # of the WCAG for large text and for parts of controls

FAINT = """([area, least]) => {
    const numbers = (text) => {
        const found = /rgba?\\(([^)]*)\\)/.exec(text);
        if (!found) return null;
        const [r, g, b, a = 1] = found[1].split(/[ ,/]+/).map(Number);
        return [r, g, b, a];
    };
    const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]);
    const light = (color) => color.slice(0, 3).map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const fills = (element) => {
        const style = getComputedStyle(element);
        const shape = element instanceof SVGElement && element.nodeName !== "svg";
        const text = shape ? style.fill : style.backgroundColor;
        const found = numbers(text);
        return found && (!shape || element instanceof SVGGeometryElement)
            ? [...found.slice(0, 3), found[3] * (shape ? Number(style.fillOpacity) : 1)] : null;
    };
    // what was drawn at a place before the element; elementsFromPoint sees what is in the window only, topmost first
    const behind = (element, box) => document
        .elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2)
        .filter((one) => one === element || element.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_PRECEDING)
        .map((one) => one instanceof SVGTextElement ? null : fills(one)).filter((one) => one?.[3] > 0).reverse()
        .reduce((below, top) => over(top, below), [255, 255, 255]);
    const found = [];
    const all = document.createElement("style");        // JupyterLab leaves cells out of the window undrawn
    all.textContent = ".jp-Cell { content-visibility: visible !important; }";
    document.head.append(all);
    for (const root of document.querySelectorAll(area)) {
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            const element = node.parentElement;
            if (!node.textContent.trim() || element.closest("style, title, script, select, [hidden]")) continue;
            element.scrollIntoViewIfNeeded?.();
            const range = document.createRange();
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect();
            if (!box.width || !element.checkVisibility({ opacityProperty: true })) continue;
            const stage = element.closest(".tfnb-stage")?.getBoundingClientRect();      // it shows a part of a drawing
            const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
            if (stage && (x < stage.left || x > stage.right || y < stage.top || y > stage.bottom)) continue;
            const style = getComputedStyle(element);
            const below = behind(element, box);
            const ink = numbers(element instanceof SVGElement ? style.fill : style.color);
            let opacity = ink[3];
            for (let one = element; one && one !== root; one = one.parentElement)
                opacity *= Number(getComputedStyle(one).opacity);
            const seen = contrast(over([...ink.slice(0, 3), opacity], below), below);
            if (seen < least) found.push(`${seen.toFixed(1)} ${node.textContent.trim().slice(0, 40)} ` +
                `(${style.color} ${style.fill} on ${below.map(Math.round)})`);
        }
    }
    all.remove();
    return [...new Set(found)];
}"""


def faint(page: Any, area: str, least: float = LEAST) -> list[str]:
    """The texts below a selector whose contrast is less, each with its figure."""
    return list(page.evaluate(FAINT, [area, least]))
