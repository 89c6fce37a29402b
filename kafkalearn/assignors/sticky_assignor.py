"""Placeholder while the skeleton is set up."""
from kafkalearn.assignors.round_robin_assignor import RoundRobinAssignor


class StickyAssignor(RoundRobinAssignor):
    name = "sticky"
