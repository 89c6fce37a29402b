"""Partitions as clients write them, in Java, Python and C, become arrays of ``topic-number``."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

_ONE = r"[A-Za-z0-9._-]+-\d+(?![A-Za-z0-9._-])"
_PYTHON = r"(?:TopicPartition\()?topic='([^']*)', partition=(\d+)\)?"
_PAIR = r"\('([^']+)', (\d+)\)"
_MANY = r"(?:topic=)?'([^']+)', (?:partitions=)?\[([\d, ]*)\]"
_MEMBERS = (
    (r"(?:^\{|, )(.*?)=Assignment\(partitions=\[(.*?)\](?:, userData.*?)?\)(?=, |\}$)", "java"),
    (r"'([^']*)': \w*Assignment\(version=\d+, \w+=\[(.*?)\], user_data=", "python"),
)


def partitions(text: Column) -> Column:
    """Read the partitions of a text, sorted as text; [] if it names none."""
    text = F.regexp_replace(text, _PYTHON, "$1-$2")
    text = F.regexp_replace(text, _PAIR, "$1-$2")
    single = F.regexp_extract_all(text, F.lit(_ONE), F.lit(0))
    topics = F.regexp_extract_all(text, F.lit(_MANY), F.lit(1))
    numbers = F.regexp_extract_all(text, F.lit(_MANY), F.lit(2))
    several = F.transform(
        F.arrays_zip(topics.alias("topic"), numbers.alias("numbers")),
        lambda each: F.transform(
            F.regexp_extract_all(each["numbers"], F.lit(r"\d+"), F.lit(0)),
            lambda number: F.concat(each["topic"], F.lit("-"), number),
        ),
    )
    return F.array_sort(F.array_distinct(F.concat(single, F.flatten(several))))


def with_offsets(text: Column) -> Column:
    """Read ``a-0=OffsetAndMetadata{offset=5`` and its like: struct(name, offset) of each."""
    text = F.regexp_replace(text, _PYTHON, "$1-$2")
    pattern = rf"({_ONE})(?:=|: )OffsetAndMetadata[{{(](?:offset=)?(-?\d+)"
    names = F.regexp_extract_all(text, F.lit(pattern), F.lit(1))
    offsets = F.regexp_extract_all(text, F.lit(pattern), F.lit(2))
    return F.transform(
        F.arrays_zip(names.alias("name"), offsets.alias("offset")),
        lambda each: F.struct(
            each["name"].alias("name"), each["offset"].cast("long").alias("offset")
        ),
    )


def by_member(text: Column) -> Column:
    """Read what a leader gave out: struct(member, partitions) of each member."""

    def read(pattern: str) -> Column:
        members = F.regexp_extract_all(text, F.lit(pattern), F.lit(1))
        shares = F.regexp_extract_all(text, F.lit(pattern), F.lit(2))
        return F.transform(
            F.arrays_zip(members.alias("member"), shares.alias("share")),
            lambda each: F.struct(
                each["member"].alias("member"), partitions(each["share"]).alias("partitions")
            ),
        )

    java, python = (read(pattern) for pattern, _ in _MEMBERS)
    return F.when(F.size(java) > 0, java).otherwise(python)


def topic(name: Column) -> Column:
    """Give the topic of ``topic-number``."""
    return F.regexp_extract(name, r"^(.*)-\d+$", 1)


def number(name: Column) -> Column:
    """Give the number of ``topic-number``."""
    return F.regexp_extract(name, r"-(\d+)$", 1).try_cast("long")


def by_topic(names: Column) -> Column:
    """Turn names into a map of topics to numbers, as events tell partitions."""
    topics = F.array_sort(F.array_distinct(F.transform(names, topic)))
    numbers = F.transform(
        topics,
        lambda each: F.array_sort(
            F.transform(F.filter(names, lambda name: topic(name) == each), number)
        ),
    )
    return F.map_from_arrays(topics, numbers)
