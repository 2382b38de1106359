"""Does the answer state what the reference states, and nothing that it denies?

Definition: claims of the reference that the answer entails, divided by all claims of the reference plus the claims of
  the answer that the reference contradicts.
Range: 0 to 1. Higher is better; 1 when everything is said and nothing is denied. Extra claims that the reference
  neither confirms nor denies cost nothing, unlike in `claim_f1`.
Needs: checks `claims` and `entailment`; the case's reference. With an encoder that tells supported from unsupported
  only, just the contradictions of numbers and dates are seen, by rule.
Undefined: no reference or an unanswerable case. An answer of one name does not entail a whole sentence of the
  reference; `correctness_grade` reads it beside the question.
Differs: ragas mixes a statement F1 over two sets with embedding similarity; DeepEval leaves it to a judge's rating;
  here it is counted. Identical answers are right by rule, in any language.
Source: ours.
"""

from offline_eval.metrics._score import NotScored
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix


def _value(in_answer: Matrix, in_reference: Matrix) -> float:
    stated = in_answer.by_any
    if not stated:
        raise NotScored(in_answer.none_because)
    return sum(stated) / (len(stated) + sum(in_reference.contradicted))


METRIC = ClaimMetric(
    "answer_correctness", __doc__ or "", reads=(("reference", "answer"), ("answer", "reference")), formula=_value
)
