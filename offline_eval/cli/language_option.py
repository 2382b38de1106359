"""`--lang`: the language of what a command prints for people, the same option wherever a command has it."""

import click

LANGUAGES = ("en", "zh")

language_option = click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="Of the words around the figures; JSON, CSV and JUnit stay the same.",
)
