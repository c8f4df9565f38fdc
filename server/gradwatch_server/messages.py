"""What a hook may say, checked field by field. Owns the shape of single messages; their order is `ingest`'s."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from gradwatch import protocol
from gradwatch.errors import ProtocolError
from gradwatch_server.errors import MessageError

__all__ = [
    "Capture",
    "Columns",
    "Frame",
    "Hello",
    "Rows",
    "Scalars",
    "State",
    "StreamTable",
    "Tensor",
    "Tensors",
    "read_frame",
    "read_hello",
]

CONFIG_LIMIT_BYTES = 256 * 1024
"""A run's config and environment are for reading; a larger one is data in the wrong place."""
TENSOR_LIMIT = 100_000
COLUMN_LIMIT = 10_000
MAX_STEP = 2**53 - 1
"""Beyond it a step is no exact number in the browser."""

Checked = TypeVar("Checked", bound=BaseModel)
Name = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
FiniteNumber = Annotated[float, Field(allow_inf_nan=False)]
Kind = Literal["gradient", "weight", "update", "activation", "backprop", "input", "slot", "operation"]


def _plain(value: Any) -> Any:
    """JSON's own types; a non-finite number becomes its name, so that the config still shows it."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "+inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise ValueError(f"{type(value).__name__} has no place in JSON")


def _read_map(value: Any) -> Any:
    if value is None:
        return {}
    plain = _plain(value)
    size = len(orjson.dumps(plain))
    if size > CONFIG_LIMIT_BYTES:
        raise ValueError(f"is {size} bytes of JSON, at most {CONFIG_LIMIT_BYTES} are kept")
    return plain


def _read_time(value: Any) -> Any:
    """ISO 8601 or unix seconds, to unix seconds."""
    if isinstance(value, str):
        moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    return value


PlainMap = Annotated[dict[str, Any], BeforeValidator(_read_map)]
Time = Annotated[float, BeforeValidator(_read_time), Field(ge=0, le=253402300799, allow_inf_nan=False)]
Worker = Annotated[int, Field(ge=0, le=2**31 - 1)]


class _Message(BaseModel):
    # Fields that a newer hook adds are ignored; the protocol's number says when that is no longer harmless.
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class HelloRun(_Message):
    """Who the run is."""

    run_id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$")]
    name: Name
    project: Name
    tags: Annotated[list[Name], Field(max_length=100)] = []
    config: PlainMap = {}
    started_at: Time
    environment: PlainMap = {}


class Hello(_Message):
    """The first message of a hook."""

    protocol: int
    run: HelloRun
    worker: Worker


class Excerpt(_Message):
    """Lines of the user's program, as they stand in the file."""

    first: Annotated[int, Field(ge=1)]
    lines: Annotated[list[Annotated[str, StringConstraints(max_length=4096)]], Field(max_length=64)]


class SourceLine(_Message):
    """A line of the user's program."""

    file: Annotated[str, StringConstraints(max_length=4096)]
    line: Annotated[int, Field(ge=0)] | None
    code: Annotated[str, StringConstraints(max_length=4096)] | None
    excerpt: Excerpt | None = None


class Tensor(_Message):
    """One watched tensor of a stream."""

    kind: Kind
    tensor: Name
    layer: Annotated[str, StringConstraints(max_length=1000)]
    variable: Annotated[str, StringConstraints(max_length=1000)] | None = None
    shape: list[int | None]
    dtype: Name
    n_elements: Annotated[int, Field(ge=0)] | None
    activation: Name | None = None
    replica: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    left_out: bool = False
    within: bool = False
    head: Name | None = None
    momentum: Annotated[float, Field(ge=0, le=1)] | None = None
    source: SourceLine | None = None


class NamedOperation(_Message):
    """An operation of the graph."""

    type: Name
    name: Name


class OperationInput(_Message):
    """What makes the input of an operation, and the constant in that."""

    type: Annotated[str, StringConstraints(max_length=100)]
    constant: FiniteNumber | None = None


class InnerOperation(_Message):
    """An operation in what another one calls."""

    type: Name
    source: SourceLine


class Operation(NamedOperation):
    """One risky operation of a stream's step."""

    layer: Annotated[str, StringConstraints(max_length=1000)] | None
    is_gradient: bool
    forward: NamedOperation | None
    source: SourceLine | None
    input: OperationInput | None = None
    dtype: Annotated[str, StringConstraints(max_length=100)] | None = None
    inside: Annotated[list[InnerOperation], Field(max_length=100)] | None = None


class ChainLink(NamedOperation):
    """An operation on the way from an origin to the gradients."""

    layer: Annotated[str, StringConstraints(max_length=1000)] | None
    is_gradient: bool
    n_nonfinite: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class OriginNumbers(_Message):
    """How near an origin, or the forward operation of one in the gradient, came to its singular point."""

    margin: FiniteNumber | None = None
    amplification: FiniteNumber | None = None
    n_singular: FiniteNumber | None = None
    n_in: FiniteNumber | None = None


class Origin(_Message):
    """The operation that made the first non-finite values of a bad step."""

    step: Annotated[int, Field(ge=0, le=MAX_STEP)]
    operation: Operation
    n_nonfinite: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    n_nonfinite_in: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    n_elements: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    chain: Annotated[list[ChainLink], Field(max_length=100)] = []
    numbers: OriginNumbers = OriginNumbers()


class Assigned(_Message):
    """What somebody else than the optimizer made of weights after a step."""

    step: Annotated[int, Field(ge=0, le=MAX_STEP)]
    left: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    source: SourceLine | None = None


class _Logged(_Message):
    seq: Annotated[int, Field(ge=0, le=MAX_STEP)]


class ScriptCall(_Message):
    """A call in the user's program, in its lines."""

    role: Name
    layer: Annotated[str, StringConstraints(max_length=1000)] | None = None
    n: Annotated[int, Field(ge=1)] = 1
    file: Annotated[str, StringConstraints(max_length=4096)]
    line: Annotated[int, Field(ge=0)]
    begins: Annotated[int, Field(ge=0)]
    lines: Annotated[list[Annotated[str, StringConstraints(max_length=4096)]], Field(min_length=1, max_length=64)]
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class Script(_Message):
    """What of the user's program made what is trained."""

    calls: Annotated[list[ScriptCall], Field(max_length=1000)] = []
    imports: Annotated[dict[Name, Name], Field(max_length=100)] = {}


def _read_source(value: Any) -> dict[str, Any] | None:
    return None if value is None else SourceLine.model_validate(value).model_dump()


def _read_script(value: Any) -> dict[str, Any]:
    return Script.model_validate(value).model_dump()


class Tensors(_Logged):
    """The table of a stream's tensors."""

    stream: Annotated[int, Field(ge=0, le=2**31 - 1)]
    optimizer: Name
    tensors: Annotated[list[dict[str, Any]], Field(max_length=TENSOR_LIMIT)]
    scalars: Annotated[list[Name], Field(max_length=1000)]
    operations: Annotated[list[dict[str, Any]], Field(max_length=TENSOR_LIMIT)] = []
    statistics: Annotated[list[Name], Field(max_length=100)] = list(protocol.FIRST_STATISTICS)
    untrained: Annotated[list[Name], Field(max_length=TENSOR_LIMIT)] = []
    untracked: Annotated[list[Name], Field(max_length=TENSOR_LIMIT)] = []
    broken: Annotated[list[Name], Field(max_length=TENSOR_LIMIT)] | None = None
    settings: Annotated[dict[Name, bool | int | float | Name], Field(max_length=100)] = {}
    broadcasts: Annotated[list[dict[str, Any]], Field(max_length=100)] = []
    cuts: Annotated[list[dict[str, Any]], Field(max_length=100)] = []
    reshapes: Annotated[list[dict[str, Any]], Field(max_length=100)] = []
    slips: Annotated[list[dict[str, Any]], Field(max_length=100)] = []
    traced: Annotated[list[dict[str, Any]], Field(max_length=100)] = []
    alike: Annotated[list[Name], Field(max_length=100)] = []
    script: Annotated[dict[str, Any], BeforeValidator(_read_script)] = {}
    from_tape: bool = False
    eager: bool = False
    loss_source: Annotated[dict[str, Any] | None, BeforeValidator(_read_source)] = None
    cleared_source: Annotated[dict[str, Any] | None, BeforeValidator(_read_source)] = None


class Rows(_Logged):
    """Rows of a stream; the blocks are read by `gradwatch.protocol.decode_rows`."""

    stream: Annotated[int, Field(ge=0)]
    n_rows: Annotated[int, Field(ge=0)]
    n_lost: Annotated[int, Field(ge=0, le=MAX_STEP)]
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    n_skipped: Annotated[int, Field(ge=0, le=MAX_STEP)]
    origins: Annotated[list[dict[str, Any]], Field(max_length=1000)] = []
    assigned: Annotated[list[dict[str, Any]], Field(max_length=1000)] = []


class Scalars(_Logged):
    """One scalar over some steps."""

    name: Name
    n_rows: Annotated[int, Field(ge=0)]


class Columns(_Logged):
    """The feature columns and bad rows of one input over some steps."""

    stream: Annotated[int, Field(ge=0)]
    tensor: Name
    n_rows: Annotated[int, Field(ge=0)]
    n_columns: Annotated[int, Field(ge=0, le=COLUMN_LIMIT)]
    n_lost: Annotated[int, Field(ge=0, le=MAX_STEP)] = 0


class Capture(_Logged):
    """How often full statistics are taken from a step on, and of which kinds."""

    step: Annotated[int, Field(ge=0, le=MAX_STEP)]
    period: Annotated[int, Field(ge=1, le=MAX_STEP)]
    every: Annotated[int, Field(ge=0, le=MAX_STEP)]
    kinds: Annotated[list[Kind], Field(max_length=100)]
    until_step: Annotated[int, Field(ge=0, le=MAX_STEP)] | None
    cost: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None
    reason: Literal["budget", "control"]


class State(_Logged):
    """The run's end."""

    state: Literal["finished", "crashed"]
    error: Annotated[str, StringConstraints(max_length=65536)] | None
    last_step: Annotated[int, Field(ge=-1, le=MAX_STEP)] | None


@dataclass(frozen=True)
class StreamTable:
    """What must be known of a stream to read its rows.

    Attributes:
        tensors: the tensor table, as in the ``tensors`` message.
        scalars: the scalars' names.
        optimizer: the optimizer's name.
        last_step: the step of the newest row, -1 before the first.
        operations: the risky operations, as in the ``tensors`` message.
        statistics: the names of the statistics in its rows.
    """

    tensors: list[dict[str, Any]]
    scalars: list[str]
    optimizer: str
    last_step: int = -1
    operations: list[dict[str, Any]] = field(default_factory=list)
    statistics: list[str] = field(default_factory=lambda: list(protocol.FIRST_STATISTICS))

    @classmethod
    def of(cls, fields: Tensors) -> StreamTable:
        """The table that a ``tensors`` message announces."""
        return cls(
            fields.tensors,
            fields.scalars,
            fields.optimizer,
            operations=fields.operations,
            statistics=fields.statistics,
        )

    @property
    def replica(self) -> int | None:
        """The replica whose own gradients these are, before the reduction; None: what is applied."""
        return next((tensor.get("replica") for tensor in self.tensors), None)

    def decode(self, message: protocol.Message) -> protocol.Message:
        """Replaces the raw blocks of a ``rows`` message of this stream by arrays."""
        return protocol.decode_rows(
            message,
            n_tensors=len(self.tensors),
            n_scalars=len(self.scalars),
            n_operations=len(self.operations),
            statistics=self.statistics,
        )


@dataclass(frozen=True)
class Frame:
    """One logged message, checked.

    Attributes:
        seq: its place in the log.
        type: its type.
        data: its bytes as they came.
        fields: the checked fields.
        arrays: the decoded blocks of ``rows``, ``scalars`` and ``columns``.
        scalar_names: for ``rows``, the names of the scalars' columns; none for a replica's own, which stand for no run.
    """

    seq: int
    type: str
    data: bytes
    fields: Any
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    scalar_names: tuple[str, ...] = ()


_MODELS: dict[str, type[_Logged]] = {
    "tensors": Tensors,
    "rows": Rows,
    "scalars": Scalars,
    "columns": Columns,
    "capture": Capture,
    "state": State,
}
_ROW_BLOCKS = ("steps", "times", "statistics", "scalars", "scalars_present", "operations")
_COLUMN_BLOCKS = ("steps", "times", "columns", "bad_rows", "n_bad_rows")
_TABLES: dict[str, TypeAdapter[Any]] = {
    "tensors": TypeAdapter(list[Tensor]),
    "operations": TypeAdapter(list[Operation]),
}
_ORIGINS = TypeAdapter(list[Origin])
_ASSIGNED = TypeAdapter(list[Assigned])


def read_hello(message: protocol.Message) -> Hello:
    """Checks a ``hello``.

    Raises:
        MessageError: another message, another protocol version, or a field that is not what the contract says.
    """
    if message["type"] != "hello":
        text = f"Expected 'hello' as the first message, got {message['type']!r}."
        raise MessageError("expected_hello", text, {"found": message["type"]})
    found = message.get("protocol")
    if found != protocol.PROTOCOL_VERSION:
        newer = isinstance(found, int) and found > protocol.PROTOCOL_VERSION
        raise MessageError(
            "unsupported_protocol",
            f"The hook speaks protocol {found!r}, this server {protocol.PROTOCOL_VERSION}. "
            f"Upgrade gradwatch where the {'server' if newer else 'training'} runs.",
            {"found": found if isinstance(found, int) else None, "expected": protocol.PROTOCOL_VERSION},
        )
    return _check(Hello, message)


def read_frame(message: protocol.Message, data: bytes, streams: Mapping[int, StreamTable]) -> Frame:
    """Checks a logged message.

    Args:
        message: the decoded message.
        data: its bytes as they came.
        streams: the stream tables known so far.

    Returns:
        The frame, with its blocks as arrays.

    Raises:
        MessageError: an unknown type, a field that is not what the contract says, rows of a stream without a tensor
            table, or steps that do not increase.
    """
    kind = message["type"]
    if kind == "hello":
        raise MessageError("unexpected_hello", "A second 'hello' on one connection; open a new one instead.")
    if kind not in _MODELS:
        text = f"Unknown message type {kind!r}; expected one of {', '.join(_MODELS)}."
        raise MessageError("unknown_type", text, {"found": kind[:200], "known": list(_MODELS)})
    fields = _check(_MODELS[kind], message)
    arrays: dict[str, npt.NDArray[Any]] = {}
    try:
        if isinstance(fields, Tensors):
            _check_tensors(fields, streams)
        elif isinstance(fields, Rows):
            arrays = _read_rows(fields, message, streams)
            _check_table("origins", _ORIGINS, fields.origins, kind)
            _check_table("assigned", _ASSIGNED, fields.assigned, kind)
        elif isinstance(fields, Scalars):
            blocks = protocol.decode_scalars(message)
            arrays = {name: blocks[name] for name in ("steps", "times", "values")}
            _check_steps(kind, arrays["steps"])
        elif isinstance(fields, Columns):
            arrays = _read_columns(fields, message, streams)
    except ProtocolError as error:
        raise MessageError("invalid_message", f"{error}.", {"type": kind, "seq": fields.seq}) from error
    names: tuple[str, ...] = ()
    if isinstance(fields, Rows) and streams[fields.stream].replica is None:
        names = tuple(streams[fields.stream].scalars)
    return Frame(fields.seq, kind, data, fields, arrays, names)


def _check(model: type[Checked], message: protocol.Message) -> Checked:
    try:
        return model.model_validate(message)
    except ValidationError as error:
        problems = [
            {"field": ".".join(str(part) for part in item["loc"]), "problem": item["msg"]}
            for item in error.errors(include_url=False, include_context=False, include_input=False)[:20]
        ]
        first = problems[0]
        raise MessageError(
            "invalid_message",
            f"{message['type']}: field {first['field'] or '(whole)'}: {first['problem']}. See the contract's table.",
            {"type": message["type"], "problems": problems},
        ) from error


def _check_tensors(fields: Tensors, streams: Mapping[int, StreamTable]) -> None:
    for name, table in _TABLES.items():
        _check_table(name, table, getattr(fields, name))
    names = [(tensor["kind"], tensor["tensor"]) for tensor in fields.tensors]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MessageError("invalid_message", f"tensors: {twice[1]!r} of kind {twice[0]!r} is listed twice.")
    known = streams.get(fields.stream)
    mine = (fields.tensors, fields.scalars, fields.operations, fields.statistics)
    if known and (known.tensors, known.scalars, known.operations, known.statistics) != mine:
        raise MessageError(
            "stream_redefined",
            f"Stream {fields.stream} already has another tensor table; give the new one another stream number.",
            {"stream": fields.stream},
        )


def _check_table(name: str, table: TypeAdapter[Any], entries: list[dict[str, Any]], kind: str = "tensors") -> None:
    # Apart from the message's own check, so that what is stored and fed on is what came, not a copy of it in classes.
    try:
        table.validate_python(entries)
    except ValidationError as error:
        item = error.errors()[0]
        where = ".".join([name, *(str(part) for part in item["loc"])])
        raise MessageError(
            "invalid_message",
            f"{kind}: field {where}: {item['msg']}.",
            {"type": kind, "problems": [{"field": where, "problem": item["msg"]}]},
        ) from error


def _table_of(fields: Rows | Columns, streams: Mapping[int, StreamTable]) -> StreamTable:
    table = streams.get(fields.stream)
    if table is None:
        raise MessageError(
            "unknown_stream",
            f"{type(fields).__name__} of stream {fields.stream} came before its 'tensors' message.",
            {"stream": fields.stream, "known": sorted(streams)},
        )
    return table


def _read_rows(
    fields: Rows, message: protocol.Message, streams: Mapping[int, StreamTable]
) -> dict[str, npt.NDArray[Any]]:
    table = _table_of(fields, streams)
    blocks = table.decode(message)
    arrays = {name: blocks[name] for name in _ROW_BLOCKS}
    _check_steps("rows", arrays["steps"])
    steps = arrays["steps"]
    if len(steps) and (steps[0] <= table.last_step or (np.diff(steps) <= 0).any()):
        raise MessageError(
            "steps_not_increasing",
            f"Rows of stream {fields.stream}: steps {steps[0]}..{steps[-1]} do not increase from {table.last_step} on.",
            {"stream": fields.stream, "last_step": table.last_step},
        )
    return arrays


def _read_columns(
    fields: Columns, message: protocol.Message, streams: Mapping[int, StreamTable]
) -> dict[str, npt.NDArray[Any]]:
    tensors = _table_of(fields, streams).tensors
    names = [tensor["tensor"] for tensor in tensors if tensor["kind"] == "input"]
    if fields.tensor not in names:
        raise MessageError(
            "invalid_message",
            f"columns: stream {fields.stream} has no input {fields.tensor!r}; its tensor table has {names}.",
            {"type": "columns", "stream": fields.stream, "tensor": fields.tensor},
        )
    blocks = protocol.decode_columns(message)
    arrays = {name: blocks[name] for name in _COLUMN_BLOCKS}
    _check_steps("columns", arrays["steps"])
    if (np.diff(arrays["steps"]) <= 0).any():
        raise MessageError("steps_not_increasing", f"Columns of {fields.tensor!r}: their steps do not increase.")
    return arrays


def _check_steps(kind: str, steps: npt.NDArray[Any]) -> None:
    if len(steps) and (steps.min() < 0 or steps.max() > MAX_STEP):
        raise MessageError(
            "invalid_message",
            f"{kind}: steps from {steps.min()} to {steps.max()}, expected 0 to {MAX_STEP}.",
            {"type": kind},
        )
