"""Does the answer agree with the reference?

Definition: the mean of the judges' grades on the correctness rubric; the arbiter's grade where one was asked.
Range: 1 (fail) to 3 (excellent); each level has its criterion in the rubric.
Needs: check `rubric_verdict` with the correctness examiner.
Undefined: Not applicable without a reference and for unanswerable cases. 1 by rule for contentless answers and for
  refusals of answerable questions.
  One failed judge call makes it `failed`: the other judges' mean could be higher than with it.
Differs: ragas mixes statement F1 with embedding similarity; here a judge compares answer and reference on levels.
Source: rubric `correctness` of this project.
"""

from offline_eval.metrics.panel._grade import DimensionGrade

METRIC = DimensionGrade("correctness", __doc__ or "")
