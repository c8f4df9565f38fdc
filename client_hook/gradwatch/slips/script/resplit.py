"""Data sets for training and validation that are parts of one, and share samples all the same. Runs none of them.

One that is shuffled anew whenever it is gone through has other samples in front each time; folders that are divided
twice by the same word, or by two seeds, give the same files to both. Owns no state.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import running_fit, source_at
from gradwatch.slips.script.fed import chain_of
from gradwatch.syntax import last_name, names_in, nodes_of, nodes_of_type, stored_names

__all__ = ["find_resplit"]

BUFFER_MIN: Final = 0.1
"""Of all samples, in a shuffle: one that holds fewer mixes few beyond the place of the cut."""
DRAWING: Final = frozenset(f"{kind}_dataset_from_directory" for kind in ("audio", "image", "text"))
"""What divides the files of a folder by a random order."""
LISTING: Final = DRAWING | {"flow_from_directory"}


def find_resplit(files: Sequence[str]) -> list[dict[str, Any]]:
    """How the data sets that the running `fit` is given for training and validation come to share samples.

    Args:
        files: the user's files that are looked at.

    Returns:
        At most one of each, type ``Data``, no name, no layer, the source line, and ``resplit``: ``shuffle`` where both
        are cut, by `take` and `skip`, of one that is shuffled anew each time; ``subset`` where both are the same part
        of a folder, ``seed`` where the files are divided by two orders.
    """
    with tf.init_scope():  # a step may be being traced
        shuffled = list(_shuffled(files))
    found = [*shuffled, *(one for file in files for one in _listed(file))]
    slip = {"type": "Data", "name": "", "layer": ""}
    first = {how: source_at([(file, line)]) for how, file, line in reversed(found)}
    return [slip | {"source": source, "resplit": how} for how, source in first.items()]


def _shuffled(files: Sequence[str]) -> Iterator[tuple[str, str, int]]:
    fit = running_fit()
    trained, held = (None, None) if fit is None else (fit.known.get("x"), fit.known.get("validation_data"))
    if fit is None or not fit.file or not all(isinstance(one, tf.data.Dataset) for one in (trained, held)):
        return
    if _share_shuffle(chain_of(trained), chain_of(held)):
        calls = [(one, node) for one in files for node in nodes_of_type(one, ast.Call)]
        cuts = [(one, node.lineno) for one, node in calls if last_name(node) == "skip"]
        yield "shuffle", *(cuts[0] if len(cuts) == 1 else (fit.file, fit.line))


def _share_shuffle(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether of two chains one takes, and the other skips, of a shuffle that is drawn anew each time."""
    for place, part in enumerate(one):
        places = [i for i, own in enumerate(other) if own is part]
        if places and "Shuffle" in type(part).__name__ and getattr(part, "_reshuffle_each_iteration", None):
            cuts = [_cut_in(chain) for chain in (one[:place], other[: places[0]])]
            return sorted(cuts) == ["Skip", "Take"] and _mixes(part)
    return False


def _cut_in(chain: Sequence[Any]) -> str:
    """Whether a chain takes or skips, before it keeps what it has seen; empty for neither."""
    for part in reversed(chain):
        name = type(part).__name__
        if "Cache" in name or "Snapshot" in name:
            return ""
        for word in ("Take", "Skip"):
            if word in name and "While" not in name:
                return word
    return ""


def _mixes(shuffle: Any) -> bool:
    n_rows = int(shuffle.cardinality())
    n_buffer = int(tf.get_static_value(shuffle._buffer_size) or 0)
    return n_rows < 0 or n_buffer >= BUFFER_MIN * n_rows


def _listed(file: str) -> Iterator[tuple[str, str, int]]:
    nodes = nodes_of(file)
    made: dict[str, ast.Call] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and last_name(node.value) in LISTING:
            made |= dict.fromkeys(stored_names(node), node.value)
    for call in (node for node in nodes if made and isinstance(node, ast.Call) and last_name(node) == "fit"):
        named = {one.arg: one.value for one in call.keywords}
        own, held = [*call.args[:1], *filter(None, [named.get("x")])], named.get("validation_data")
        if len(own) != 1 or held is None:
            continue
        trained = [made[one.id] for one in names_in(own[0]) if one.id in made]
        validated = [made[one.id] for one in names_in(held) if one.id in made]
        if len(trained) == len(validated) == 1 and trained[0] is not validated[0]:
            how = _overlap(trained[0], validated[0])
            if how:
                yield how, file, validated[0].lineno


def _overlap(one: ast.Call, other: ast.Call) -> str:
    """How two calls that list one folder give the same files; empty where they do not."""
    given = [{key.arg: ast.unparse(key.value) for key in call.keywords} for call in (one, other)]
    folders = [
        ast.unparse(call.args[0]) if call.args else named.get("directory")
        for call, named in zip((one, other), given, strict=True)
    ]
    subsets, seeds = ([named.get(key) for named in given] for key in ("subset", "seed"))
    if last_name(one) != last_name(other) or folders[0] is None or folders[0] != folders[1] or None in subsets:
        return ""
    if subsets[0] == subsets[1]:
        return "subset" if subsets[0] in ("'training'", "'validation'") else ""
    is_drawn = last_name(one) in DRAWING and all(named.get("shuffle") != "False" for named in given)
    is_known = all(seed is not None and seed.isdigit() for seed in seeds)
    return "seed" if is_drawn and is_known and seeds[0] != seeds[1] else ""
