"""Column names of DeepEval test cases and goldens; their `context` is the ideal one, not what was retrieved."""

from offline_eval.formats.column_table import ColumnTable

TABLE = ColumnTable(
    marks=frozenset({"input", "actual_output", "expected_output", "retrieval_context"}),
    columns={
        "input": "query",
        "actual_output": "answer",
        "expected_output": "reference",
        "retrieval_context": "passages",
    },
    kept=frozenset({"context"}),
)
