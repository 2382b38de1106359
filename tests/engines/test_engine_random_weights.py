"""Models that know nothing give whole, valid verdicts on both in-process engines: the form holds by construction."""

from pathlib import Path

import pytest
from engine_requests import FAMILIES

from scripts.check_random_weights import Tally, questions, run

N = 200  # half English, half Chinese; scripts/check_random_weights.py does the same with 2,000

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("family", FAMILIES)]


def check_whole(tally: Tally) -> None:
    assert tally.problems == []
    assert (tally.verdicts, tally.valid, tally.truncated) == (N, N, 0)
    assert set(tally.labels) == {"1", "2", "3", "A", "B", "C"}
    assert tally.non_ascii > N // 2
    assert tally.peak_bytes > 0


def test_every_verdict_is_valid_on_both_engines_and_their_probabilities_agree(
    family: str, folders: dict[str, Path]
) -> None:
    asked = questions(N)
    assert {question.rubric.language for question in asked} == {"en", "zh"}
    first = run(family, "transformers", folder=folders[family], asked=asked)
    second = run(family, "vllm", folder=folders[family], asked=asked)
    check_whole(first)
    check_whole(second)
    assert first.labels == second.labels
    for one, other in zip(first.logprobs, second.logprobs, strict=True):
        assert one is not None
        assert other == pytest.approx(one, abs=1e-3)
