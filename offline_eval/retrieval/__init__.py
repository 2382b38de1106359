"""Retrieval: corpus → passages → index → ranked passages; the search side of a RAG system, measured on its own."""
