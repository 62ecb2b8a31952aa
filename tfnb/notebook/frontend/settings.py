"""Settings of a notebook: attributes of `settings` here, `%config Tfnb` where IPython runs."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfnb.core.options import options
from tfnb.core.text import did_you_mean

Listener = Callable[[str, Any], None]


@dataclass(frozen=True, slots=True)
class Setting:
    """A choice: its default (which tells the type), what it is for, and the values it may have."""

    default: Any
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> Any:
        """`value` in the type of the setting. Raises ValueError if it is out of range, TypeError for another type."""
        kind = type(self.default)
        if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool) != (kind is bool):
            raise TypeError(f"{name} is a {kind.__name__}, not {value!r}")
        if self.choices and value not in self.choices:
            raise ValueError(f"{name} is one of {', '.join(self.choices)}, not {value!r}")
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            raise ValueError(f"{name} goes from {self.low} to {self.high}, and can't be {value!r}")
        return kind(value)


SETTINGS = {
    "own_cells": Setting(True, "Cells own the ops they make: running one again replaces them. Off: ops add up, as in "
                               "plain Python."),
    "badges": Setting(True, "Each cell that makes ops shows a line on what it made and whether it is fresh."),
    "compile_line": Setting(True, "A line in the cell while its kernels are compiled, where that takes over half a "
                                  "second."),
    "partial_graphs": Setting(True, "A cell that fails because shapes don't fit draws what it made, up to the op that "
                                    "failed."),
    "lessons": Setting(True, "Frequent mistakes are explained below the cell, with a fix where one is certain."),
    "full_tracebacks": Setting(False, "Errors show the frames of tfnb too, not only those of the notebook."),
    "undo_depth": Setting(8, "How many runs of cells `%graph undo` can take back; their ops stay in memory.", 0, 100),
    "live_hz": Setting(5.0, "Frames a second of live plots.", 0.1, 10.0),
    "view_format": Setting("auto", "How graphs, plots and tables are shown: interactive where somebody looks (auto) or "
                                   "in any case (widget), as pictures (static), or as text.",
                           choices=("auto", "widget", "static", "text")),
    "show_arrays": Setting(False, "NumPy arrays, and dicts and lists of them, are shown as %show does where they end a "
                                  "cell."),
    "keep_runs": Setting(True, "Each training of %%train is kept on disk: its curves, for TensorBoard too, and what "
                               "was done, as JSON."),
    "runs_folder": Setting("runs", "The folder that trainings are kept in; a relative one is beside the notebook."),
    "nan_check": Setting(options.nan_check, "Runs that make NaN or inf raise an error with the op it comes from."),
    "nan_ignore": Setting(options.nan_ignore, "A regular expression: ops and variables that nan_check lets be."),
}
ENGINE = ("nan_check", "nan_ignore")        # what the engine is told: tfnb.core.options has attributes of these names


class Settings:
    """The choices of this process, as attributes: see SETTINGS. `listeners` are told of each change."""

    listeners: list[Listener]

    def __init__(self) -> None:
        self.__dict__.update({name: setting.default for name, setting in SETTINGS.items()}, listeners=[])

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no setting {name!r}{did_you_mean(name, SETTINGS)}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises AttributeError for an unknown setting; TypeError or ValueError for what it can't be."""
        before = getattr(self, name)
        checked = SETTINGS[name].check(name, value)
        if checked != before:
            self.__dict__[name] = checked
            if name in ENGINE:
                setattr(options, name, checked)
            for tell in self.listeners:
                tell(name, checked)

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {getattr(self, name)!r}    {SETTINGS[name].help}" for name in SETTINGS)


settings = Settings()
