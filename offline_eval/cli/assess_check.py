"""`offline-eval assess check`: one answer, its confidence and its marks."""

import sys
from pathlib import Path
from typing import Any

import click

from offline_eval.cli.assess_options import settings_of, settings_options


@click.command(name="check")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@settings_options
@click.option("--format", "format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(file: Path, format: str, **options: Any) -> int:
    """Assess the answer in FILE, a JSON object with query, passages and answer, as POST /check takes it; `-` for stdin.

    Exit code 1 when nothing should be asserted.
    """
    from offline_eval.assess.configured import open_encoders
    from offline_eval.assess.evaluate_text import assessment_sections
    from offline_eval.assess.pipeline import SelfAssessingRag
    from offline_eval.assess.records import Tier
    from offline_eval.assess.service_bodies import CheckBody, parse_body
    from offline_eval.cli.output import rendered_sections

    settings = settings_of(options)
    raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    body = parse_body(raw, CheckBody, source=str(file))
    rag = SelfAssessingRag((), None, open_encoders(settings.encoders), settings.policy)
    found = rag.check(
        body.query,
        body.passages,
        body.answer,
        rankings=body.rankings or None,
        citations=body.citations,
        language=body.language,
        deadline_s=body.deadline_s,
    )
    rag.close()
    is_json = format == "json"
    click.echo(
        found.model_dump_json(indent=2)
        if is_json
        else rendered_sections(assessment_sections(found), "table", is_file=False)
    )
    return 1 if found.tier is Tier.ABSTAIN else 0
