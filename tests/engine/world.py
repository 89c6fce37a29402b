"""A small simulation for tests: a loop, its processes, a network, and logs of what happened."""

from random import Random

from kafkalearn.engine import (
    EventLoop,
    Exchange,
    FaultInjector,
    FaultPlan,
    Inbox,
    Network,
    Processes,
)


class Request:
    """Something with an api, as the faults want it."""

    def __init__(self, api="Ask", value=0):
        self.api = api
        self.value = value


class World:
    """Nodes c1, c2 and broker-0, whose handler answers each request with its value."""

    def __init__(self, *, seed=0, bounds=None, **network):
        self.loop = EventLoop(**bounds or {})
        self.processes = Processes(self.loop)
        self.c1 = self.loop.add_node("c1")
        self.c2 = self.loop.add_node("c2")
        self.broker = self.loop.add_node("broker-0")
        self.log = []
        self.handled = []
        self.faults = []
        self.network = Network(self.processes, self._journal, random=Random(seed), **network)
        self.network.serve(self.broker, self.answer)
        self.inboxes = {node: Inbox(self.processes) for node in (self.c1, self.c2)}

    def answer(self, exchange: Exchange):
        """Handle a request: note it, and answer."""
        self.handled.append(exchange.request.value)
        exchange.reply(("answer to", exchange.request.value))

    def connect(self, node=None):
        """Connect a client, c1 if none is given, to broker-0; a close is logged."""
        node = node or self.c1
        return self.network.connect(
            node,
            self.broker,
            inbox=self.inboxes[node],
            on_close=lambda closed: self.note(f"{closed.client.name} told"),
        )

    def inject(self, *plan: FaultPlan):
        """Let the faults of a plan happen."""
        FaultInjector(
            plan,
            self.network,
            record=lambda time_ms, fault: self.faults.append((time_ms, str(fault))),
            on_restart=self.restart,
            error_response=lambda request, error: (error, request.value),
        )

    def restart(self, name):
        """Start a node again, as a simulation would."""
        node = self.loop.add_node(name)
        if name == "broker-0":
            self.broker = node
            self.network.serve(node, self.answer)

    def spawn(self, function, node=None, name="main"):
        """Start a process on c1, if no other node is given."""
        return self.processes.spawn(function, node=node or self.c1, name=name)

    def note(self, what):
        """Write down what happens, with the time."""
        self.log.append((self.loop.now_ms, what))

    def noting(self, what):
        """Give a callback that writes down `what`."""
        return lambda: self.note(what)

    def _journal(self, kind, time_ms, exchange, reason):
        text = f"{kind} {exchange.connection.client.name} {exchange.correlation_id}"
        self.log.append((time_ms, f"{text}: {reason}" if reason else text))
