"""Lines to rows: what each line is, and for those that tell of an event, its fields and time.

Whatever stands before a message (names of containers and files, times of collectors, quotes of
Markdown) is not parsed: a message is looked for anywhere in a line, and its time before it. Most
lines of a large log hold no word of Kafka's, which is seen without a pattern.
"""

from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.logs.lines import LONGEST, clean
from kafkalearn.spark.logs.times import has_time, time_of
from kafkalearn.spark.logs.wording import (
    FACILITIES,
    FIELDS,
    RDKAFKA,
    anchors,
    constant,
    matched,
    values,
)

CLASSES = ("event", "ignored", "continuation", "unparsed")
NO_LOG = "no time, and nothing of Kafka's"
UNKNOWN = "a wording of a coordinator that is not known"
_JSON = r"\{\s*\".*\}"
# What stands before an object may be names and times of a collector: few words.
_OBJECT = rf"^\s*(?:\S+\s+){{0,3}}{_JSON}\s*$"
_STEPS = ("told", "once", "twice", "has_time", "subject", "parts")
_MESSAGE = (
    "message msg log MESSAGE @message text body event short_message textPayload jsonPayload "
    "_source _raw result line"
)
_TIME = "@timestamp timestamp time ts asctime timeMillis datetime date __REALTIME_TIMESTAMP @t t"
_INSTANT = ("epochSecond", "nanoOfSecond")  # What log4j's JsonLayout writes.
_LOGGER = "logger_name logger loggerName name logger-name"
_LEVELS = "level severity levelname log.level"
_THREAD = "thread_name thread threadName"
_HINTS = (
    *("[Consumer ", "[Group", "[thrd:", "roup", "oordinat", "ffset", "eart", "artition", "ejoin"),
    *("ubscri", "poll", "ssignment", "Metadata for topic"),
)
_BY_LOGGING = r"(?<![\w|])([A-Z0-9_]+) \[(.+?#(?:consumer|producer)-\d+)\] (\[thrd:.*)$"
_LOGGER_AT_END = r"\s*\((?:org\.apache\.kafka|o\.a\.k|kafka)\.[\w.$]+\)(?: *\[[^\]]*\])?\s*$|\s+$"
_QUOTED = r"(?s)^((?:[^\"\\]++|\\.)*+)\".*$"
_TWO_LINES = r"[AP]M org\.apache\.kafka\.\S+ \S+$"
# Who wrote a line, where one file holds the lines of several: compose's containers, kubectl's and
# stern's pods, grep's files, syslog's host and process.
_WRITER = (
    r"(?:([\w.-]+) +\|(?: |$)|\[pod/([^\s\]]+)\] "
    r"|([a-z0-9.-]+-[a-z0-9]{4,10}-[a-z0-9]{5} [a-z0-9.-]+) "
    r"|([^\s:|]+\.(?:log|txt|out)[\w.]*)[:-](?:\d+[:-])?"
    r"|(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\S+) ([\w.-]+ [\w./-]+\[\d+\]): )"
)
_CONTINUES = (
    rf"^(?:{_WRITER})?"
    r"(?:\s+\S|Caused by: |Traceback |(?:[\w$]+\.)*[\w$]*(?:Exception|Error)\b"
    r"|\.\.\. \d+ more|[\]})]+,?$)"
)
_COORDINATORS = (
    r"(?:Abstract|Consumer)Coordinator\b|RebalanceListenerInvoker|\[GroupCoordinator"
    r"|kafka\.coordinator|aiokafka\.consumer\.group_coordinator"
)
_QUIET_LEVEL = r"\b(?:DEBUG|TRACE)\b"
_THREADS = r"\[(?![A-Z]+\s*\])([^\[\]]*[A-Za-z][^\[\]]*)\]"
_HAS_LEVEL = r"\b(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b"


def read(lines: DataFrame) -> DataFrame:
    """Sort lines into CLASSES.

    in:  text and more
    out: the same, and class, problem (of an unparsed line), is_kept (needed to make events), line
         (unpacked), at (where in it a message begins, or 0), values (what `with_fields` reads)
    """
    text, twice = F.when(F.length("text") <= LONGEST, F.col("text")), F.col("twice")
    by_logging = F.regexp_replace(twice, _BY_LOGGING, "%7|0.0|$1|$2| $3")
    line = F.when(twice.contains("[thrd:"), by_logging).otherwise(twice)
    anchor = F.regexp_instr("line", F.lit(anchors()))
    rest, is_quoted = F.expr("substring(line, at)"), F.expr("substring(line, at - 1, 1)") == '"'
    quoted = F.regexp_replace(rest, _QUOTED, "$1")
    # Each step is one select, where a column may use those before it: one plan to analyse.
    found = lines.select(
        "*",
        F.when(_hint(text), text).alias("told"),
        _unpacked(F.col("told")).alias("once"),
        _unpacked(F.col("once")).alias("twice"),
        F.coalesce(line, text).alias("line"),
        has_time(F.left("line", F.lit(150))).alias("has_time"),
        F.when(twice.isNull(), 0).otherwise(anchor).alias("at"),
        F.when(F.col("at") > 0, F.when(is_quoted, quoted).otherwise(rest)).alias("subject"),
        matched(F.regexp_replace("subject", _LOGGER_AT_END, "")).alias("parts"),
        values(F.col("parts")).alias("values"),
    )
    sorted_ = found.select("*", _problem().alias("problem"), _class().alias("class"))
    is_kept = (F.col("class") == "event") | (_field("list") != "") | _is_head()
    return sorted_.withColumn("is_kept", F.coalesce(is_kept, F.lit(False))).drop(*_STEPS)


def with_fields(rows: DataFrame) -> DataFrame:
    """Take out what a line tells.

    in:  what `read` gives, and modified_ms
    out: the same without line, at and values, source that of the line's writer where it names one;
         and time_ms, thread, and FIELDS as columns, null where they are absent
    """
    groups = (F.regexp_extract("line", f"^{_WRITER}", each) for each in range(1, 6))
    writer = F.nullif(F.concat(*groups), F.lit(""))
    head = F.when(_is_head(), F.col("line")).otherwise(F.expr("left(line, at - 1)"))
    thread = F.try_element_at(F.regexp_extract_all("head", F.lit(_THREADS)), F.lit(-1))
    seconds = F.regexp_extract(F.expr("substring(line, at)"), f"^{RDKAFKA}", 1)
    own = F.when(seconds.try_cast("decimal(20,6)") > 0, seconds.try_cast("decimal(20,6)") * 1000)
    time = F.coalesce(own.cast("long"), time_of(F.col("head"), F.col("modified_ms")))
    source = F.coalesce(F.when(F.col("is_kept"), writer), F.col("source"))
    return (
        rows.withColumn("source", source)
        .select(
            "*",
            *(_told(place, name).alias(name) for place, name in enumerate(FIELDS)),
            F.when(F.col("is_kept"), head).alias("head"),
            F.when(F.col("is_kept"), thread).alias("thread"),
            F.when(F.col("is_kept"), time).alias("time_ms"),
        )
        .drop("line", "at", "values", "head")
    )


def _told(place: int, name: str) -> Column:
    """Give a field, null if absent; a broker writes an instance as Scala's Option."""
    value = F.get("values", place)
    if name == "instance":
        value = F.regexp_replace(value, r"^(?:Some\((.*)\)|None|null)$", "$1")
    return F.nullif(value, F.lit(""))


def _field(name: str) -> Column:
    return F.get("values", FIELDS.index(name))


def _is_head() -> Column:
    """Whether a line is the first of the two that java.util.logging writes."""
    line = F.col("line")
    return line.contains("M org.apache.kafka.") & line.rlike(_TWO_LINES)


def _hint(line: Column) -> Column:
    """Whether a line may be JSON, or tell of Kafka; librdkafka names what each of its is about."""
    words = (line.contains(word) for word in _HINTS)
    is_json = line.contains("{") & line.contains('"')
    by_words = reduce(or_, words, is_json)
    return F.when(line.rlike(RDKAFKA), line.rlike(FACILITIES)).otherwise(by_words)


def _unpacked(line: Column) -> Column:
    """Write a JSON object as a line of a log: its time, level, thread, logger and message.

    What is before it stays: it may be a collector's time, or the time of the object around it.
    """

    def written(json: Column) -> Column:
        def first(names: str) -> Column:
            found = F.transform(
                constant(names.split(), " "), lambda name: F.try_element_at(json, name)
            )
            return F.get(F.filter(found, lambda value: value.isNotNull()), 0)

        instant = [
            F.get_json_object(F.try_element_at(json, F.lit("instant")), f"$.{name}")
            for name in _INSTANT
        ]
        epoch = F.concat(instant[0], F.lit("."), F.lpad(instant[1], 9, "0"))
        message = clean(F.regexp_replace(first(_MESSAGE), r"[\r\n]+\s*$", ""))
        thread = F.concat(F.lit("["), first(_THREAD), F.lit("]"))
        text = F.concat_ws(
            " ",
            before,
            F.coalesce(first(_TIME), epoch),
            first(_LEVELS),
            thread,
            first(_LOGGER),
            F.lit("-"),
            message,
        )
        return F.when(message.isNotNull(), text)

    before = F.nullif(F.trim(F.left(line, F.regexp_instr(line, F.lit(_JSON)) - 1)), F.lit(""))
    packed = F.from_json(F.regexp_extract(line, f"({_JSON})", 1), "map<string,string>")
    of_json = F.get(F.transform(F.array(packed), written), 0)
    return F.when(line.rlike(_JSON), F.coalesce(of_json, line)).otherwise(line)


def _problem() -> Column:
    """Say why a line that no wording fits is not read; null if it is of no interest."""
    line = F.col("line")
    problem = (
        F.when(line.isNull(), f"longer than {LONGEST:,} characters")
        .when(F.col("values").isNotNull(), None)
        .when(line.rlike(rf"^(?:{_WRITER})?\s*$|^\s*[>|]?\s*(?:```|~~~|#)"), None)
        .when(line.rlike(_OBJECT), "JSON without a message")
        .when((F.col("at") > 0) & line.rlike(_COORDINATORS) & ~line.rlike(_QUIET_LEVEL), UNKNOWN)
        .when((F.col("at") > 0) | F.col("has_time") | line.rlike(_HAS_LEVEL), None)
        .when(line.rlike(_CONTINUES), None)
        .otherwise(NO_LOG)
    )
    is_damaged = problem.isNotNull() & F.col("text").contains("\ufffd")
    return F.when(is_damaged, F.concat(F.lit("damaged bytes: "), problem)).otherwise(problem)


def _class() -> Column:
    kinds, line = _field("kinds"), F.col("line")
    continues = line.rlike(_CONTINUES) & ~F.col("has_time")
    return (
        F.when((kinds != "") & (kinds != "quiet"), "event")
        .when(F.col("problem").isNotNull(), "unparsed")
        .when(_field("list") != "", "continuation")
        .when(F.col("values").isNull() & (F.col("at") == 0) & continues, "continuation")
        .otherwise("ignored")
    )
