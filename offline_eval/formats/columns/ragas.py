"""Column names of ragas files, the older generation (question, contexts, …) and the newer (user_input, …).

Several ground truths become one reference, one on each line; `reference_contexts` stay in the metadata, because they
are texts without ids.
"""

from offline_eval.formats.column_table import ColumnTable

TABLE = ColumnTable(
    marks=frozenset({"user_input", "retrieved_contexts", "reference_contexts", "ground_truth", "ground_truths"}),
    columns={
        "user_input": "query",
        "question": "query",
        "response": "answer",
        "retrieved_contexts": "passages",
        "contexts": "passages",
        "ground_truth": "reference",
        "ground_truths": "reference",
    },
)
