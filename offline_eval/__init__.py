"""Score RAG systems and benchmark judge models on one machine, with open weights and no network.

The package imports nothing heavy: models, tensors and indexes are loaded by the rooms that use them.
"""

__version__ = "0.1.0"
