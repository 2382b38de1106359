"""A fictional company's staff handbook, a test set on it and two recorded systems: something to score on day one."""
