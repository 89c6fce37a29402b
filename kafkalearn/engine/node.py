"""A machine of the simulation."""


class Node:
    """What can crash and freeze: a client or a server, from its start to its crash.

    Processes, timers and connections that belong to it end with it; when it is started again, a
    new Node has its name. Processes.kill and Processes.freeze change the fields, nobody else.
    """

    __slots__ = ("alive", "frozen_until_ms", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.frozen_until_ms = -1

    def __repr__(self) -> str:
        return f"<Node {self.name}{'' if self.alive else ', dead'}>"
