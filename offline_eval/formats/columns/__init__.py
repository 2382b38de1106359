"""The column names of other evaluators, one file each, as data: a file dropped in here is understood at once."""
