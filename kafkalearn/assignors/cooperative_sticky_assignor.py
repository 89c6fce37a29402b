"""Placeholder while the skeleton is set up."""
from kafkalearn.assignors.round_robin_assignor import RoundRobinAssignor


class CooperativeStickyAssignor(RoundRobinAssignor):
    name = "cooperative-sticky"
