"""Front ends: settings, the shell, badges, widgets."""
