"""The walls round a learner's process: what keeps it in, and what is lent to it there."""
