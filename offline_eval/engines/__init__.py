"""Local models behind the protocols of core; the only room that knows vLLM, Outlines and Transformers."""
