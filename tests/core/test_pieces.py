"""Evidence sorted by kind once: the same answers as looking through all of it, each question asked once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline_eval.core.evidence import EntailmentEvidence, Provenance, RefusalEvidence, VerdictEvidence
from offline_eval.core.pieces import Pieces, pieces_of, read_once
from offline_eval.core.results import Status
from offline_eval.judge.routing import panel_grades
from offline_eval.metrics._score import NotScored, the_piece
from tests.support.panel_runs import scored, unscored

MADE = Provenance(producer="test", version="1", parameters_hash="0")


def matrix(hypotheses: str, premises: str, status: Status = Status.SCORED) -> EntailmentEvidence:
    reason = None if status is Status.SCORED else f"why {status}"
    return EntailmentEvidence.model_validate(
        {
            "response_key": "s/c",
            "hypotheses": hypotheses,
            "premises": premises,
            "status": status,
            "status_reason": reason,
            "provenance": MADE,
        }
    )


pieces = st.lists(
    st.one_of(
        st.builds(matrix, st.sampled_from(["answer", "reference"]), st.just("passages"), st.sampled_from(Status)),
        st.builds(lambda refused: RefusalEvidence(response_key="s/c", refused=refused, provenance=MADE), st.booleans()),
        st.builds(scored, st.sampled_from(["faithfulness", "relevance"]), st.sampled_from([1.0, 2.0, 3.0])),
        st.builds(lambda failed: unscored("relevance", failed=failed), st.booleans()),
    ),
    max_size=8,
)


def outcome(evidence, kind, **fields):
    try:
        return the_piece(evidence, kind, **fields)
    except NotScored as reason:
        return reason.status, reason.reason


@given(pieces)
def test_pieces_answer_like_the_list_they_were_made_of(found):
    kept = Pieces(found)
    assert (list(kept), len(kept), kept[:2]) == (found, len(found), tuple(found[:2]))
    for kind in (EntailmentEvidence, RefusalEvidence, VerdictEvidence):
        assert list(pieces_of(kept, kind)) == [piece for piece in found if isinstance(piece, kind)]
    for _ in range(2):  # the second answer is the one that was kept
        for hypotheses in ("answer", "reference", "key_points"):
            wanted = {"hypotheses": hypotheses, "premises": "passages"}
            assert outcome(kept, EntailmentEvidence, **wanted) == outcome(found, EntailmentEvidence, **wanted)
        assert outcome(kept, RefusalEvidence) == outcome(found, RefusalEvidence)
        assert panel_grades(kept) == panel_grades(found)


def test_the_newest_piece_counts() -> None:
    first, last = matrix("answer", "passages"), matrix("answer", "passages", Status.FAILED)
    assert outcome(Pieces([first, last]), EntailmentEvidence) == (Status.FAILED, "why failed")
    assert outcome(Pieces([last, first]), EntailmentEvidence) == first


def test_what_was_read_once_is_kept_and_errors_are_not() -> None:
    kept, calls = Pieces(), []

    def read() -> int:
        calls.append(1)
        if len(calls) == 1:
            raise NotScored("not yet")
        return len(calls)

    with pytest.raises(NotScored):
        read_once(kept, "a", read)
    assert [read_once(kept, "a", read), read_once(kept, "a", read)] == [2, 2]
    assert read_once(kept, "b", read) == 3
    assert [read_once([], "a", read), read_once([], "a", read)] == [4, 5]  # a plain list keeps nothing
