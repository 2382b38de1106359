"""One run from cases to estimates: systems under test, plan, execution, aggregation; it decides what happens when."""
