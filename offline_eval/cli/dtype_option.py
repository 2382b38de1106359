"""`--dtype` of commands that decide on nothing else before a judge is loaded."""

import click

DTYPES = ("auto", "float32", "bfloat16", "float16")


def resolved_dtype(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """The option's value; for `auto`, what is fast on this machine."""
    if value != "auto":
        return value
    from offline_eval.engines.number_format import fast_format

    found = fast_format()
    click.echo(f"judges in {found.dtype} ({found.why})", err=True)
    return found.dtype
