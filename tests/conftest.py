"""Settings of hypothesis, and signals: no test here measures time; CI repeats itself."""

import os
import signal

from hypothesis import settings

settings.register_profile("kafkalearn", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("kafkalearn")

# A shell lets what it starts in the background ignore Ctrl-C, and processes of ours inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
