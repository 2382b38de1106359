"""The answerable × answered table, each of its rates a metric."""
