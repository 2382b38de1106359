"""Do the useful passages stand before the useless ones?

Definition: mean, over the useful passages, of the share of useful ones among all down to its rank: average precision
  with usefulness as relevance. A passage is useful when it entails a claim of the reference.
Range: 0 to 1. Higher is better; 1 when no useless passage stands before a useful one.
Needs: checks `claims` and `entailment`; the case's reference; passages in the order of their ranking.
Undefined: no reference, an unanswerable case, or no passages (`no_passages`). Without a useful passage it is 0.
Differs: the definition of ragas and DeepEval, without ragas' 1e-10 in the divisor, so that all useful gives exactly
  1. It divides by the useful passages that were retrieved, since nobody knows the others; `map` divides by all
  relevant ids.
Source: Es et al. 2023, ragas.
"""

from offline_eval.metrics._score import NotScored
from offline_eval.metrics.claims._matrix import ClaimMetric, Matrix, useful_passages


def _value(in_passages: Matrix) -> float:
    useful = useful_passages(in_passages)
    if not useful:
        raise NotScored("no_passages")
    hits = [rank for rank, is_useful in enumerate(useful, 1) if is_useful]
    return sum(n / rank for n, rank in enumerate(hits, 1)) / len(hits) if hits else 0.0


METRIC = ClaimMetric("context_precision_ranked", __doc__ or "", reads=(("reference", "passages"),), formula=_value)
