"""Names people give their columns when no tool told them to; understood so that a spreadsheet works as it is."""

from offline_eval.formats.column_table import ColumnTable

TABLE = ColumnTable(
    marks=frozenset({"question_type", "expected_doc_ids", "expected_points"}),
    columns={
        "question": "query",
        "question_type": "query_type",
        "expected_doc_ids": "relevant_documents",
        "expected_points": "key_points",
        "contexts": "passages",
        "context": "passages",
    },
)
