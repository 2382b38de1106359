"""Judges against human labels: label sets, the agreement table, probes, calibration and passports."""
