"""Metrics: pure arithmetic over a response's evidence; one file a metric, its docstring is its card."""
