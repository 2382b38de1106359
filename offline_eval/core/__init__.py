"""Records, evidence, results, protocols and errors that every other room speaks in; imports nothing of ours."""
