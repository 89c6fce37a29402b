"""``python -m kafkalearn``: the command line, where the script is not on the path."""

from kafkalearn.cli import app

app()
