"""`%config Tfnb`: the settings as traits of IPython's configuration, also from its files (`c.Tfnb.badges = False`)."""
from __future__ import annotations

import logging
from typing import Any

from traitlets import Bool, Enum, Float, Int, TraitError, TraitType, Unicode
from traitlets.config.configurable import Configurable

from tfnb.notebook.frontend.settings import SETTINGS, Setting, settings

log = logging.getLogger(__name__)


def _trait(setting: Setting) -> TraitType[Any, Any]:
    about = setting.help
    if setting.choices:
        return Enum(setting.choices, default_value=setting.default, help=about).tag(config=True)
    if isinstance(setting.default, bool):
        return Bool(setting.default, help=about).tag(config=True)
    if isinstance(setting.default, str):
        return Unicode(setting.default, help=about).tag(config=True)
    kind = Int if isinstance(setting.default, int) else Float
    return kind(setting.default, min=setting.low, max=setting.high, help=about).tag(config=True)


class TfnbSettings(Configurable):
    """Hands each change on to `settings`, and shows those that were made there."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name in SETTINGS:
            setattr(settings, name, getattr(self, name))
        self.observe(lambda change: setattr(settings, change["name"], change["new"]), list(SETTINGS))
        settings.listeners.append(self.set_trait)


Tfnb = type("Tfnb", (TfnbSettings,), {"__doc__": "How tfnb behaves in this notebook.", "__module__": __name__,
                               **{name: _trait(setting) for name, setting in SETTINGS.items()}})


def install(ip: Any) -> Any:
    """Let `%config` of a shell know the settings. Returns what `remove` takes."""
    try:
        made = Tfnb(parent=ip)
    except TraitError as error:             # in a configuration file, or typed before: not worth a dead extension
        log.warning("the configuration of Tfnb is not used: %s", error)
        made = Tfnb()
    ip.configurables.append(made)
    return made


def remove(ip: Any, made: Any) -> None:
    """Take back what `install` did; the settings stay as they are."""
    settings.listeners.remove(made.set_trait)
    if made in ip.configurables:
        ip.configurables.remove(made)
