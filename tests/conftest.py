"""What holds for all tests."""

from hypothesis import settings

# A busy machine takes its time; how long an example takes is no question of right and wrong.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
