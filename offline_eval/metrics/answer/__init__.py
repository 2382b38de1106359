"""Metrics of the answer against what a good answer says, and of its citations."""
