"""What a report says about doing the run again: whether verdicts repeat, and what exactly was run."""

from offline_eval.core.summary import RunSummary
from offline_eval.report.numbers import interval_text, percent, three
from offline_eval.report.section import Section

_SHOWN = 20


def repeatability(summary: RunSummary) -> Section:
    """Whether verdicts come out the same again, with what was measured."""
    found = summary.certification
    if found is None or not (found.tests or summary.judge_counts):
        return Section(title="Repeatability")  # nothing was asked that could come out differently
    rows = tuple(
        (
            test.judge,
            test.setting,
            arm.name.replace("_", " "),
            f"{arm.n - arm.moved}/{arm.n}",
            f"{arm.flips}/{arm.n}",
            three(arm.largest_move),
        )
        for test in found.tests
        for arm in test.arms
    )
    lines = [f"{found.status.replace('_', ' ')}: {found.why}"]
    lines += [
        f"{test.judge}: the label changed for {test.flips} of {test.n} prompts in some arm "
        f"({percent(test.flips / test.n)}, 95 % {interval_text(test.flip_interval)}); largest move of a probability "
        f"{three(test.largest_move)}, of a margin {three(test.noise)}"
        for test in found.tests
        if test.n
    ]
    if found.unstable:
        named = [
            f"{v.response_key} {v.dimension} ({v.judge}: {v.label}, margin {three(v.margin)})"
            for v in found.unstable[:_SHOWN]
        ]
        more = f"; {len(found.unstable) - _SHOWN} more" if len(found.unstable) > _SHOWN else ""
        head = f"{len(found.unstable)} verdicts are unstable, their margin is inside the noise: "
        lines.append(head + ", ".join(named) + more)
    columns = ("judge", "setting", "asked again", "identical", "flips", "largest move")
    return Section(title="Repeatability", columns=columns, rows=rows, lines=tuple(lines))


def manifest(summary: RunSummary) -> Section:
    """What was run, in short; all of it is in `offline-eval runs show RUN --manifest`."""
    found = summary.manifest
    if found is None or not found.sessions:
        return Section(title="Manifest")
    rows = tuple(
        (
            model.name,
            model.kind,
            *(_digits(value) for value in (model.weights, model.tokenizer, model.template)),
            model.license or "not stated",
        )
        for model in found.sessions[-1].models
    )
    last = found.sessions[-1]
    told = (("operator", last.operator), ("purpose", last.purpose), ("test set", last.test_set))
    people = [f"{name} {value}" for name, value in told if value]
    lines = [
        "; ".join(
            [
                f"begun {found.sessions[0].started}",
                "1 session" if len(found.sessions) == 1 else f"{len(found.sessions)} sessions",
                *people,
            ]
        ),
        f"{last.processor}, {last.cpus} cores" + (f", {', '.join(last.gpus)}" if last.gpus else ", no GPU"),
        "versions: " + ", ".join(f"{name} {version}" for name, version in last.packages.items()),
        "; ".join([f"offline switches: {len(last.switches)} set", *last.switch_problems]) + _refused(summary),
        f"everything: `offline-eval runs show {summary.run_id} --manifest`",
    ]
    columns = ("model", "kind", "weights", "tokenizer", "template", "licence")
    return Section(title="Manifest", columns=columns, rows=rows, lines=tuple(lines))


def _refused(summary: RunSummary) -> str:
    attempts = "attempt" if summary.refused_attempts == 1 else "attempts"
    return f"; {summary.refused_attempts} outbound {attempts} refused by the socket guard"


def _digits(value: str | None) -> str:
    return "–" if value is None else value[:12]
