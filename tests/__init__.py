"""Tests of offline-eval."""
