"""kafkalearn: learn how a Kafka consumer really works. This page is the map.

Where is it?
    a cluster with clients, in virtual time    kafkalearn.simulation  Simulation
    stories to run again, vary and break       kafkalearn.scenarios   reruns, what_if, compare
    the consumer: kafka_consumer.py first      kafkalearn.consumer    KafkaConsumer,
        ConsumerRebalanceListener
    the producer: kafka_producer.py first      kafkalearn.producer    KafkaProducer, ProducerRecord
    what both share: connections, metadata     kafkalearn.clients
    what happened: the only thing that leaves  kafkalearn.trace       Trace, describe
    which Kafka's rules hold, as switches      kafkalearn.profile     KafkaProfile
    settings: Kafka's keys, their defaults     kafkalearn.config
    brokers: group_coordinator.py first        kafkalearn.broker      logs, groups, their offsets
    requests and responses, by family          kafkalearn.protocol
    time, processes, network, faults           kafkalearn.engine      knows nothing about Kafka
    what clients and cluster hand each other   kafkalearn.records     TopicPartition, Subscription,
        OffsetAndMetadata
    Kafka's errors: codes and exceptions       kafkalearn.errors      XxxException is XxxError
    who reads which partition; a file each     kafkalearn.assignors   assignor, all_assignors,
        table, RangeAssignor, RoundRobinAssignor, StickyAssignor, CooperativeStickyAssignor; one of
        your own extends AbstractPartitionAssignor
    what a learner sees                        kafkalearn.views       Stepper, AssignmentExplorer,
        CommitExplorer, PartitionerExplorer, RebalanceExplorer; what they show is in
        kafkalearn.views.messages, kafkalearn.views.group, kafkalearn.views.logs,
        kafkalearn.views.decision and beside them; kafkalearn.views.drawings draw it,
        kafkalearn.views.explorers put settings beside it, kafkalearn.views.report is a page
    numbers of one trace: lost, unowned, lag   kafkalearn.analysis    plain folds
    checks and exercises                       kafkalearn.grading     check
        kafkalearn.grading.answering is the learner's half, kafkalearn.grading.judging the judge's
        (judge.py first); kafkalearn.grading.handed_in finds submissions,
        kafkalearn.grading.engines run them behind the walls of kafkalearn.grading.isolation, and
        kafkalearn.grading.report tells what became of them
    classes and sweeps on Spark, topics too    kafkalearn.spark       DataFrame -> DataFrame
        kafkalearn.spark.tables are made of events, and kafkalearn.spark.logs makes events of logs
    where the notebooks lie                    kafkalearn.workbook
    running them side by side                  kafkalearn.notebooks
    JupyterLab on them                         kafkalearn.lab
    a site of them                             kafkalearn.book
    the command line                           kafkalearn.cli         a module a family

Words (with the documents' own where they have one)
    consumer group 消费组: the members that share out the partitions of their topics
    partition 分区: one ordered log of a topic; one member of a group reads it at a time
    assignor 分配策略: decides which member reads which partition; runs on the leader, a client
    leader: the member that computes the assignment for its group
    coordinator: the broker that keeps a group: members, generation, committed offsets
    poll: the one call in which a consumer does everything: join, fetch, commit, hear of errors
    position, committed offset: the next to fetch, and the next to read after a restart
    generation: counts a group's rebalances; of two claims to a partition the newer one holds
    rebalance: members come, go or change their minds, and partitions are shared out anew

Imports point one way: errors, records, config, profile and trace know nobody above; engine,
protocol, assignors and views know only these, and not each other (an explorer is handed assignors);
brokers know the protocol but no engine; consumer and producer stand on clients, protocol and
engine; the simulation puts all of it together, scenarios stand on that; analysis reads traces only;
grading stands on scenarios, analysis and views, and drives a consumer for a learner's loop; spark
on scenarios, analysis and grading, the command line on all. A test holds the table.

A Java class FooBar is FooBar in foo_bar.py, its method fooBar is foo_bar. Names below are found on
first use, so that importing the package stays fast.
"""

from importlib import import_module
from typing import Any

_WHERE = {
    "AbstractPartitionAssignor": "kafkalearn.assignors",
    "AssignmentExplorer": "kafkalearn.views",
    "CommitExplorer": "kafkalearn.views",
    "ConsumerRebalanceListener": "kafkalearn.consumer.consumer_rebalance_listener",
    "CooperativeStickyAssignor": "kafkalearn.assignors",
    "KafkaConsumer": "kafkalearn.consumer.kafka_consumer",
    "KafkaProducer": "kafkalearn.producer.kafka_producer",
    "KafkaProfile": "kafkalearn.profile",
    "OffsetAndMetadata": "kafkalearn.records",
    "PartitionerExplorer": "kafkalearn.views",
    "ProducerRecord": "kafkalearn.producer.producer_record",
    "RangeAssignor": "kafkalearn.assignors",
    "RebalanceExplorer": "kafkalearn.views",
    "RoundRobinAssignor": "kafkalearn.assignors",
    "Simulation": "kafkalearn.simulation",
    "Stepper": "kafkalearn.views",
    "StickyAssignor": "kafkalearn.assignors",
    "Subscription": "kafkalearn.records",
    "TopicPartition": "kafkalearn.records",
    "Trace": "kafkalearn.trace",
    "all_assignors": "kafkalearn.assignors",
    "assignor": "kafkalearn.assignors",
    "check": "kafkalearn.grading",
    "compare": "kafkalearn.scenarios.what_if",
    "describe": "kafkalearn.trace",
    "reruns": "kafkalearn.scenarios.what_if",
    "table": "kafkalearn.assignors",
    "what_if": "kafkalearn.scenarios.what_if",
}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_WHERE]
