"""`offline-eval testset variants`: reworded, misspelt and lengthened forms of a set's questions."""

from pathlib import Path
from typing import Any

import click

from offline_eval.cli.defaults import DEFAULT_ENCODERS
from offline_eval.cli.dtype_option import DTYPES, resolved_dtype
from offline_eval.cli.rows import FORMATS, RowFormat, print_rows

RULES = "colloquial,typos,limit,lengthened,synonyms"


@click.command(name="variants")
@click.argument("cases", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file of cases to write.")
@click.option("--rules", default=RULES, show_default=True, help="Kinds made by rule.")
@click.option("--judge", help="MODEL that paraphrases and lengthens.  [default: none, rules alone]")
@click.option(
    "--nli", default=DEFAULT_ENCODERS["nli"], show_default=True, help="MODEL that says if the meaning stayed."
)
@click.option("--engine", default="auto", show_default=True, help="auto, vllm, transformers, endpoint or scripted.")
@click.option("--url", help="Of the endpoint.")
@click.option(
    "--dtype", type=click.Choice(DTYPES), callback=resolved_dtype, help="Of the judge. [default: the config's]"
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(cases: Path, out: Path, rules: str, judge: str | None, format: RowFormat, **options: Any) -> None:
    """Write CASES to another file with variants of every question added.

    A judge's rewording is used only when it and the question entail each other.
    """
    from contextlib import ExitStack

    from offline_eval.core.errors import UnknownNameError
    from offline_eval.engines.select import EngineOptions, open_encoder, open_engine, pick_engine
    from offline_eval.formats.reader import read_cases
    from offline_eval.formats.writer import write_cases
    from offline_eval.testset.rule_variants import RULE_KINDS
    from offline_eval.testset.variants import add_variants

    names = [name.strip() for name in rules.split(",") if name.strip()]
    for name in names:
        if name not in RULE_KINDS:
            raise UnknownNameError("variant", name, RULE_KINDS)
    wanted = [kind for kind in RULE_KINDS if kind in names]
    found = read_cases(cases)
    with ExitStack() as opened:
        engine, nli = None, None
        if judge is not None:
            engine_name, _ = pick_engine(options["engine"])
            shared = EngineOptions(engine=engine_name, dtype=options["dtype"], url=options["url"], seed=options["seed"])
            engine = open_engine(judge, shared)
            opened.callback(engine.close)
            nli = open_encoder("nli", options["nli"], shared)
            opened.callback(nli.close)
        varied = add_variants(found, wanted, engine=engine, nli=nli, seed=options["seed"])  # type: ignore[arg-type]
    write_cases(varied.cases, out)
    rows = [
        {
            "kind": count.kind,
            "made": count.made,
            "dropped": ", ".join(f"{reason} {n}" for reason, n in count.dropped.items()) or None,
        }
        for count in varied.counts
    ]
    print_rows(rows, format)
    click.echo(f"{len(varied.cases)} cases written to {out}", err=True)
