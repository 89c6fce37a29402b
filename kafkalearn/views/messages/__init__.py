"""Messages: who sends what to whom, as a sequence diagram; and the fields of each message."""

from kafkalearn.views.messages.diagram import Diagram, as_text, diagram, fields, reaches, routine

__all__ = ["Diagram", "as_text", "diagram", "fields", "reaches", "routine"]
