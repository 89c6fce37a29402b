"""Fetching records ahead of the application: what is asked for, and where it waits.

Source: document 004, "Fetch拉取消息"; Fetcher (1.0.2; later by switches) in org.apache.kafka.
clients.consumer.internals, which AbstractFetch was taken out of (3.5).
"""

from collections import deque
from collections.abc import Iterable
from functools import partial

from kafkalearn.consumer.completed_fetch import CompletedFetch, PartitionRecords
from kafkalearn.consumer.consumer_parts import ConsumerParts
from kafkalearn.consumer.offset_lookup import OffsetLookup
from kafkalearn.protocol.fetch import FetchPartition, FetchRequest, FetchResponse
from kafkalearn.records import TopicPartition


class AbstractFetch(OffsetLookup):
    """One fetch at a time per broker, for the partitions that have nothing waiting here.

    completed_fetches: what came, a partition each, until a poll looks at it.
    next_in_line_records: the partition that polls are taking records of.
    """

    def __init__(self, parts: ConsumerParts) -> None:
        super().__init__(parts)
        profile = parts.context.profile
        self.completed_fetches: deque[CompletedFetch | PartitionRecords] = deque()
        self.next_in_line_records: PartitionRecords | None = None
        self._keeps_paused = profile.paused_fetches_are_kept
        self._beside_others = profile.fetches_go_beside_others
        self._nodes_with_pending_fetch_requests: set[str] = set()

    def send_fetches(self) -> int:
        """Send a fetch to each broker that has something to fetch and none on its way; how many."""
        requests = self.create_fetch_requests()
        for node, request in requests.items():
            sent = self.client.send(node, request)
            self._nodes_with_pending_fetch_requests.add(node)
            sent.add_listener(
                partial(self._on_fetched, node, request),
                partial(self._on_failed, node),
            )
        return len(requests)

    def create_fetch_requests(self) -> dict[str, FetchRequest]:
        """Make the fetches, by broker: from the position of each partition on."""
        waiting = {each.partition for each in self.completed_fetches}
        if self.next_in_line_records is not None and not self.next_in_line_records.is_drained():
            waiting.add(self.next_in_line_records.partition)
        leaders, config = self.metadata.leaders, self.config
        max_bytes = config.max_partition_fetch_bytes
        wanted: dict[str, dict[TopicPartition, FetchPartition] | None] = {}
        for partition, state in self.subscriptions.assignment.items():
            position = state.position
            if position is None or state.paused or state.pending_revocation:
                continue
            if waiting and partition in waiting:
                continue
            node = leaders.get(partition)
            if node is None:
                self.metadata.request_update()
                continue
            if node not in wanted:  # None for a broker that owes an answer
                wanted[node] = None if self._owes_an_answer(node) else {}
            if (asked := wanted[node]) is not None:
                asked[partition] = FetchPartition(position, max_bytes)
        requests = {}
        for node, partitions in wanted.items():
            if partitions is not None:
                requests[node] = FetchRequest(
                    max_wait_ms=config.fetch_max_wait_ms,
                    min_bytes=config.fetch_min_bytes,
                    max_bytes=config.fetch_max_bytes,
                    partitions=partitions,
                )
        return requests

    def clear_buffered_data_for_unassigned_partitions(
        self, assigned: Iterable[TopicPartition]
    ) -> None:
        """Throw away what was fetched of other partitions than these (2.1)."""
        if not self.context.profile.unassigned_fetches_are_dropped:
            return
        kept, source = set(assigned), self.next_in_line_records
        if source is not None and source.partition not in kept:
            self.next_in_line_records = None
        self.completed_fetches = deque(x for x in self.completed_fetches if x.partition in kept)

    def should_block(self) -> bool:
        """Whether a poll has to wait: the documents' PollCondition, !hasCompletedFetches().

        Since 2.4 !hasAvailableFetches(): those of paused partitions do not count.
        """
        completed = self.completed_fetches
        if self._keeps_paused and completed:
            return not any(self.subscriptions.is_fetchable(each.partition) for each in completed)
        return not completed

    def matches_requested_partitions(self, request: FetchRequest, response: FetchResponse) -> bool:
        """Whether a response is about just what was asked."""
        return request.partitions.keys() == response.partitions.keys()

    def _owes_an_answer(self, node: str) -> bool:
        if self._beside_others:
            return node in self._nodes_with_pending_fetch_requests
        return self.client.pending_request_count(node) > 0

    def _on_failed(self, node: str, _: Exception) -> None:
        self._nodes_with_pending_fetch_requests.discard(node)

    def _on_fetched(self, node: str, request: FetchRequest, response: FetchResponse) -> None:
        self._nodes_with_pending_fetch_requests.discard(node)
        if not self.matches_requested_partitions(request, response):
            self.context.warn("a fetch is ignored: its partitions are not those asked for")
            return
        asked = request.partitions
        for partition, data in response.partitions.items():
            fetch_offset, _ = asked[partition]
            self.completed_fetches.append(CompletedFetch(partition, fetch_offset, data))
