"""Two brokers that do as a test says, and a client's surroundings, without any simulation."""

from random import Random

from kafkalearn.clients.client_context import ClientContext
from kafkalearn.clients.exponential_backoff import ExponentialBackoff
from kafkalearn.clients.metadata import Metadata
from kafkalearn.clients.network_client import NetworkClient
from kafkalearn.engine import EventLoop, Network, Processes
from kafkalearn.profile import profile_of
from kafkalearn.protocol.metadata import MetadataRequest, MetadataResponse

BROKERS = ("broker-0", "broker-1")


class World:
    """The client c1; broker-0 and broker-1 answer what they are asked after 1 ms each way.

    silent: brokers that never answer. asked: (time, broker, request) as they arrived.
    ended: (time, broker) of connections that c1 was told have ended.
    """

    def __init__(self, *, down=()):
        self.loop = EventLoop()
        self.processes = Processes(self.loop)
        self.network = Network(self.processes, lambda *_: None, random=Random(0))
        self.silent, self.asked, self.ended = set(), [], []
        self.node = self.loop.add_node("c1")
        for name in BROKERS:
            self.start(name)
        for name in down:
            self.crash(name)
        self.context = ClientContext(
            node=self.node,
            loop=self.loop,
            processes=self.processes,
            network=self.network,
            profile=profile_of("1.0"),
            random=Random(0),
            brokers=BROKERS,
            find_node=lambda name: self.loop.nodes[name],
            record=lambda *_, **columns: None,
            on_close=lambda closed: self.ended.append((self.loop.now_ms, closed.server.name)),
        )

    def start(self, name):
        """Start a broker, also again."""
        self.network.serve(self.loop.add_node(name), self._answer)

    def crash(self, name):
        """Let a broker die."""
        self.processes.kill(self.loop.nodes[name])

    def metadata(self, *, is_due=False):
        """Make metadata that nobody has to ask for now, unless it is due."""
        metadata = Metadata(
            BROKERS, refresh_backoff=ExponentialBackoff(100), metadata_expire_ms=300_000
        )
        if not is_due:
            metadata.update(MetadataResponse(brokers=BROKERS), 0)
        return metadata

    def client(self, metadata=None, *, reconnect_backoff_ms=(50, 50), **settings):
        """Make a network client with a request timeout of 1,000 ms."""
        return NetworkClient(
            self.context,
            metadata or self.metadata(),
            request_timeout_ms=1_000,
            reconnect_backoff_ms=reconnect_backoff_ms,
            **settings,
        )

    def ask(self, client, name="broker-0", **settings):
        """Send a request; gives the list that its end is put on, as (time, response)."""
        assert client.ready(name)
        ends = []
        client.send(
            name,
            MetadataRequest(topics=()),
            on_complete=lambda response: ends.append((self.loop.now_ms, response)),
            **settings,
        )
        return ends

    def _answer(self, exchange):
        name = exchange.connection.server.name
        self.asked.append((self.loop.now_ms, name, exchange.request))
        if name not in self.silent:
            exchange.reply(MetadataResponse(brokers=BROKERS))
