"""Run summary → text for people and programs; records in, strings out."""
