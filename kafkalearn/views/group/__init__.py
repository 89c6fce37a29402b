"""Group: the coordinator's view of one group: its state, who waits for whom, its members."""

from kafkalearn.views.group.model import ESSENTIAL, NEEDS, Frame, as_text, frames, title

__all__ = ["ESSENTIAL", "NEEDS", "Frame", "as_text", "frames", "title"]
