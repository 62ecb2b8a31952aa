"""Colours of every drawing, light and dark, safe for colour-blind readers (after Okabe and Ito, 2008).

Roles never differ by colour alone: shape, stroke or a word says the same.
"""
from __future__ import annotations

from typing import NamedTuple


class Tone(NamedTuple):
    """Fill and stroke of a role in one theme."""

    fill: str
    stroke: str


# role -> (light, dark)
ROLES: dict[str, tuple[Tone, Tone]] = {
    "op": (Tone("#ffffff", "#5b6773"), Tone("#262e36", "#9aa7b3")),
    "input": (Tone("#d9ecf9", "#0072b2"), Tone("#12384f", "#56b4e9")),
    "variable": (Tone("#fdeccb", "#b97800"), Tone("#4a3508", "#f0b030")),
    "const": (Tone("#e6e9ec", "#75808a"), Tone("#39424b", "#98a4af")),
    "scope": (Tone("#e9eef4", "#76889b"), Tone("#24303c", "#7e93a8")),
    "gradient": (Tone("#fae3d7", "#c65300"), Tone("#4d2410", "#f08a4b")),
    "optimizer": (Tone("#f6e3ee", "#a5538a"), Tone("#46203a", "#e09bc6")),
    "summary": (Tone("#d6f1e7", "#00845f"), Tone("#0b3f31", "#2dc79b")),
    "save": (Tone("#ece9f6", "#6f62ad"), Tone("#2f2850", "#a99be6")),
    "control": (Tone("#f1f2f3", "#7d8892"), Tone("#2a3138", "#87939e")),
    "failed": (Tone("#fde2e1", "#b3261e"), Tone("#4f1512", "#ff8a80")),
    "rest": (Tone("#f7f8f9", "#7d8892"), Tone("#20272d", "#6f7b86")),
}
# name -> (light, dark)
INKS: dict[str, tuple[str, str]] = {
    "bg": ("#ffffff", "#151b21"),
    "ink": ("#1c2733", "#e8edf2"),
    "muted": ("#5c6873", "#a3afba"),
    "line": ("#76838f", "#7f8d9a"),
    "grid": ("#e4e8ec", "#2b343d"),
    "frame": ("#d5dbe1", "#36414b"),
    "open": ("#f5f8fb", "#1b232b"),
    "pick": ("#d55e00", "#ff9d5c"),
    "bad": ("#b3261e", "#ff8a80"),
    "py": ("#00558c", "#8ccbf5"),           # Python names
}
SERIES: tuple[tuple[str, str], ...] = (
    ("#0072b2", "#56b4e9"), ("#d55e00", "#f58d46"), ("#009e73", "#2dc79b"), ("#b0578d", "#e3a0c8"),
    ("#b97800", "#f0b030"), ("#6f62ad", "#a99be6"), ("#5b6773", "#a3afba"), ("#1f8fa8", "#7fd3e6"),
)
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def blend(colour: str, share: float, under: str = "#ffffff") -> str:
    """A hex colour that covers another one by a share between 0 and 1."""
    pairs = [(int(colour[i:i + 2], 16), int(under[i:i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def variables(theme: int) -> str:
    """The CSS custom properties of a theme (0 light, 1 dark)."""
    pairs = [(f"--tf-{name}", both[theme]) for name, both in INKS.items()]
    for role, tones in ROLES.items():
        pairs += [(f"--tf-{role}-fill", tones[theme].fill), (f"--tf-{role}-stroke", tones[theme].stroke)]
    pairs += [(f"--tf-s{i}", both[theme]) for i, both in enumerate(SERIES)]
    return "".join(f"{name}:{value};" for name, value in sorted(pairs))


def theme_css(selector: str, used: str) -> str:
    """Both themes for `selector`, only the properties that the text `used` mentions.

    Dark where the reader's system is, or where the host page says so by data-theme="dark"; "light" overrules.
    """
    def only(theme: int) -> str:
        return "".join(f"{p};" for p in variables(theme).split(";") if p and f"var({p.partition(':')[0]}" in used)

    return (f"{selector}{{{only(0)}}}"
            f"@media (prefers-color-scheme:dark){{{selector}:not([data-theme=light]){{{only(1)}}}}}"
            f"{selector}[data-theme=dark]{{{only(1)}}}")
