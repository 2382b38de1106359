"""Does the answer address the question that was asked?

Definition: the mean of the judges' grades on the relevance rubric; the arbiter's grade where one was asked.
Range: 1 (fail) to 3 (excellent); each level has its criterion in the rubric.
Needs: check `rubric_verdict` with the relevance examiner.
Undefined: Not applicable for right refusals. 1 by rule for contentless answers and for refusals of answerable
  questions.
  One failed judge call makes it `failed`: the other judges' mean could be higher than with it.
Differs: ragas' answer relevancy compares questions made from the answer with the query by embedding; here a judge
  grades the answer itself.
Source: rubric `relevance` of this project.
"""

from offline_eval.metrics.panel._grade import DimensionGrade

METRIC = DimensionGrade("relevance", __doc__ or "")
