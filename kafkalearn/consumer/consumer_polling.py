"""The poll model: all that a consumer does, it does while the application polls.

Source: documents 000 to 004; org.apache.kafka.clients.consumer.KafkaConsumer: poll, pollOnce
(1.0.2), pollForFetches (2.0; 2.5 where a poll goes on while the group rebalances).
"""

from datetime import timedelta

from kafkalearn.clients.network_client import NEVER_MS
from kafkalearn.consumer.consumer_positions import ConsumerPositions
from kafkalearn.consumer.consumer_records import ConsumerRecords
from kafkalearn.consumer.fetcher import Fetched
from kafkalearn.errors import IllegalStateError, WakeupError


class ConsumerPolling(ConsumerPositions):
    """The calls of a consumer that give records."""

    def poll(self, timeout: int | timedelta) -> ConsumerRecords:
        """Give records, up to max.poll.records, or none when `timeout` has passed.

        timeout: ms, which do not bound how long joining the group takes (Java: poll(long), which
        4.0 has no more); or a timedelta, which does (Java: poll(Duration), 2.0), and goes on
        reading meanwhile what the member keeps (2.5).
        Everything happens in here: joining, rebalance listeners, automatic commits, callbacks of
        commits. One that gives nothing takes 1 ms at least, as no code runs in no time. Errors:
        IllegalStateError without a subscription; WakeupError; NoOffsetForPartitionError,
        OffsetOutOfRangeError, SerializationError; a fenced heartbeat's.
        """
        with self._exclusive:
            timeout_ms, bound_ms = self.poll_timeouts(timeout)
            if self.subscriptions.has_no_subscription_or_user_assignment():
                raise IllegalStateError(
                    "this consumer is not subscribed to any topics or assigned any partitions: "
                    "call subscribe() or assign() first"
                )
            start_ms, detail = self.context.now_ms, {"timeout_ms": timeout_ms}
            self.context.record(
                "poll", start_ms, group_id=self.config.group_id or None, detail=detail
            )
            try:
                records = self._poll_until(start_ms + timeout_ms, start_ms + bound_ms)
            except WakeupError:
                raise  # once for each wakeup()
            except Exception:
                self._let_time_pass(start_ms)  # or who catches it and polls again never ends
                raise
            if not records:
                self._let_time_pass(start_ms)
            return records

    def _poll_until(self, end_ms: int, bound_ms: int) -> ConsumerRecords:
        loop = self.context.loop
        remaining_ms = end_ms - loop.now_ms
        while True:
            records = self.poll_once(remaining_ms, bound_ms - loop.now_ms)
            if records:
                # The next fetch is on its way while the application is at work.
                if self.fetcher.send_fetches() > 0 or self.client.pending_request_count() > 0:
                    self.client.poll_no_wakeup()
                return self.interceptors.on_consume(ConsumerRecords(records))
            remaining_ms = end_ms - loop.now_ms
            if remaining_ms <= 0:
                return ConsumerRecords.empty()

    def _let_time_pass(self, start_ms: int) -> None:
        if self.context.now_ms == start_ms:
            self.context.processes.sleep(1)

    def poll_once(self, timeout_ms: int, bound_ms: int = NEVER_MS) -> Fetched:
        """Go once through the steps of a poll (Java: pollOnce, 1.0).

        timeout_ms: how long to wait for records. bound_ms: how long all else may take.
        """
        coordinator, fetcher, context = self.coordinator, self.fetcher, self.context
        context.wait_until_thawed()
        loop, profile = context.loop, context.profile
        deadline_ms = loop.now_ms + bound_ms
        if profile.poll_looks_for_wakeups:
            self.client.maybe_trigger_wakeup()
        in_group = profile.poll_timeout_bounds_join or self.subscriptions.partitions_auto_assigned()
        goes_on = profile.poll_goes_on_in_rebalance
        waits = in_group and deadline_ms >= NEVER_MS
        bound_ms = bound_ms if in_group else timeout_ms
        is_ready = coordinator.poll(loop.now_ms, bound_ms, waits_for_join=waits or not goes_on)
        while waits and not is_ready:  # the commit before the join is to be tried again (3.2)
            is_ready = coordinator.poll(loop.now_ms, deadline_ms - loop.now_ms)
        if is_ready and not self.subscriptions.has_all_fetch_positions():
            missing = self.subscriptions.missing_fetch_positions()
            is_ready = self.update_fetch_positions(missing, max(0, deadline_ms - loop.now_ms))
            if profile.poll_timeout_bounds_join:
                # A reset may wait for its next try.
                timeout_ms = min(timeout_ms, self.config.retry_backoff_ms)
        if not (is_ready or goes_on):
            return {}
        records = fetcher.fetched_records()
        if records:
            return records
        fetcher.send_fetches()
        timeout_ms = min(timeout_ms, max(0, deadline_ms - loop.now_ms))
        wait_ms = coordinator.time_to_next_poll(loop.now_ms)
        if not is_ready:
            wait_ms = max(1, wait_ms)  # an automatic commit may be due, which waits for the join
        self.client.poll(min(wait_ms, timeout_ms), fetcher)
        if not goes_on and coordinator.need_rejoin():
            return {}  # so that the group gets stable soon
        return fetcher.fetched_records()
