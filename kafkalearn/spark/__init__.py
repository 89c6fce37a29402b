"""Spark: DataFrame -> DataFrame, and the one place that starts a session.

`session` starts Spark on what `java` finds, sooner where `class_archive` ran; `shipped` takes this
package along. `sweep` runs a scenario thousands of times, `events` reads what it wrote, `tables`
make answers of events, `logs` events of logs, and `report` one page of both. `grade_class` grades
what students handed in, `grade` is what of it runs on executors. `source` is a simulated topic as
Spark reads Kafka, `topic_folder` where that lies, and `answers` what exercise 62 asks about.
"""
