"""The codec: what goes in comes out, and what is broken is refused with words."""

from __future__ import annotations

from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradwatch import protocol
from gradwatch.errors import GradwatchError, ProtocolError
from gradwatch.protocol import decode, decode_rows, decode_scalars, encode, rows_message, scalars_message

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
    | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)
ANY_FLOAT32 = st.floats(width=32)


def blocks(*, dtype: Any, shape: tuple[int, ...], elements: Any) -> Any:
    return hnp.arrays(dtype, shape, elements=elements)


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    n, n_tensors, n_scalars = draw(st.integers(0, 5)), draw(st.integers(0, 4)), draw(st.integers(0, 3))
    return {
        "seq": draw(st.integers(0, 2**53)),
        "stream": draw(st.integers(0, 100)),
        "steps": draw(blocks(dtype=np.int64, shape=(n,), elements=st.integers(0, 2**63 - 1))),
        "times": draw(blocks(dtype=np.float64, shape=(n,), elements=st.floats())),
        "statistics": draw(blocks(dtype=np.float32, shape=(n, n_tensors, 12), elements=ANY_FLOAT32)),
        "scalars": draw(blocks(dtype=np.float32, shape=(n, n_scalars), elements=ANY_FLOAT32)),
        "scalars_present": draw(blocks(dtype=np.uint8, shape=(n, n_scalars), elements=st.integers(0, 1))),
        "n_lost": draw(st.integers(0, 2**53)),
        "cost": draw(st.none() | st.floats(0, 1)),
        "n_skipped": draw(st.integers(0, 10)),
    }


def one_row(**changes: Any) -> dict[str, Any]:
    message = rows_message(
        seq=3,
        stream=0,
        steps=np.array([7]),
        times=np.array([1.5]),
        statistics=np.zeros((1, 2, 12), np.float32),
        scalars=np.zeros((1, 1), np.float32),
        scalars_present=np.ones((1, 1), np.uint8),
        n_lost=0,
        cost=0.01,
    )
    return message | changes


@given(fields=st.dictionaries(st.text(max_size=5), PLAIN, max_size=5), kind=st.text(max_size=10))
def test_a_message_comes_out_as_it_went_in(fields: dict[str, Any], kind: str) -> None:
    message = fields | {"type": kind}
    assert decode(encode(message)) == message


@given(fields=rows())
def test_rows_come_out_as_they_went_in(fields: dict[str, Any]) -> None:
    _, n_tensors, _ = fields["statistics"].shape
    message = decode(encode(rows_message(**fields)))
    assert message["type"] == "rows"
    assert message["n_rows"] == len(fields["steps"])
    decoded = decode_rows(message, n_tensors=n_tensors, n_scalars=fields["scalars"].shape[1])
    for name in ("steps", "times", "statistics", "scalars"):
        # Bit by bit: a NaN keeps its place, and -0.0 its sign.
        assert decoded[name].tobytes() == fields[name].tobytes()
        assert decoded[name].shape == fields[name].shape
        assert decoded[name].dtype == fields[name].dtype
    assert decoded["scalars_present"].dtype == bool
    np.testing.assert_array_equal(decoded["scalars_present"], fields["scalars_present"].astype(bool))
    for name in ("seq", "stream", "n_lost", "cost", "n_skipped"):
        assert decoded[name] == fields[name]


@given(data=st.data(), n=st.integers(0, 5), name=st.text(st.characters(exclude_categories=["Cs"]), max_size=10))
def test_scalars_come_out_as_they_went_in(data: st.DataObject, n: int, name: str) -> None:
    steps = data.draw(blocks(dtype=np.int64, shape=(n,), elements=st.integers(-(2**63), 2**63 - 1)))
    times = data.draw(blocks(dtype=np.float64, shape=(n,), elements=st.floats()))
    values = data.draw(blocks(dtype=np.float32, shape=(n,), elements=ANY_FLOAT32))
    sent = scalars_message(seq=1, name=name, steps=steps, times=times, values=values)
    decoded = decode_scalars(decode(encode(sent)))
    assert (decoded["seq"], decoded["name"], decoded["n_rows"]) == (1, name, n)
    for found, given_ in ((decoded["steps"], steps), (decoded["times"], times), (decoded["values"], values)):
        assert found.tobytes() == given_.tobytes()


def test_blocks_are_little_endian_and_contiguous_whatever_came() -> None:
    statistics = np.arange(48, dtype=">f8").reshape(2, 12, 2).transpose(0, 2, 1)
    message = rows_message(
        seq=0,
        stream=0,
        steps=np.array([1, 2], ">i4"),
        times=np.array([1, 2], np.float32),
        statistics=statistics,
        scalars=np.zeros((2, 0)),
        scalars_present=np.zeros((2, 0), bool),
        n_lost=0,
        cost=None,
    )
    assert message["steps"] == b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
    decoded = decode_rows(message, n_tensors=2, n_scalars=0)
    np.testing.assert_array_equal(decoded["statistics"], statistics.astype(np.float32))
    np.testing.assert_array_equal(decoded["times"], [1.0, 2.0])


@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_protocol_error(data: bytes) -> None:
    try:
        message = decode(data)
    except ProtocolError:
        return
    assert isinstance(message["type"], str)


@given(data=st.data(), size=st.integers(1, 50))
def test_a_message_cut_short_is_refused(data: st.DataObject, size: int) -> None:
    whole = encode(one_row())
    with pytest.raises(ProtocolError):
        decode(whole[: data.draw(st.integers(0, len(whole) - size))])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('{"type": "rows"}', 'expected a binary msgpack message, got text starting \'{"type": "rows"}\''),
        (b"", "expected a msgpack map, got 0 bytes that do not decode"),
        (b"\xc1", "expected a msgpack map, got 1 bytes that do not decode"),
        (b"\xa1\xff", "that do not decode"),
        (msgpack.packb({1: 2}), "that do not decode"),
        (encode({"type": "ack"}) + b"\0", "that do not decode"),
        (b"\x91" * 5000, "that do not decode"),
        (msgpack.packb([1]), "expected a map with a text 'type', got list"),
        (msgpack.packb({"seq": 1}), "expected a map with a text 'type', got dict"),
        (msgpack.packb({"type": 1}), "expected a map with a text 'type', got dict"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes | str, words: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        decode(data)
    assert words in str(caught.value)
    assert isinstance(caught.value, GradwatchError)


@pytest.mark.parametrize("value", [object(), 2**64, np.float32(1), {1, 2}, "\ud800"])
def test_what_msgpack_does_not_know_is_refused(value: Any) -> None:
    with pytest.raises(ProtocolError, match="cannot encode a 'state' message: "):
        encode({"type": "state", "error": value})


def test_a_map_that_holds_itself_is_refused() -> None:
    message: dict[str, Any] = {"type": "state"}
    message["error"] = message
    with pytest.raises(ProtocolError, match="cannot encode a 'state' message: "):
        encode(message)


@pytest.mark.parametrize("n_rows", [None, -1, 1.0, True, "1"])
def test_a_count_that_is_none(n_rows: Any) -> None:
    with pytest.raises(ProtocolError, match="rows: expected n_rows to be a count, got "):
        decode_rows(one_row(n_rows=n_rows), n_tensors=2, n_scalars=1)
    with pytest.raises(ProtocolError, match="scalars: expected n_rows to be a count, got "):
        decode_scalars({"type": "scalars", "n_rows": n_rows})


@pytest.mark.parametrize("name", ["steps", "times", "statistics", "scalars", "scalars_present"])
def test_a_block_that_is_missing_or_of_another_type_or_size(name: str) -> None:
    message = one_row()
    for wrong, found in ((None, "NoneType"), ([1], "list"), ("text", "str")):
        with pytest.raises(ProtocolError, match=f"rows: expected {name} to be bytes, got {found}"):
            decode_rows(message | {name: wrong}, n_tensors=2, n_scalars=1)
    for wrong in (message[name] + b"\0", message[name][:-1]):
        with pytest.raises(ProtocolError, match=rf"rows: expected {name} \[1.*\] to be \d+ bytes, got {len(wrong)}"):
            decode_rows(message | {name: wrong}, n_tensors=2, n_scalars=1)


def test_rows_of_another_table_are_refused() -> None:
    with pytest.raises(ProtocolError, match=r"expected statistics \[1, 3, 12\] to be 144 bytes, got 96"):
        decode_rows(one_row(), n_tensors=3, n_scalars=1)
    with pytest.raises(ProtocolError, match=r"expected scalars \[1, 2\] to be 8 bytes, got 4"):
        decode_rows(one_row(), n_tensors=2, n_scalars=2)


def test_a_huge_count_is_refused_before_anything_is_allocated() -> None:
    with pytest.raises(ProtocolError, match="expected steps"):
        decode_rows(one_row(n_rows=2**62), n_tensors=2, n_scalars=1)


@pytest.mark.parametrize("name", ["steps", "times", "values"])
def test_a_scalars_block_of_another_size(name: str) -> None:
    message = scalars_message(seq=0, name="loss", steps=np.arange(2), times=np.zeros(2), values=np.zeros(2, np.float32))
    with pytest.raises(ProtocolError, match=rf"scalars: expected {name} \[2\] to be"):
        decode_scalars(message | {name: b"\0"})


def test_decoding_leaves_the_message_as_it_was() -> None:
    message = one_row()
    before = dict(message)
    decode_rows(message, n_tensors=2, n_scalars=1)
    assert message == before


def test_the_names_of_the_contract() -> None:
    assert protocol.STATISTICS == (
        "norm", "min", "max", "mean", "std", "n_nan", "n_pos_inf", "n_neg_inf", "n_zero", "n_elements",
        "n_saturated", "cosine_distance",
    )  # fmt: skip
    assert protocol.KINDS == ("gradient", "weight", "update", "activation", "backprop", "input", "slot", "operation")
    assert all(hasattr(protocol, name) for name in protocol.__all__)
