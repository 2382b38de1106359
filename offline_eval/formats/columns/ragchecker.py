"""Column names of RAGChecker inputs and checking outputs; its claim labels and metrics stay in the metadata."""

from offline_eval.formats.column_table import ColumnTable

TABLE = ColumnTable(
    marks=frozenset({"query_id", "gt_answer", "retrieved_context"}),
    columns={
        "query_id": "id",
        "gt_answer": "reference",
        "response": "answer",
        "retrieved_context": "passages",
    },
)
