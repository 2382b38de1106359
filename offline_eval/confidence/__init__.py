"""Signals of a question and its answer → one confidence and a tier; pure, its tables are data."""
