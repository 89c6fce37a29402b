"""Settings of hypothesis: no deadline, since no test here measures time; CI repeats itself."""

import os

from hypothesis import settings

settings.register_profile("kafkalearn", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("kafkalearn")
