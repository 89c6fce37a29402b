"""Named, seeded runs that notebooks, tests and Spark share: one for each story of the documents.

Each is a function ``(*, seed=0, profile="1.0", faults=(), **settings) -> Trace``; see Scenario.
`what_if` and `compare` tell one twice, with one thing different.
"""

from kafkalearn.scenarios.groups import (
    assign_beside_subscribe,
    consumer_dies,
    consumer_leaves,
    consumer_stops_polling,
    first_member,
    group_changes,
    pattern_meets_new_topic,
    second_member_joins,
    topic_grows,
)
from kafkalearn.scenarios.offsets import (
    async_commit_overtaken,
    coordinator_fails_over,
    crash_before_commit,
    offset_expired,
    offset_out_of_range,
    producer_retries,
)
from kafkalearn.scenarios.registry import Scenario, get, names, run
from kafkalearn.scenarios.what_if import Reruns, WhatIf, compare, reruns, what_if

__all__ = [
    "Reruns",
    "Scenario",
    "WhatIf",
    "assign_beside_subscribe",
    "async_commit_overtaken",
    "compare",
    "consumer_dies",
    "consumer_leaves",
    "consumer_stops_polling",
    "coordinator_fails_over",
    "crash_before_commit",
    "first_member",
    "get",
    "group_changes",
    "names",
    "offset_expired",
    "offset_out_of_range",
    "pattern_meets_new_topic",
    "producer_retries",
    "reruns",
    "run",
    "second_member_joins",
    "topic_grows",
    "what_if",
]
