"""Where models live on this machine, and what is made from them; every command looks in the same folders."""

import os
from pathlib import Path


def models_home() -> Path:
    """The folder that holds one folder a model; it need not exist yet.

    Returns:
        `$OFFLINE_EVAL_HOME/models`, or `~/.local/share/offline-eval/models` when the variable is not set.
    """
    return _home() / "models"


def derived_home() -> Path:
    """The folder of files that are made from models and can be made again; beside them, since theirs are hashed."""
    return _home() / "derived"


def _home() -> Path:
    home = os.environ.get("OFFLINE_EVAL_HOME")
    return Path(home).expanduser() if home else Path.home() / ".local" / "share" / "offline-eval"
