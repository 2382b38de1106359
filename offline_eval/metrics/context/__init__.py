"""Metrics of retrieval as the answer needs it: was what came back useful, and was it enough?"""
