"""Evidence producers, one file a check; they receive engines as protocols and never touch a score."""
