"""`offline-eval testset variants`: reworded, misspelt and lengthened forms of a set's questions."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from offline_eval.cli.defaults import DEFAULT_ENCODERS
from offline_eval.cli.language_option import language_option
from offline_eval.cli.rows import FORMATS, RowFormat, print_rows
from offline_eval.cli.writer_options import writer_options

if TYPE_CHECKING:
    from offline_eval.core.protocols import PairScorer, TextEngine
    from offline_eval.testset.printed import Language, Printed
    from offline_eval.testset.rule_variants import RuleKind
    from offline_eval.testset.variants import VariantCount

RULES = "colloquial,typos,limit,lengthened,synonyms"
_COLUMNS = ("kind", "made", "dropped")


@click.command(name="variants")
@click.argument("cases", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file of cases to write.")
@click.option("--rules", default=RULES, show_default=True, help="Kinds made by rule.")
@click.option("--judge", help="MODEL that paraphrases and lengthens.  [default: none, rules alone]")
@click.option(
    "--nli", default=DEFAULT_ENCODERS["nli"], show_default=True, help="MODEL that says if the meaning stayed."
)
@writer_options
@click.option("--seed", type=int, default=0, show_default=True)
@language_option
@click.option("--format", "format", type=click.Choice(FORMATS), default="table", show_default=True)
def command(
    cases: Path, out: Path, rules: str, judge: str | None, language: "Language", format: RowFormat, **options: Any
) -> None:
    """Write CASES to another file with variants of every question added.

    A judge's rewording is used only when it and the question entail each other.
    """
    from offline_eval.formats.reader import read_cases
    from offline_eval.formats.writer import write_cases
    from offline_eval.testset.printed import printed
    from offline_eval.testset.variants import add_variants

    words = printed(language)
    wanted = _rules(rules)
    found = read_cases(cases)
    with ExitStack() as opened:
        engine, nli = (None, None) if judge is None else _models(judge, options, opened, words)
        varied = add_variants(found, wanted, engine=engine, nli=nli, seed=options["seed"])
    write_cases(varied.cases, out)
    print_rows([_row(count, words if format in ("table", "md") else None) for count in varied.counts], format)
    click.echo(words.line("variants_written", cases=len(varied.cases), out=out), err=True)


def _rules(text: str) -> "list[RuleKind]":
    from offline_eval.core.errors import UnknownNameError
    from offline_eval.testset.rule_variants import RULE_KINDS

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in RULE_KINDS:
            raise UnknownNameError("variant", name, RULE_KINDS)
    return [kind for kind in RULE_KINDS if kind in names]


def _models(
    judge: str, options: dict[str, Any], opened: ExitStack, words: "Printed"
) -> "tuple[TextEngine, PairScorer]":
    """The judge and the entailment model, as the options want them."""
    from offline_eval.airgap.guard import arm
    from offline_eval.engines.certified import certified_setting
    from offline_eval.engines.select import EngineOptions, open_encoder, open_engine, pick_engine

    if options["allow_hosts"]:
        arm([(host, "--allow-host") for host in options["allow_hosts"]])
    engine_name, why = pick_engine(options["engine"])
    certified = certified_setting(options["certified"], engine=engine_name, judges=[judge], dtype=options["dtype"])
    switch = words.word("switch", "yes" if certified.on else "no")
    line = words.line("variants_engine", engine=engine_name, why=why, certified=switch, certified_why=certified.why)
    click.echo(line, err=True)
    names = ("batch_size", "context_length", "url", "allow_hosts", "seed")
    shared = EngineOptions(
        engine=engine_name,
        dtype=certified.dtype,
        certified=certified.on,
        **{name: options[name] for name in names},
    )
    engine = open_engine(judge, shared)
    opened.callback(engine.close)
    nli = open_encoder("nli", options["nli"], shared)
    opened.callback(nli.close)
    return engine, nli  # type: ignore[return-value]


def _row(count: "VariantCount", words: "Printed | None") -> dict[str, Any]:
    """One row, in words where there are some."""
    dropped = count.dropped if words is None else {words.word("dropped", name): n for name, n in count.dropped.items()}
    text = ", ".join(f"{reason} {n}" for reason, n in dropped.items())
    row: dict[str, Any] = {"kind": count.kind, "made": count.made, "dropped": text or None}
    return row if words is None else words.rows([row], _COLUMNS)[0]
