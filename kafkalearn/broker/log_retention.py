"""Retention: old records go, at checks that come at fixed times.

A check is set only while a log holds something that can go, so an idle cluster comes to rest.

Source: kafka.log.LogManager.cleanupLogs (1.0.2).
"""

from kafkalearn.broker.broker_context import BrokerContext
from kafkalearn.broker.cluster import Cluster, Partition
from kafkalearn.broker.interfaces import Timer

INITIAL_TASK_DELAY_MS = 30_000  # LogManager.InitialTaskDelayMs


class LogRetention:
    """Checks the logs that one broker leads.

    started_ms: the first check comes 30 s after it, the others at log.retention.check.interval.ms.
    """

    def __init__(self, context: BrokerContext, cluster: Cluster) -> None:
        self._context = context
        self._cluster = cluster
        self._timer: Timer | None = None
        self.started_ms = 0

    def watch(self, partition: Partition, now_ms: int) -> None:
        """Set the next check if something of this log can go by then."""
        deletable_ms = partition.log.deletable_from_ms()
        if deletable_ms is None:
            return
        check_ms = self._first_check_from(max(deletable_ms, now_ms))
        if self._timer is None:
            self._timer = self._context.timers.call_at(check_ms, self._cleanup_logs)
        elif check_ms < self._timer.deadline_ms:
            self._timer.restart(check_ms)

    def _first_check_from(self, time_ms: int) -> int:
        interval_ms = self._context.config.log_retention_check_interval_ms
        first_ms = self.started_ms + INITIAL_TASK_DELAY_MS
        return first_ms + max(0, -((first_ms - time_ms) // interval_ms)) * interval_ms

    def _cleanup_logs(self, now_ms: int) -> None:
        self._timer = None
        for partition in self._cluster.led_by(self._context.node):
            setting = partition.log.delete_old_records(now_ms)
            if setting is not None:
                topic, number = partition.topic_partition
                self._context.record(
                    "retention",
                    now_ms,
                    topic=topic,
                    partition=number,
                    offset=partition.log.log_start_offset,
                    detail={"reason": setting},
                )
            self.watch(partition, now_ms)
