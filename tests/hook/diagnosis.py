"""From a training to its diagnosis without a server: what the hook said, as the health engine reads it."""

import inspect
from pathlib import Path

from gradwatch_server.health import Engine, Setup


def announce(recording):
    """An engine that knows a recording's streams, and none of their rows yet."""
    engine = Engine()
    for stream, table in recording.tables.items():
        engine.add_stream(
            stream,
            table["optimizer"],
            table["tensors"],
            table["scalars"],
            operations=table["operations"],
            setup=Setup.of(table),
        )
    return engine


def diagnose(recording):
    """The engine that was fed a recording's messages, in their order."""
    engine = announce(recording)
    for stream, messages in recording.rows.items():
        for m in messages:
            engine.feed_rows(
                stream,
                m["steps"],
                m["statistics"],
                m["scalars"],
                m["scalars_present"],
                operations=m["operations"],
                origins=m["origins"],
                assigned=m["assigned"],
            )
    for m in recording.columns:
        blocks = {name: m[name] for name in ("columns", "bad_rows", "n_bad_rows")}
        engine.feed_columns(m["stream"], m["tensor"], m["steps"], **blocks)
    for name, values in recording.logged_arrays():
        engine.feed_scalar(name, *values)
    if recording.states:
        engine.finish()
    return engine


KNOWN = (
    "batches",
    "blank",
    "clips",
    "codes",
    "contends",
    "contrasts",
    "dims",
    "end_of",
    "entering",
    "halved",
    "handicaps",
    "loses",
    "margin",
    "normalises",
    "one_step",
    "omits",
    "onward",
    "opposes",
    "outside",
    "pairs",
    "relabelled",
    "rescales",
    "scarce",
    "shifts",
    "truncates",
    "unbounded",
    "unconverted",
    "undropped",
    "unlabelled",
    "unnegated",
    "unreduced",
    "wants",
)
"""By which entries of ``slips`` are known that are none by themselves."""


def found_in(recording, field="slips"):
    """What all streams of a recording tell in a field of their tables; of slips those that are some."""
    found = [one for table in recording.tables.values() for one in table[field]]
    return [one for one in found if not any(name in one for name in KNOWN)]


def known_in(recording, name):
    """The entries of ``slips`` that have this field, of all streams."""
    return [one for table in recording.tables.values() for one in table["slips"] if name in one]


def find_line(marker, module):
    """The line of a module's source that ends in the comment ``# <marker>``."""
    lines = inspect.getsource(module).splitlines() if not isinstance(module, Path) else module.read_text().splitlines()
    (number,) = [i for i, line in enumerate(lines, 1) if line.rstrip().endswith(f"# {marker}")]
    return number
