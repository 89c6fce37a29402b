"""One Spark session for all tests that carry the mark `spark`; every Java here starts quickly."""

import pytest

QUICKER = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


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


@pytest.fixture
def quick(spark):
    """Let Spark prepare little, as the command does for few events."""
    kept = {name: spark.conf.get(name) for name in QUICKER}
    for name, value in QUICKER.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in kept.items():
        spark.conf.set(name, value)
