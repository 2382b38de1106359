"""`offline-eval serve`: a model behind vLLM's own server."""

import click

from offline_eval.cli.dtype_option import DTYPES, resolved_dtype


@click.command(name="serve")
@click.argument("model")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--dtype", type=click.Choice(DTYPES), callback=resolved_dtype, help="[default: the model config's]")
@click.option("--context-length", type=click.IntRange(min=64), help="[default: the model config's]")
@click.option("--batch-size", type=click.IntRange(min=1), default=16, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--print-command", is_flag=True, help="Print the command line and do not start it.")
def command(
    model: str,
    port: int,
    dtype: str | None,
    context_length: int | None,
    batch_size: int,
    seed: int,
    print_command: bool,
) -> int:
    """Serve MODEL at http://127.0.0.1:PORT/v1 until interrupted."""
    import shlex

    from offline_eval.engines.select import EngineOptions
    from offline_eval.engines.serve import serve, serve_command
    from offline_eval.models.installed import require_installed

    options = EngineOptions(dtype=dtype, context_length=context_length, batch_size=batch_size, seed=seed)
    installed = require_installed(model)
    if print_command:
        click.echo(shlex.join(serve_command(installed, port=port, options=options)))
        return 0
    click.echo(f"serving {model} at http://127.0.0.1:{port}/v1", err=True)
    return serve(installed, port=port, options=options)
