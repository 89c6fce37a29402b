"""Turning keys and values into bytes and back.

Source: org.apache.kafka.common.serialization (3.9).
Differs from Kafka: there the settings have no default; here it is text, which most lessons use.
"""

from collections.abc import Callable
from typing import Any

from kafkalearn.errors import ConfigError, SerializationError

Serializer = Callable[[Any], bytes | None]
Deserializer = Callable[[bytes], Any]


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__}, where text is wanted")
    return value.encode()


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray):
        raise TypeError(f"a {type(value).__name__}, where bytes are wanted")
    return bytes(value)


def _number(size: int) -> tuple[Serializer, Deserializer]:
    def read(data: bytes) -> int:
        if len(data) != size:
            raise ValueError(f"{len(data)} bytes, where {size} are wanted")
        return int.from_bytes(data, "big", signed=True)

    return lambda value: value.to_bytes(size, "big", signed=True), read


_KINDS: dict[str, tuple[Serializer, Deserializer]] = {
    "String": (_text, bytes.decode),
    "ByteArray": (_bytes, bytes),
    "Integer": _number(4),
    "Long": _number(8),
}


def serializer_of(setting: object, key: str) -> Serializer:
    """Find a serializer by Java's class name (``StringSerializer``), or take a function."""
    found: Serializer = _find(setting, key, "Serializer", which=0)
    return found


def deserializer_of(setting: object, key: str) -> Deserializer:
    """Find a deserializer by Java's class name (``StringDeserializer``), or take a function."""
    found: Deserializer = _find(setting, key, "Deserializer", which=1)
    return found


def serialize(serializer: Serializer, value: object, *, what: str, topic: str = "") -> bytes | None:
    """Make bytes of a value; None stays None. SerializationError tells what was given."""
    if value is None:
        return None
    try:
        data = serializer(value)
        if data is not None and not isinstance(data, bytes):
            raise TypeError(f"the serializer made a {type(data).__name__} of it, not bytes")
    except Exception as error:
        where = f" of a record for {topic}" if topic else ""
        raise SerializationError(f"{what}{where} is {value!r:.80}: {error}") from error
    return data


def _find(setting: object, key: str, suffix: str, *, which: int) -> Any:
    if callable(setting):
        return setting
    known = {f"{kind}{suffix}": pair[which] for kind, pair in _KINDS.items()}
    name = setting.rpartition(".")[2] if isinstance(setting, str) else ""
    if name not in known:
        raise ConfigError(f"{key} is {setting!r}: a function, or one of {', '.join(known)}")
    return known[name]
