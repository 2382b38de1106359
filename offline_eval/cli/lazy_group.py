"""Groups whose commands are modules that are imported when they are called, so that `--help` stays fast."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group of commands, each the `command` of a module in this package; listing them imports nothing.

    Args:
        helps: Command to its one-line help.
        prefix: What the modules' names have before the command's, for example `testset_`.
    """

    def __init__(self, *arguments: Any, helps: Mapping[str, str], prefix: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._helps = helps
        self._prefix = prefix

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in order of the alphabet."""
        return sorted(self._helps)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None for an unknown name."""
        if cmd_name not in self._helps:
            return None
        found: click.Command = import_module(f"offline_eval.cli.{self._prefix}{cmd_name}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Offer the nearest command for an unknown one."""
        if args and args[0] not in self._helps and not args[0].startswith("-"):
            from offline_eval.core.errors import UnknownNameError

            raise UnknownNameError("command", args[0], list(self._helps))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands with their one-line helps."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(self._helps.items()))
