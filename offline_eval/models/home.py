"""Where models live on this machine, in one place so that every command looks in the same folder."""

import os
from pathlib import Path


def models_home() -> Path:
    """The folder that holds one folder a model; it need not exist yet.

    Returns:
        `$OFFLINE_EVAL_HOME/models`, or `~/.local/share/offline-eval/models` when the variable is not set.
    """
    home = os.environ.get("OFFLINE_EVAL_HOME")
    root = Path(home).expanduser() if home else Path.home() / ".local" / "share" / "offline-eval"
    return root / "models"
