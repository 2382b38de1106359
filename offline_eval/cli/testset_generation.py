"""One `testset generate` command from its options to its tables; kept apart so that `--help` loads nothing."""

import re
import signal
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, cast

import click
from pydantic import JsonValue

from offline_eval.airgap.guard import arm
from offline_eval.checks._support import languages_of
from offline_eval.cli.defaults import DEFAULT_ENCODERS
from offline_eval.cli.output import write_text
from offline_eval.cli.progress import Progress
from offline_eval.cli.rows import for_people, print_rows
from offline_eval.core.errors import EXIT_GATE_FAILED, EXIT_INTERRUPTED, DataError, UnknownNameError, UsageError
from offline_eval.core.protocols import Embedder, PairScorer
from offline_eval.core.records import Passage
from offline_eval.engines.certified import CertifiedSetting, certified_setting
from offline_eval.engines.scripted import ScriptedScorer, query_share
from offline_eval.engines.select import EngineOptions, encoder_weights, open_encoder, open_engine, pick_engine
from offline_eval.formats.reader import read_cases
from offline_eval.formats.writer import write_cases
from offline_eval.models.installed import find_installed, require_installed
from offline_eval.testset.asking import asks
from offline_eval.testset.checking import Checker
from offline_eval.testset.checking import Progress as StageProgress
from offline_eval.testset.critic import Critic
from offline_eval.testset.draft_file import DRAFTS_NAME, DraftFile, holds_drafts
from offline_eval.testset.generate import GenerationSettings, Models, generate
from offline_eval.testset.grounding import Encoders
from offline_eval.testset.near_duplicates import Seen
from offline_eval.testset.plan import fillable_counts, parse_mix, wanted_counts
from offline_eval.testset.sources import Sources, StagedFolder, read_sources
from offline_eval.testset.tally import StepRate, Tally, TypeCount, tally
from offline_eval.testset.writing import STEPS
from offline_eval.text.language import detect_language

_MOST_EXAMPLES = 5  # a language; more would crowd the passages out of a small model's context
_MOST_REASONS = 3
_LINES = (".txt", ".md", ".markdown")
_MARKER = re.compile(r"^[\s>]*(?:[-*+•]\s+|\d{1,3}(?:[.)]\s+|[、．]\s*))?")
_NONE = "none"


class GenerationSession:
    """A `testset generate` command.

    Args:
        documents: What questions are made from.
        options: The command's options.
    """

    def __init__(self, documents: Path, options: dict[str, Any]) -> None:
        self._documents = documents
        self._options = options
        self._settings = GenerationSettings(
            mix=parse_mix(options["mix"]),
            size=options["size"],
            seed=options["seed"],
            attempts=options["attempts"],
            steps=_steps(options["steps"]),
        )

    def run(self) -> int:
        """Read, write, check, keep, print.

        Returns:
            The exit code.
        """
        options, folder = self._options, self._options["folder"]
        if options["allow_hosts"]:
            arm([(host, "--allow-host") for host in options["allow_hosts"]])
        signal.signal(signal.SIGTERM, _interrupt)
        file = DraftFile(folder / DRAFTS_NAME)
        examples, known = self._examples(), _known(options["known_files"])
        with Progress() as progress, ExitStack() as opened:
            try:
                index = opened.enter_context(StagedFolder(folder / "index"))
                sources = read_sources(
                    self._documents,
                    index.path,
                    language=options["lang"],
                    seed=options["seed"],
                    cut=options["cut"],
                    progress=progress.tell,
                )
                self._require_room(sources)
                models = self._models(opened, sources)
                drafts = generate(
                    self._settings,
                    models,
                    sources,
                    self._checker(models, sources, opened),
                    file,
                    examples=examples,
                    known=known,
                    begun=index.put_in_place,
                    progress=_starts(progress),
                )
            except KeyboardInterrupt:
                _say(f"interrupted; whole batches are kept in {file.path}; run the same command again to continue")
                return EXIT_INTERRUPTED
        return self._hand_over(tally(drafts, self._settings), file)

    def _require_room(self, sources: Sources) -> None:
        """Refuse a size that cannot be, before a model is loaded."""
        wanted = wanted_counts(self._settings.mix, self._settings.size)
        fillable_counts(wanted, n_singles=len(sources.passages), n_links=0)

    def _checker(self, models: Models, sources: Sources, opened: ExitStack) -> Checker:
        nli = self._encoder("nli", opened)
        answerability = self._encoder("answerability", opened)
        for kind, encoder in (("nli", nli), ("answerability", answerability), ("embedder", models.embedder)):
            self._say_unspoken(kind, encoder, sources)
        return Checker(
            Encoders(nli, answerability, sources.search, _finder(sources), sources.twins),
            seen=Seen(
                models.embedder,
                like_from=self._settings.thresholds.like_from,
                near_from=self._settings.thresholds.near_from,
            ),
            critic=Critic(models.engine) if "critic" in self._settings.steps else None,
            thresholds=self._settings.thresholds,
            wants_reference="reference" in self._settings.steps,
        )

    def _say_unspoken(self, kind: str, encoder: object | None, sources: Sources) -> None:
        """One line about the documents' languages that a model was not made for."""
        made_for = languages_of(encoder)
        left = [] if "*" in made_for else sorted(set(sources.languages) - set(made_for))
        if encoder is not None and left:
            instead = "words are compared" if kind == "embedder" else "nothing is checked"
            _say(f"{kind} {self._encoder_name(kind)} was not made for {', '.join(left)}: {instead} there")

    def _models(self, opened: ExitStack, sources: Sources) -> Models:
        options = self._options
        engine_name, why = pick_engine(options["engine"])
        certified = self._certified
        _say(f"engine {engine_name} ({why}); certified mode {'on' if certified.on else 'off'} ({certified.why})")
        names = ("batch_size", "context_length", "url", "allow_hosts", "seed")
        engine_options = EngineOptions(
            engine=engine_name,
            dtype=certified.dtype,
            certified=certified.on,
            **{name: options[name] for name in names},
        )
        _say(f"loading judge {options['judge']}; {len(sources.passages)} passages to ask about")
        engine = open_engine(options["judge"], engine_options)
        opened.callback(engine.close)
        is_local = engine_name in ("vllm", "transformers")
        identity: dict[str, JsonValue] = {
            "judge": options["judge"],
            "engine": engine_name,
            "dtype": certified.dtype or "config",
            "certified": certified.on,
            "batch_size": options["batch_size"],
            "weights": require_installed(options["judge"]).weights_hash if is_local else engine_name,
            **{kind: self._weights(kind) for kind in ("nli", "answerability", "embedder")},
        }
        return Models(engine, options["judge"], identity, cast("Embedder | None", self._encoder("embedder", opened)))

    @cached_property
    def _certified(self) -> CertifiedSetting:
        """Decided once, for the judge and the encoders."""
        options = self._options
        engine_name, _ = pick_engine(options["engine"])
        return certified_setting(
            options["certified"], engine=engine_name, judges=[options["judge"]], dtype=options["dtype"]
        )

    def _weights(self, kind: str) -> str:
        name = self._encoder_name(kind)
        return name if name == _NONE or self._options["engine"] == "scripted" else f"{name} {encoder_weights(name)}"

    def _encoder_name(self, kind: str) -> str:
        """What is asked; the default embedder is left out where it is not installed, since words can do its work."""
        name: str = self._options[kind]
        is_default = kind == "embedder" and name == DEFAULT_ENCODERS["embedder"]
        if is_default and self._options["engine"] != "scripted" and find_installed(name) is None:
            return _NONE
        return name

    def _encoder(self, kind: str, opened: ExitStack) -> Any:
        name = self._encoder_name(kind)
        if name == _NONE:
            _say(f"no {kind} model: " + ("words are compared instead" if kind == "embedder" else "not checked"))
            return None
        options = EngineOptions(engine=self._options["engine"], certified=self._certified.on)
        if kind == "answerability" and options.engine == "scripted":
            return ScriptedScorer(query_share)
        encoder: PairScorer | Embedder = open_encoder(kind, name, options)  # type: ignore[arg-type]
        opened.callback(encoder.close)
        return encoder

    def _examples(self) -> dict[str, list[str]]:
        """The user's own questions by language.

        Raises:
            DataError: Rows that are no cases, or no line that asks something.
        """
        path: Path | None = self._options["examples"]
        if path is None:
            return {}
        is_text = path.suffix.lower() in _LINES
        found: dict[str, list[str]] = {}
        for query in _questions_of(path) if is_text else [case.query for case in read_cases(path)]:
            found.setdefault(detect_language(query), []).append(query)
        for language, queries in found.items():
            if len(queries) > _MOST_EXAMPLES:
                _say(
                    f"{self._options['examples']}: the first {_MOST_EXAMPLES} of {len(queries)} in {language} are shown"
                )
        return {language: queries[:_MOST_EXAMPLES] for language, queries in found.items()}

    def _hand_over(self, found: Tally, file: DraftFile) -> int:
        folder = self._options["folder"]
        write_text(found.model_dump_json(indent=1) + "\n", folder / "tally.json")
        _show(found, self._options["format"])
        for count in found.types:
            if count.shortfall:
                _say(f"{count.type}: {count.kept} of {count.wanted}; {count.shortfall}")
        if all(draft.status == "rejected" for draft in file.drafts):
            _say(_nothing_kept(found))
            return EXIT_GATE_FAILED
        if not self._options["accept_unreviewed"]:
            _say(f"{found.kept} drafts wait for a review in {file.path}: offline-eval testset review {folder}")
            return 0
        file.accept_unreviewed()
        write_cases(file.accepted, folder / "cases.jsonl")
        _say(f"{len(file.accepted)} cases, tagged unreviewed where nobody read them, are in {folder / 'cases.jsonl'}")
        return 0


def _steps(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",") if name.strip() not in ("", "question")]
    for name in names:
        if name not in STEPS:
            raise UnknownNameError("step", name, STEPS)
    if "distractor" in names and "reference" not in names:
        raise UsageError("--steps: a distractor is a wrong answer beside the right one; add reference")
    return tuple(step for step in STEPS if step in names)


def _finder(sources: Sources) -> Callable[[str], Passage | None]:
    positions = sources.store.positions

    def find(name: str) -> Passage | None:
        return sources.store.at(positions[name]) if name in positions else None

    return find


def _questions_of(path: Path) -> list[str]:
    """The lines of a text or Markdown file that ask something, without the marks of a list.

    Raises:
        DataError: The file cannot be read, or no line asks anything.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 (byte {error.start}); convert the file to UTF-8") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    lines = [_MARKER.sub("", line).strip() for line in text.splitlines() if not line.lstrip().startswith("#")]
    said = [line for line in lines if line]
    found = [line for line in said if asks(line)]
    if not found:
        raise DataError(f"{path}: none of {len(said)} lines asks anything; write one question a line")
    if len(found) < len(said):
        _say(f"{path}: {len(said) - len(found)} of {len(said)} lines ask nothing and are left out")
    return found


def _known(paths: Iterable[Path]) -> dict[str, str]:
    """Name to question of earlier sets; of drafts those that no check threw out, whatever a person decided.

    Raises:
        DataError: A file holds neither cases nor drafts.
    """
    found: dict[str, str] = {}
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file or folder; --known takes cases or drafts of earlier sets")
        if holds_drafts(path):
            cases = [draft.case for draft in DraftFile(path).drafts if draft.decided_by != "check"]
        else:
            cases = read_cases(path)
        found |= {f"{case.id} of {path}": case.query for case in cases}
    return found


def _nothing_kept(found: Tally) -> str:
    tried = sum(count.tried for count in found.types)
    if not tried:
        return "nothing was kept, because there was nothing to ask about; see the lines above"
    reasons = ", ".join(f"{reason} {count}" for reason, count in found.reasons[:_MOST_REASONS])
    return (
        f"nothing was kept of {tried} drafts; most often: {reasons}; "
        "try a larger model (--judge) or more tries (--attempts)"
    )


def _starts(progress: Progress) -> StageProgress:
    """Tells how steps begin: the end of one comes so shortly before the next that it would stand in its place."""

    def tell(stage: str, done: int, total: int) -> None:
        if done < total:
            progress.tell(stage, done, total)

    return tell


def _show(found: Tally, format: Any) -> None:
    types, steps = [_type_row(count) for count in found.types], [_step_row(rate) for rate in found.steps]
    if format == "json":
        click.echo(found.model_dump_json(indent=1))
        return
    if format in ("csv", "jsonl"):
        rows = [*({"part": "type", **row} for row in types), *({"part": "step", **row} for row in steps)]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        print_rows(rows, format, columns=columns)
        return
    print_rows(types, format, title="Questions")
    print_rows(steps, format, title="What each step and check let pass")


def _type_row(count: TypeCount) -> dict[str, JsonValue]:
    thrown_out = ", ".join(f"{reason} {n}" for reason, n in count.rejected.items())
    return {
        "type": count.type,
        "wanted": count.wanted,
        "kept": count.kept,
        "tried": count.tried,
        "thrown out": thrown_out or None,
    }


def _step_row(rate: StepRate) -> dict[str, JsonValue]:
    share = None
    if rate.interval is not None:
        low, high = for_people(rate.interval.low), for_people(rate.interval.high)
        share = f"{for_people(rate.passed / rate.looked_at)} [{low}, {high}]"
    return {
        "step": rate.step,
        "passed": f"{rate.passed}/{rate.looked_at}",
        "rate": share,
        "threshold": rate.threshold,
        "thrown out": ", ".join(f"{reason} {n}" for reason, n in rate.rejected.items()) or None,
        "not checked": ", ".join(f"{reason} {n}" for reason, n in rate.not_checked.items()) or None,
    }


def _say(text: str) -> None:
    click.echo(text, err=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
