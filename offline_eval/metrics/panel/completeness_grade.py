"""Does the answer say everything a complete answer says (reference and key points, where given)?

Definition: the mean of the judges' grades on the completeness rubric; the arbiter's grade where one was asked.
Range: 1 (fail) to 3 (excellent); each level has its criterion in the rubric.
Needs: check `rubric_verdict` with the completeness examiner.
Undefined: Not applicable for unanswerable cases. 1 by rule for contentless answers and for refusals of answerable
  questions.
  One failed judge call makes it `failed`: the other judges' mean could be higher than with it.
Differs: No counterpart in ragas or DeepEval; RAGChecker's claim recall is the nearest.
Source: rubric `completeness` of this project.
"""

from offline_eval.metrics.panel._grade import DimensionGrade

METRIC = DimensionGrade("completeness", __doc__ or "")
