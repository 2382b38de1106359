"""The settings that `assess` subcommands share: a file, a profile by name, and encoders by name."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from offline_eval.cli.defaults import DEFAULT_ENCODERS

if TYPE_CHECKING:
    from offline_eval.assess.service_settings import AssessSettings

F = TypeVar("F", bound=Callable[..., Any])

_ENCODERS = {"nli": "support", "answerability": "answerability", "embedder": "embedder"}


def settings_options(function: F) -> F:
    """`--config`, `--profile` and the encoders' names."""
    for kind, default in reversed(DEFAULT_ENCODERS.items()):
        function = click.option(
            f"--{kind}", metavar="MODEL", help=f"Instead of the config's; `none` leaves it out.  [default: {default}]"
        )(function)
    function = click.option("--profile", help="A shipped profile (general, legal, medical, …) or a file.")(function)
    config = click.option(
        "--config", type=click.Path(path_type=Path, dir_okay=False), help="Settings: sources, encoders, policy, limits."
    )
    return config(function)


def settings_of(options: dict[str, Any]) -> "AssessSettings":
    """The file's settings with what the options change; the options are taken out of `options`.

    Raises:
        DataError: A file that cannot be used.
        UnknownNameError: No such profile.
    """
    from offline_eval.assess.service_settings import AssessSettings, load_settings
    from offline_eval.confidence.profile import load_profile

    config, profile = options.pop("config"), options.pop("profile")
    settings = load_settings(config) if config is not None else AssessSettings()
    named = {role: options.pop(kind) for kind, role in _ENCODERS.items()}
    changed = {role: None if name == "none" else name for role, name in named.items() if name is not None}
    update: dict[str, Any] = {"encoders": settings.encoders.model_copy(update=changed)}
    if profile is not None:
        update["policy"] = settings.policy.model_copy(update={"profile": load_profile(profile)})
    return settings.model_copy(update=update)
