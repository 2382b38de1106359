"""Group metrics: how far answers and scores drift over variants, attempts and passage order."""
