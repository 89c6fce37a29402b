"""The simulation: a cluster in virtual time. Start with simulation.py."""

from kafkalearn.simulation.simulation import Simulation

__all__ = ["Simulation"]
