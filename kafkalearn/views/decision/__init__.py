"""Decision: how a coordinator judged a commit, check by check."""

from kafkalearn.views.decision.model import ESSENTIAL, NEEDS, Frame, frames
from kafkalearn.views.decision.words import as_text, then, title, verdict

__all__ = ["ESSENTIAL", "NEEDS", "Frame", "as_text", "frames", "then", "title", "verdict"]
