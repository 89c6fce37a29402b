"""Times of log lines: a dozen forms of a date and a time, and none, become epoch milliseconds.

A time without a zone is taken for UTC. One without a year gets the latest that is not after the
file's own modification; one without a date belongs to 1970-01-01.
"""

import re

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from kafkalearn.spark.logs.wording import SPLIT, nameless

MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH = "(?<mo>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*)"
_TIME = r"(?<h>\d\d?):(?<mi>\d\d):(?<s>\d\d)(?:[.,:](?<f>\d{1,9}))?"
_ZONE = r"(?: ?(?<z>Z|UTC|GMT|[+-]\d\d:?\d\d)(?![\w:]))?"
_HALF = r"(?: ?(?<ap>[APap][Mm]))?"
_DATED = (
    rf"(?<y>(?:19|20)\d\d)[-/.](?<mo>\d\d?)[-/.](?<d>\d\d?)(?:T|[ _,:] ?){_TIME}{_HALF}{_ZONE}",
    r"(?<y>20\d\d)(?<mo>\d\d)(?<d>\d\d)[T _-]?(?<h>\d\d):?(?<mi>\d\d):?(?<s>\d\d)"
    rf"(?:[.,](?<f>\d{{1,9}}))?{_ZONE}",
    rf"(?<d>\d\d?)[ /-]{_MONTH}[ /-](?:(?<y>\d{{4}})[ :,]+)?{_TIME}{_ZONE}",
    rf"{_MONTH}\.? +(?<d>\d\d?),?(?: (?<y>\d{{4}}),?)? {_TIME}{_HALF}{_ZONE}"
    r"(?: (?:[A-Z]{3,4} )?(?<later>(?:19|20)\d\d)(?!\d))?",
    rf"(?<mo>\d\d?)/(?<d>\d\d?)/(?<y>\d{{4}}|\d\d),? {_TIME}{_HALF}{_ZONE}",
    rf"(?<d>\d\d?)\.(?<mo>\d\d?)\.(?<y>\d{{4}}),? {_TIME}{_ZONE}",
)
_CLOCK = _TIME
_EPOCH = r"(?<![\w.,:-])1\d{9}(?:\d{3}|\d{6}|\d{9})?(?:[.,]\d{1,9})?(?![\w:-])"
DAY_MS = 86_400_000
_PARTS = ("y", "mo", "d", "h", "mi", "s", "f", "ap", "z", "later")
DATED = rf"(?<![\d.])(?:{'|'.join(map(nameless, _DATED))})"


def has_time(text: Column) -> Column:
    """Whether a text holds any of the forms."""
    return text.rlike(f"{DATED}|{_EPOCH}|(?<!\\d){nameless(_CLOCK)}(?!\\d)")


def time_of(head: Column, modified_ms: Column) -> Column:
    """Give the last full time in a text, else an epoch, else a time of day, in ms; else null.

    The last one is the program's own, after those that a collector of logs puts before it.
    """
    dated = F.try_element_at(F.regexp_extract_all(head, F.lit(DATED), F.lit(0)), F.lit(-1))
    stamp = F.coalesce(dated, F.regexp_substr(head, F.lit(nameless(_CLOCK))))
    every = "|".join((*_DATED, _CLOCK))
    named = re.findall(r"\(\?<([a-z]+)>", every)
    groups = [
        "".join(f"${place}" for place, other in enumerate(named, start=1) if other == name)
        for name in _PARTS
    ]
    parts = F.regexp_replace(stamp, f"^(?:{nameless(every, '(')})$", SPLIT.join(groups))
    # What is done in a function of an array is planned once, and without generated code.
    each = F.transform(F.array(F.split(parts, SPLIT, -1)), lambda of: _millis(of, modified_ms))
    return F.coalesce(F.get(F.flatten(each), 0), _of_epoch(head))


def _millis(parts: Column, modified_ms: Column) -> Column:
    """Turn parts into the times that they may mean, the first being the best."""
    part = {name: parts[place] for place, name in enumerate(_PARTS)}
    first, second = part["mo"].try_cast("int"), part["d"].try_cast("int")
    by_name = (F.instr(F.lit(MONTHS), F.lower(F.left(part["mo"], F.lit(3)))) + 2) / 3
    given = F.concat(part["y"], part["later"])
    is_short, is_clock = F.length(given) == 2, part["mo"] == ""
    is_swapped = F.coalesce(first > 12, F.lit(False))
    # yy/MM/dd is what Hadoop's programs write; else the month is first, or cannot be.
    is_year_first = is_swapped & is_short
    year = F.when(is_clock, 1970).when(is_year_first, first).otherwise(given.try_cast("int"))
    now = F.year(F.timestamp_millis(modified_ms))
    month = F.when(is_swapped, second).otherwise(F.coalesce(first, by_name.cast("int")))
    day = F.when(is_year_first, given.try_cast("int")).when(is_swapped, first).otherwise(second)
    clock, half = part["h"].try_cast("int"), F.lower(part["ap"])
    hour = F.when(half == "", clock).otherwise(clock % 12 + F.when(half == "pm", 12).otherwise(0))
    zone = F.regexp_replace(part["z"], "[:A-Z]", "")
    minutes = F.substring(zone, 2, 2).try_cast("int") * 60 + F.right(zone, F.lit(2)).try_cast("int")
    east = F.coalesce(F.when(zone.startswith("-"), -minutes).otherwise(minutes), F.lit(0))

    def millis(year: Column) -> Column:
        date = F.concat_ws("-", year, *(F.when(is_clock, 1).otherwise(of) for of in (month, day)))
        time = F.concat_ws(":", hour, part["mi"], part["s"])
        at = F.concat(date, F.lit(" "), time, F.lit("+00:00")).try_cast("timestamp")
        fraction = F.rpad(F.left(part["f"], F.lit(3)), 3, "0").try_cast("int")
        return F.unix_seconds(at) * 1000 + fraction - east * 60_000

    years = F.when(year.isNotNull(), F.array(year + F.when(is_short, 2000).otherwise(0)))
    found = F.transform(F.coalesce(years, F.array(now, now - 1)), millis)
    return F.filter(found, lambda at: year.isNotNull() | (at <= modified_ms + DAY_MS))


def _of_epoch(head: Column) -> Column:
    number = F.regexp_substr(head, F.lit(_EPOCH))
    whole = F.regexp_extract(number, r"^\d+", 0)
    fraction = F.rpad(F.substring(F.regexp_extract(number, r"[.,](\d+)$", 1), 1, 3), 3, "0")
    # Seconds, milliseconds, microseconds or nanoseconds: 10, 13, 16 or 19 digits.
    digits = F.when(F.length(whole) == 10, F.concat(whole, fraction)).otherwise(whole)
    return F.substring(digits, 1, 13).try_cast("long")
