"""One Spark session for all tests that carry the mark `spark`."""

import pytest


@pytest.fixture(scope="session")
def spark():
    """A session on two cores, as a small class would have; closed at the end."""
    from kafkalearn.spark.session import spark_session

    session = spark_session("local[2]", spark_sql_shuffle_partitions="1")
    yield session
    session.stop()
