"""Click commands, one file a command; the only room that prints."""
