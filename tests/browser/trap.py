"""What ran in a page that should not have, and what was said in its console: names in graphs and files are hostile."""
from __future__ import annotations

import re
from typing import Any

MARK = "__hit"          # what every hostile string sets as an attribute of `window`
SCRIPT = f"""
window.{MARK} = undefined;
for (const ask of ["alert", "confirm", "prompt", "open"]) window[ask] = () => {{ window.{MARK} = ask; return null; }};
window.addEventListener("securitypolicyviolation", (event) => {{ window.{MARK} = `policy: ${{event.blockedURI}}`; }});
"""
# What Notebook 7 itself says, now and then, when it opens; and of the fonts for formulas, which it does not serve.
# anywidget gives a module 2 s to arrive; on a loaded machine it comes later, and is shown all the same. One that does
# not come at all is missed by whatever looks for what it shows.
NOISE = re.compile("reading 'schema'|Command 'filebrowser:open-path' not registered|[.]woff"
                   r"|\[anywidget\] Failed to initialize model")

# Anything in `area` that could run: an element, an attribute or an address made of a hostile string.
LIVE_PARTS = """(area) => [...document.querySelectorAll(`${area} *`)].flatMap((element) => {
    const ADDRESS = /(href|src|action|data)$/i;
    const found = [];
    const node = element.nodeName.toLowerCase();
    if (/^(script|iframe|object|embed|foreignobject|base|meta|link)$/.test(node)) found.push(node);
    for (const { name, value } of element.attributes)
        if (/^(on|srcdoc)/i.test(name) || (ADDRESS.test(name) && /^\\s*(javascript|data:text)/i.test(value)))
            found.push(`${node} ${name}="${value}"`);
    return found;
})"""


class Trap:
    """Listens to a page from its beginning on. errors: of the console, and uncaught ones."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.errors: list[str] = []
        page.add_init_script(SCRIPT)
        page.on("pageerror", lambda error: self._hear(f"uncaught: {error}"))
        page.on("console", lambda said: said.type == "error" and self._hear(f"{said.text} ({said.location['url']})"))

    def _hear(self, error: str) -> None:
        if not NOISE.search(error):
            self.errors.append(error)

    def hit(self) -> Any:
        """What ran: None for nothing. Looks into frames, too."""
        return next((found for frame in self.page.frames if (found := frame.evaluate(f"() => window.{MARK}"))), None)

    def live_parts(self, area: str) -> list[str]:
        """Elements and attributes below a selector that run something by themselves or when clicked."""
        return list(self.page.evaluate(LIVE_PARTS, area))

    def quiet(self) -> None:
        """Raises AssertionError if something ran, or was said in the console since the last call."""
        hit, said = self.hit(), "; ".join(self.errors)
        self.errors.clear()
        assert hit is None, f"{hit} ran in the page"
        assert not said, f"in the console: {said}"
