"""Model configs and verified model folders; knows files and hashes, never a model library."""
