"""The panel's grades as metrics: one a dimension, and their weighted total."""
