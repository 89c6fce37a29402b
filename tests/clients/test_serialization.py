"""Keys and values as bytes: every kind there and back, and what each refuses."""

import re

import pytest

from kafkalearn.clients.serialization import deserializer_of, serialize, serializer_of
from kafkalearn.errors import ConfigError, SerializationError


@pytest.mark.parametrize(
    ("kind", "value", "data"),
    [
        ("String", "né", b"n\xc3\xa9"),
        ("String", "", b""),
        ("ByteArray", b"\x00\xff", b"\x00\xff"),
        ("Integer", 258, b"\x00\x00\x01\x02"),
        ("Integer", -(2**31), b"\x80\x00\x00\x00"),
        ("Long", -1, b"\xff" * 8),
        ("Long", 2**63 - 1, b"\x7f" + b"\xff" * 7),
    ],
)
@pytest.mark.parametrize("package", ["", "org.apache.kafka.common.serialization."])
def test_each_kind_goes_there_and_back(kind, value, data, package):
    """Big-endian as in Java; the class may be named with its package."""
    write = serializer_of(f"{package}{kind}Serializer", "value_serializer")
    read = deserializer_of(f"{package}{kind}Deserializer", "value_deserializer")
    assert serialize(write, value, what="the value") == data
    assert read(data) == value


@pytest.mark.parametrize(
    ("kind", "value", "sentence"),
    [
        ("String", 5, "the value is 5: a int, where text is wanted"),
        ("ByteArray", "text", "the value is 'text': a str, where bytes are wanted"),
        ("Integer", 2**31, "the value is 2147483648: int too big to convert"),
        ("Long", "1", "the value is '1': 'str' object has no attribute 'to_bytes'"),
    ],
)
def test_a_value_of_another_kind_is_refused(kind, value, sentence):
    """The sentence shows the value."""
    write = serializer_of(f"{kind}Serializer", "value_serializer")
    with pytest.raises(SerializationError, match=f"^{re.escape(sentence)}$"):
        serialize(write, value, what="the value")


@pytest.mark.parametrize(
    ("kind", "data"),
    [("String", b"\xff"), ("Integer", b"\x00" * 8), ("Integer", b""), ("Long", b"\x00" * 4)],
)
def test_bytes_of_another_kind_cannot_be_read(kind, data):
    """Neither text that is no UTF-8 nor a number of another length."""
    with pytest.raises(ValueError, match=r"codec can't decode|bytes, where \d are wanted"):
        deserializer_of(f"{kind}Deserializer", "value_deserializer")(data)


def test_nothing_stays_nothing():
    """None is no value to a serializer: it is a tombstone."""
    assert serialize(pytest.fail, None, what="the value") is None


def test_functions_are_taken_as_they_are():
    """What they raise becomes a SerializationError with their words as its cause."""
    assert serializer_of(str.encode, "key_serializer") is str.encode
    assert deserializer_of(bytes.decode, "key_deserializer") is bytes.decode

    def refuse(value):
        raise LookupError("no schema")

    with pytest.raises(SerializationError, match=r"^the key is 7: no schema$") as caught:
        serialize(refuse, 7, what="the key")
    assert isinstance(caught.value.__cause__, LookupError)


def test_long_values_are_cut_in_sentences():
    """An error is no place for a megabyte."""
    with pytest.raises(SerializationError) as caught:
        serialize(int.to_bytes, "x" * 1_000, what="the value")
    assert str(caught.value).startswith(f"the value is '{'x' * 79}: ")


@pytest.mark.parametrize("setting", ["StringDeserializer", "string", 5, None])
def test_other_serializers_are_not_known(setting):
    """The sentence names the key, the value and those there are; a deserializer is none."""
    known = "StringSerializer, ByteArraySerializer, IntegerSerializer, LongSerializer"
    sentence = f"key_serializer is {setting!r}: a function, or one of {known}"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        serializer_of(setting, "key_serializer")


def test_a_serializer_is_no_deserializer():
    """The sentence names those there are."""
    with pytest.raises(ConfigError, match="or one of StringDeserializer, ByteArrayDeserializer"):
        deserializer_of("StringSerializer", "key_deserializer")
