"""Logs: each partition as a bar of records, with what was committed, and what a crash costs."""

from kafkalearn.views.logs.model import ESSENTIAL, MAX_ROWS, NEEDS, Frame, as_text, frames, title

__all__ = ["ESSENTIAL", "MAX_ROWS", "NEEDS", "Frame", "as_text", "frames", "title"]
