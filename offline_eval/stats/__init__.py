"""Numbers in, numbers out: intervals, tests, agreement, calibration and corrected estimates; no models and no files."""
