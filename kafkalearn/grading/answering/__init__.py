"""The learner's half of a check, lent to a learner's process: it answers, and decides nothing."""
