"""Metrics over claims: which are grounded in the passages, and which agree with the reference."""
