"""What a process that nobody trusts sends of a notebook: lines, messages, outputs."""

import json
from typing import Any

from nbformat import NotebookNode

from kafkalearn.grading.answering.wire import LONGEST_LINE


class Lines:
    """Bytes become lines; of one that is too long only its beginning is kept."""

    def __init__(self) -> None:
        self.rest = bytearray()
        self.whole: list[bytes] = []
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take what came over the socket."""
        self.total += len(data)
        *ended, rest = data.split(b"\n")
        for each in ended:
            self._keep(each)
            self.whole.append(bytes(self.rest))
            self.rest.clear()
        self._keep(rest)

    def _keep(self, data: bytes) -> None:
        self.rest += data[: LONGEST_LINE + 1 - len(self.rest)]


def message_of(line: bytes) -> dict[str, Any]:
    """Read a line; what is no message is an empty one."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def add_output(cell: NotebookNode, message: dict[str, Any]) -> None:
    """Outputs are for whoever reads the executed notebook; no grade hangs on them."""
    if message.get("stream") in ("stdout", "stderr"):
        name, text = message["stream"], str(message.get("text"))
        if cell.outputs and cell.outputs[-1].get("name") == name:
            cell.outputs[-1]["text"] += text
        else:
            cell.outputs.append({"output_type": "stream", "name": name, "text": text})
    for key, kind in (("display", "display_data"), ("result", "execute_result")):
        if isinstance(message.get(key), dict):
            texts = {k: v for k, v in message[key].items() if isinstance(v, str)}
            cell.outputs.append({"output_type": kind, "data": texts, "metadata": {}})
