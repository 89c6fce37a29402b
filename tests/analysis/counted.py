"""Numbers counted by hand: read off each scenario's text trace (seed 0), event by event.

Times are those of the events that a number is defined by: PreparingRebalance, the end of the join
phase, Stable or Empty; and of a gap, from the event by which the last owner had the partition no
more (revoked, crash, or no member any more) to `assigned` of the next.
"""

from kafkalearn.trace import Trace

ORDERS = "orders"
FIRST = (1, 1, "member_joined", "stable", 1, 15, 3015, 3017, 0, 0, {})
PAIR = (1, 1, "member_joined", "stable", 2, 5, 6005, 6007, 0, 0, {})

# (rebalance, generation, cause, outcome, members, started, joined, ended, kept, moved, gaps)
REBALANCES = {
    "first_member": [FIRST],
    "second_member_joins": [
        FIRST,
        (2, 2, "member_joined", "stable", 2, 3045, 4023, 4025, 1, 1, {0: 4, 1: 4}),
    ],
    "consumer_dies": [
        PAIR,
        (2, 2, "session_timeout", "stable", 1, 12007, 12011, 12013, 1, 1, {0: 4, 1: 6002}),
    ],
    "consumer_leaves": [
        PAIR,
        (2, 2, "member_left", "stable", 1, 6513, 7011, 7013, 1, 1, {0: 4, 1: 502}),
    ],
    "consumer_stops_polling": [
        (1, 1, "member_joined", "stable", 2, 5, 3005, 3007, 0, 0, {}),
        (2, 2, "poll_timeout", "stable", 1, 4510, 5011, 5013, 1, 1, {0: 4, 1: 505}),
        (3, 3, "member_joined", "stable", 2, 5517, 6017, 6019, 1, 1, {0: 4, 1: 4}),
    ],
    "topic_grows": [
        (1, 1, "member_joined", "stable", 1, 5, 3005, 3007, 0, 0, {}),
        (2, 2, "member_rejoined", "stable", 1, 4013, 4013, 4015, 1, 0, {0: 4}),
    ],
    "pattern_meets_new_topic": [
        (1, 1, "member_joined", "stable", 1, 5, 3005, 3007, 0, 0, {}),
        (2, 2, "member_rejoined", "stable", 1, 5015, 5015, 5017, 1, 0, {0: 4}),
    ],
    "assign_beside_subscribe": [
        FIRST,
        (2, 2, "member_left", "empty", 0, 3549, None, 3549, None, None, {}),
    ],
    "group_changes": [
        (1, 1, "member_joined", "stable", 3, 5, 5005, 5007, 0, 0, {}),
        (
            *(2, 2, "session_timeout", "stable", 2, 13009, 13013, 13015, 3, 3),
            {0: 4, 1: 4, 2: 4, 3: 4, 4: 5516, 5: 5516},
        ),
    ],
    "crash_before_commit": [
        FIRST,
        (2, 2, "member_joined", "stable", 1, 3055, 9040, 9042, 1, 0, {0: 5992}),
        (3, 3, "member_left", "empty", 0, 9065, None, 9065, None, None, {}),
    ],
    "async_commit_overtaken": [
        FIRST,
        (2, 2, "member_left", "empty", 0, 3525, None, 3525, None, None, {}),
    ],
    "coordinator_fails_over": [FIRST],
    "offset_expired": [
        FIRST,
        (2, 2, "member_left", "empty", 0, 3527, None, 3527, None, None, {}),
        (3, 1, "member_joined", "stable", 1, 123545, 126545, 126547, 1, 0, {0: 123022}),
    ],
    "offset_out_of_range": [
        FIRST,
        (2, 2, "member_left", "empty", 0, 3527, None, 3527, None, None, {}),
        (3, 3, "member_joined", "stable", 1, 63545, 66545, 66547, 1, 0, {0: 63022}),
    ],
    "producer_retries": [],
}

ONCE, TWICE, GONE = (1, 1, False, 0), (2, 2, False, 1), (0, 0, True, 0)
# (partition, offset) -> (delivered, processed, lost, duplicated)
DELIVERIES = {
    "first_member": {(0, 0): ONCE, (0, 1): ONCE, (1, 0): ONCE, (1, 1): ONCE},
    "consumer_dies": {},
    "consumer_stops_polling": {(0, 0): ONCE, (1, 0): TWICE},
    "assign_beside_subscribe": {(0, 0): ONCE, (0, 1): ONCE, (0, 2): TWICE, (0, 3): ONCE},
    # Committed up to 3 when it crashes after five effects; the sixth had been delivered only.
    "crash_before_commit": {
        **{(0, each): ONCE for each in (0, 1, 2)},
        **{(0, each): TWICE for each in (3, 4)},
        (0, 5): (2, 1, False, 0),
    },
    "async_commit_overtaken": {(0, each): ONCE for each in range(6)},
    "offset_expired": {
        **{(0, each): TWICE for each in (0, 1)},
        **{(0, each): ONCE for each in (2, 3, 4)},
    },
    # 2 and 3 are deleted before anyone reads them, and 6 is committed in the end.
    "offset_out_of_range": {
        **{(0, each): ONCE for each in (0, 1, 4, 5)},
        **{(0, each): GONE for each in (2, 3)},
    },
    "producer_retries": {(0, each): (0, 0, False, 0) for each in range(3)},
}

# (time, log end, committed, position, lag, unread)
LAG = {
    "crash_before_commit": [
        (3022, 6, None, 0, None, 6),
        (3024, 6, None, 3, None, 3),
        (3040, 6, 3, 3, 3, 3),
        (3041, 6, 3, 6, 3, 0),
        (9045, 6, 3, 3, 3, 3),
        (9047, 6, 3, 6, 3, 0),
        (9063, 6, 6, 6, 0, 0),
    ],
    "offset_expired": [
        (3022, 2, None, 0, None, 2),
        (3024, 2, None, 2, None, 0),
        (3025, 2, 2, 2, 0, 0),
        (3535, 3, 2, 2, 1, 1),
        (120000, 3, None, 2, None, 1),
        (123535, 4, None, 2, None, 2),
        (126552, 4, None, 0, None, 4),
        (126554, 4, None, 4, None, 0),
        (126555, 4, 4, 4, 0, 0),
        (126655, 5, 4, 4, 1, 1),
        (126656, 5, 4, 5, 1, 0),
        (126657, 5, 5, 5, 0, 0),
    ],
}


# (group, offset, delivered, processed, lost, duplicated)
MADE_AGAIN = [
    ("billing", 0, 1, 1, False, 0),
    ("billing", 0, 1, 0, False, 0),
    ("billing", 1, 1, 1, False, 0),
    (None, 2, 0, 0, False, 0),
]


def topic_made_again():
    """Two records are read, worked on and committed; then the topic is made anew, with others.

    Of those the first is delivered only, in partition 0, and that of partition 1 meets no group.
    """
    trace = Trace("a topic is made again")
    of_group = {"group_id": "billing", "topic": ORDERS, "partition": 0}
    place = {"topic": ORDERS, "partition": 0}
    trace.record("topic_changed", 1, "b0", topic=ORDERS, detail={"change": "created", "count": 2})
    trace.record("append", 2, "b0", **place, offset=0, detail={"count": 2})
    trace.record("poll", 3, "c1", group_id="billing")
    trace.record("records_returned", 4, "c1", **place, offset=0, detail={"count": 2})
    for offset in (0, 1):
        trace.record("processed", 5, "c1", **place, offset=offset, detail={"sink": "db"})
    trace.record("offset_stored", 6, "b0", **of_group, offset=2)
    trace.record("topic_changed", 7, "b0", topic=ORDERS, detail={"change": "deleted", "count": 2})
    trace.record("topic_changed", 8, "b0", topic=ORDERS, detail={"change": "created", "count": 2})
    trace.record("append", 9, "b0", **place, offset=0, detail={"count": 1})
    trace.record("append", 9, "b0", topic=ORDERS, partition=1, offset=2, detail={"count": 1})
    trace.record("records_returned", 10, "c1", **place, offset=0, detail={"count": 1})
    return trace


def as_counted(rebalance):
    """Take of a rebalance, of a fold or of a table, what was counted."""
    assert {topic for topic, _, _ in rebalance.unowned} <= {ORDERS}
    gaps = {partition: ms for _, partition, ms in rebalance.unowned}
    assert rebalance.unowned_ms == (sum(gaps.values()) if gaps else None)
    return (
        *(rebalance.rebalance, rebalance.generation, rebalance.cause, rebalance.outcome),
        *(rebalance.members, rebalance.started_ms, rebalance.joined_ms, rebalance.ended_ms),
        *(rebalance.kept, rebalance.moved, gaps),
    )
