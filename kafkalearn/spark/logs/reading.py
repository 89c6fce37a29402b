"""Lines to rows: what each line is, and for those that tell of an event, its fields and time.

Whatever stands before a message (names of containers and files, times of collectors, quotes of
Markdown) is not parsed: a message is looked for anywhere in a line, and its time before it.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.logs.lines import LONGEST, clean
from kafkalearn.spark.logs.times import has_time, time_of
from kafkalearn.spark.logs.wording import FIELDS, RDKAFKA, anchors, constant, matched, values

CLASSES = ("event", "ignored", "continuation", "unparsed")
NO_LOG = "no time, and nothing of Kafka's"
UNKNOWN = "a wording of a coordinator that is not known"
_JSON = r"\{\s*\".*\}"
_STEPS = ("whole", "once", "twice", "line", "at", "subject", "parts", "values", "head")
_MESSAGE = "message msg log MESSAGE @message text body event short_message"
_TIME = "@timestamp timestamp time ts asctime timeMillis datetime date __REALTIME_TIMESTAMP @t t"
_LOGGER = "logger_name logger loggerName name logger-name"
_LEVELS = "level severity levelname log.level"
_THREAD = "thread_name thread threadName"
_BY_LOGGING = r"(?<![\w|])([A-Z0-9_]+) \[(.+?#(?:consumer|producer)-\d+)\] (\[thrd:.*)$"
_LOGGER_AT_END = r"\s*\((?:org\.apache\.kafka|o\.a\.k|kafka)\.[\w.$]+\)\s*$|\s+$"
_TWO_LINES = r"[AP]M org\.apache\.kafka\.\S+ \S+$"
_CONTINUES = (
    r"^(?:\s+\S|Caused by: |Traceback |(?:[\w$]+\.)*[\w$]*(?:Exception|Error)\b"
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
    """Sort lines into CLASSES, and take the fields out of those that tell of something.

    in:  text, modified_ms and more
    out: the same, and class, problem (of an unparsed line), is_kept (needed to make events),
         time_ms, thread, and FIELDS as columns, null where they are absent
    """
    whole = F.when(F.length("text") <= LONGEST, F.col("text"))
    by_logging = F.regexp_replace("twice", _BY_LOGGING, "%7|0.0|$1|$2| $3")
    # Each step is one select, where a column may use those before it: one plan to analyse.
    found = lines.select(
        "*",
        whole.alias("whole"),
        _unpacked(F.col("whole")).alias("once"),
        _unpacked(F.col("once")).alias("twice"),
        by_logging.alias("line"),
        F.regexp_instr("line", F.lit(anchors())).alias("at"),
        F.when(F.col("at") > 0, F.expr("substring(line, at)")).alias("subject"),
        matched(F.regexp_replace("subject", _LOGGER_AT_END, "")).alias("parts"),
        values(F.col("parts")).alias("values"),
        *(F.nullif(F.get("values", place), F.lit("")).alias(n) for place, n in enumerate(FIELDS)),
    )
    is_head = F.coalesce(F.col("line").rlike(_TWO_LINES), F.lit(False))
    before = F.when(is_head, F.col("line")).otherwise(F.expr("left(line, at - 1)"))
    thread = F.try_element_at(F.regexp_extract_all("head", F.lit(_THREADS)), F.lit(-1))
    seconds = F.regexp_extract("subject", f"^{RDKAFKA}", 1).try_cast("decimal(20,6)")
    own = F.when(seconds > 0, (seconds * 1000).cast("long"))
    sorted_ = found.select(
        "*",
        _problem().alias("problem"),
        _class().alias("class"),
        ((F.col("class") == "event") | F.col("list").isNotNull() | is_head).alias("is_kept"),
        F.when(F.col("is_kept"), before).alias("head"),
        F.when(F.col("is_kept"), thread).alias("thread"),
        F.when(
            F.col("is_kept"), F.coalesce(own, time_of(F.col("head"), F.col("modified_ms")))
        ).alias("time_ms"),
    )
    return sorted_.drop(*_STEPS)


def _unpacked(line: Column) -> Column:
    """Write a JSON object as a line of a log: its time, level, thread, logger and message."""

    def written(json: Column) -> Column:
        def first(names: str) -> Column:
            found = F.transform(
                constant(names.split(), " "), lambda name: F.try_element_at(json, name)
            )
            return F.get(F.filter(found, lambda value: value.isNotNull()), 0)

        message = clean(F.regexp_replace(first(_MESSAGE), r"[\r\n]+\s*$", ""))
        thread = F.concat(F.lit("["), first(_THREAD), F.lit("]"))
        text = F.concat_ws(
            " ", first(_TIME), first(_LEVELS), thread, first(_LOGGER), F.lit("-"), message
        )
        return F.when(message.isNotNull(), text)

    packed = F.from_json(F.regexp_extract(line, f"({_JSON})", 1), "map<string,string>")
    of_json = F.get(F.transform(F.array(packed), written), 0)
    return F.when(line.rlike(_JSON), F.coalesce(of_json, line)).otherwise(line)


def _problem() -> Column:
    """Say why a line that no wording fits is not read; null if it is of no interest."""
    line, is_known = F.col("line"), F.col("kinds").isNotNull() | F.col("list").isNotNull()
    problem = (
        F.when(line.isNull(), f"longer than {LONGEST:,} characters")
        .when(is_known | (F.trim("line") == "") | line.rlike(r"^\s*[>|]?\s*(?:```|~~~|#)"), None)
        .when(line.rlike(f"^[^{{]*{_JSON}\\s*$"), "JSON without a message")
        .when((F.col("at") > 0) & line.rlike(_COORDINATORS) & ~line.rlike(_QUIET_LEVEL), UNKNOWN)
        .when(F.col("at") > 0, None)
        .when(has_time(F.left("line", F.lit(150))) | line.rlike(_HAS_LEVEL), None)
        .when(line.rlike(_CONTINUES), None)
        .otherwise(NO_LOG)
    )
    is_damaged = problem.isNotNull() & F.col("text").contains("\ufffd")
    return F.when(is_damaged, F.concat(F.lit("damaged bytes: "), problem)).otherwise(problem)


def _class() -> Column:
    kinds, line, is_list = F.col("kinds"), F.col("line"), F.col("list").isNotNull()
    continues = line.rlike(_CONTINUES) & ~has_time(F.left("line", F.lit(150)))
    return (
        F.when(kinds.isNotNull() & (kinds != "quiet"), "event")
        .when(F.col("problem").isNotNull(), "unparsed")
        .when(is_list | (kinds.isNull() & (F.col("at") == 0) & continues), "continuation")
        .otherwise("ignored")
    )
