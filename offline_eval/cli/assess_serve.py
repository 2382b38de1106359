"""`offline-eval assess serve`: assessments over HTTP on this machine."""

import sys
from contextlib import closing
from typing import Any

import click

from offline_eval.cli.assess_options import settings_of, settings_options


@click.command(name="serve")
@settings_options
@click.option("--port", type=click.IntRange(0, 65535), default=8090, show_default=True, help="0 for any free one.")
@click.option(
    "--workers", type=click.IntRange(1, 256), help="Assessments at the same time.  [default: the config's, 4]"
)
@click.option(
    "--queue", type=click.IntRange(0), help="Requests that may wait beside them.  [default: the config's, 64]"
)
@click.option("--log-texts", is_flag=True, help="Write queries and answers into the request log; off by default.")
@click.option("--no-log", is_flag=True, help="Write no request log.")
def command(port: int, workers: int | None, queue: int | None, log_texts: bool, no_log: bool, **options: Any) -> int:
    """Serve POST /assess and /check, GET /health, /metrics and /openapi.json, and a page to try them.

    One JSON line a request goes to stderr, without its texts. A request beyond the queue gets 503 with Retry-After. On
    SIGTERM or Ctrl+C the accepted requests are finished while new ones get 503; a second signal ends at once.
    """
    from offline_eval.airgap.loopback_web import HOST, listen, own_hosts
    from offline_eval.assess.configured import open_rag, warm_up
    from offline_eval.assess.service import AssessService
    from offline_eval.assess.service_run import BACKLOG, serve

    settings = settings_of(options)
    given = {"workers": workers, "queue": queue, "log_texts": log_texts or None}
    limits = settings.service.model_copy(update={name: value for name, value in given.items() if value is not None})
    with closing(listen(port, backlog=BACKLOG)) as listener, closing(open_rag(settings)) as rag:
        warm_up(rag)
        service = AssessService(
            rag,
            limits=limits,
            deadline_s=settings.policy.deadline_s,
            can_generate=bool(settings.retrievers and settings.generator),
            write=None if no_log else _log,
        )
        chosen = listener.getsockname()[1]
        click.echo(f"http://{HOST}:{chosen}/")
        room = f"{limits.workers} workers and room for {limits.queue} more requests"
        click.echo(f"serving with {room}; Ctrl+C ends.", err=True)
        finished = serve(
            service,
            service.app(hosts=own_hosts(chosen)),
            listener,
            stop_s=limits.stop_s,
            say=lambda line: click.echo(line, err=True),
        )
    return 0 if finished else 3


def _log(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
