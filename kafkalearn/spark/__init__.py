"""Spark: DataFrame -> DataFrame, and the one place that starts a session."""
