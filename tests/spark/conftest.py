"""One Spark session for all tests that carry the mark `spark`; every Java here starts quickly."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def quick_java():
    """Let no Java optimise what runs for seconds: it starts in half the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="session")
def spark():
    """A session on two cores, as a small class would have; closed at the end."""
    from kafkalearn.spark.session import spark_session

    session = spark_session("local[2]", spark_sql_shuffle_partitions="1")
    yield session
    session.stop()
