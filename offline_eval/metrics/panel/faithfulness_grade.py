"""Does every statement of the answer stand in the retrieved passages?

Definition: the mean of the judges' grades on the faithfulness rubric; the arbiter's grade where one was asked.
Range: 1 (fail) to 3 (excellent); each level has its criterion in the rubric.
Needs: check `rubric_verdict` with the faithfulness examiner.
Undefined: Not applicable for answers that state nothing (empty, contentless, refusals). 1 by rule when no passage has
  any text.
  One failed judge call makes it `failed`: the other judges' mean could be higher than with it.
Differs: ragas and DeepEval report the supported share of extracted statements; here a judge reads the answer as a
  whole, on levels a person can check. The claim-level share is the metric `faithfulness`.
Source: rubric `faithfulness` of this project.
"""

from offline_eval.metrics.panel._grade import DimensionGrade

METRIC = DimensionGrade("faithfulness", __doc__ or "")
