"""Rubrics, prompts, panels and routing: what a judge is asked, and what its labels mean."""
