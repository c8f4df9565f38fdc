"""Verdicts on NaN and Inf that enter with the data, or begin in a layer's output."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from gradwatch_server.health.episode import NonFinite, Phase
from gradwatch_server.health.finding import Finding
from gradwatch_server.health.input_column import InputRecord
from gradwatch_server.health.operation_table import Operation
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.unit import RECTIFYING
from gradwatch_server.health.verdict.advice_operation import advise_masked_too_late, advise_operation
from gradwatch_server.health.verdict.advice_witness import advise_activation, advise_input
from gradwatch_server.health.verdict.breakage import doubt, make_finding, say_counts, say_word
from gradwatch_server.health.verdict.operation import say_place, say_trouble
from gradwatch_server.health.verdict.scene import NAMES_LIMIT, Scene
from gradwatch_server.health.verdict.spelling import list_names, say_count, say_number, say_step

__all__ = ["say_backprop", "tell_activation", "tell_input"]

_NOUNS: Final = {"input": "inputs", "target": "labels", "sample_weight": "sample weights"}


def tell_input(lead: NonFinite, table: TensorTable, scene: Scene) -> Finding:
    """The finding of an incident that begins with what enters the step."""
    broken = [int(place) for place in np.flatnonzero(lead.counts.sum(axis=1) > 0)]
    # Of several the features tell most.
    place = min(broken, key=lambda p: (not table.names[table.input[p]].startswith("input"), p))
    name = table.names[table.input[place]]
    record = scene.input_record(lead, name)
    where = _say_columns(record)
    title = f"{_say_name(name, len(broken))} held {say_word(lead.counts[[place]])} at {say_step(lead.first_step)}"
    title = title.replace("infinite", "infinite values") + (f" in {where}" if where else "")
    title += _say_consequence(scene)
    summary = (
        f"The batch's {name} held {say_counts(lead.counts[place])} among {say_count(lead.sizes[place], 'element')} at "
        f"{say_step(lead.first_step)}"
    )
    if record is not None and record.step == lead.first_step:
        summary += f", in {_say_rows(record)}"
    if lead.finite_step >= 0:
        summary += f"; it was finite until {say_step(lead.finite_step)}"
    mended = _mended_behind(lead, scene)
    if mended is not None:
        summary += f". The outputs of the layers up to {mended} were broken too; after it they were finite again"
    if scene.is_loss_finite:
        summary += f"; the loss was {say_number(scene.loss.value or 0.0)}"
    return make_finding(
        lead,
        scene,
        "nonfinite_input",
        title,
        summary + ".",
        hypotheses=advise_input(lead, scene, name, record, mended),
        tensor=name,
        share=float(lead.counts[place].sum() / max(lead.sizes[place], 1.0)),
        n_tensors=len(broken),
        tensors=[table.names[table.input[p]] for p in broken[:NAMES_LIMIT]],
        mended_behind=mended,
        **_column_evidence(record),
    )


def tell_activation(lead: NonFinite, table: TensorTable, scene: Scene) -> Finding:
    """The finding of an incident that begins in a layer's output."""
    is_broken = lead.counts.sum(axis=1) > 0
    place = int(np.flatnonzero(is_broken)[0])
    column = int(table.activation[place])
    before = np.flatnonzero(lead.looked_at[:place])
    previous = table.names[table.activation[int(before[-1])]] if len(before) else None
    is_fed_finite = len(table.input) > 0
    layer, word = table.layer_of(column), say_word(lead.counts[[place]])
    title = f"The output of {layer} became {word} at {say_step(lead.first_step)}"
    if lead.is_first_row:
        title = f"The output of {layer} was {word} from the first step on ({say_step(lead.first_step)})"
    summary = (
        f"At {say_step(lead.first_step)} the output of {table.names[column]} held {say_counts(lead.counts[place])} "
        f"among {say_count(lead.sizes[place], 'element')}"
    )
    if previous is not None:
        summary += f", but the output of {previous} before it was finite"
    elif is_fed_finite:
        summary += ", but the inputs were finite"
    culprit = scene.culprit if scene.culprit is not None and not scene.culprit.is_gradient else None
    hypotheses = advise_activation(
        lead, scene, dtype=table.dtypes[column], is_fed_finite=is_fed_finite, is_first=previous is None
    )
    if culprit is not None and scene.account is not None:
        title += f": {say_trouble(scene.account, culprit)}{_say_other_place(culprit, layer)}"
        hypotheses = advise_operation(scene.account, culprit) + doubt(hypotheses)
        if scene.is_loss_finite and not _is_lost_in_relu(lead, table):
            hypotheses.insert(0, advise_masked_too_late(culprit))
    elif previous is not None:
        title += f" while {previous} before it was finite"
    return make_finding(
        lead,
        scene,
        "nonfinite_activation",
        title,
        summary + ".",
        hypotheses=hypotheses,
        culprit=culprit,
        layer=layer,
        tensor=table.names[column],
        share=float(lead.counts[place].sum() / max(lead.sizes[place], 1.0)),
        n_tensors=int(is_broken.sum()),
        n_tensors_finite=int((lead.looked_at & ~is_broken).sum()),
        previous=previous,
        function=table.functions[column],
        dtype=table.dtypes[column],
    )


def _is_lost_in_relu(lead: NonFinite, table: TensorTable) -> bool:
    """Whether the first output that is finite behind those that are not is that of a relu, which makes 0 of NaN."""
    is_broken = lead.counts.sum(axis=1) > 0
    last = int(np.flatnonzero(is_broken)[-1])
    behind = [int(place) for place in np.flatnonzero(lead.looked_at) if place > last]
    return bool(behind) and table.functions[table.activation[behind[0]]] in RECTIFYING


def say_backprop(lead: NonFinite, scene: Scene) -> str | None:
    """Between which layers the backward pass broke, as far as the gradients of layers' outputs tell."""
    episode = next((e for e in scene.broken(Phase.BACKPROP) if e.first_step == lead.first_step), None)
    if episode is None or episode.table is None or episode.stream != lead.stream:
        return None
    table, is_broken = episode.table, episode.counts.sum(axis=1) > 0
    last = int(np.flatnonzero(is_broken)[-1])
    text = f"the gradient with respect to the output of {table.names[table.backprop[last]]} was broken"
    deeper = np.flatnonzero(episode.looked_at & ~is_broken & (np.arange(len(is_broken)) > last))
    if not len(deeper):
        return f"{text}, and none nearer to the loss was finite"
    return f"{text}, that of {table.names[table.backprop[int(deeper[0])]]} behind it was still finite"


def _say_other_place(operation: Operation, layer: str) -> str:
    """Where an operation stands, without the layer that the sentence has named already."""
    place = say_place(operation)
    return place.replace(f" in `{layer}`", "") if operation.layer == layer else place


def _say_name(name: str, n_broken: int) -> str:
    kind, _, rest = name.partition("/")
    noun = _NOUNS.get(kind, kind)
    others = f" and {n_broken - 1} more" if n_broken > 1 else ""
    return f"The {noun}" + (f" `{rest}`" if rest else "") + others


def _say_columns(record: InputRecord | None) -> str:
    if record is None or not record.columns:
        return ""
    if record.n_broken == 1:
        return f"column {record.columns[0]}"
    if record.n_broken == record.n_columns and record.n_columns > 2:
        return f"all {record.n_columns:,} columns"
    names = [str(column) for column in record.columns]
    if record.n_broken > len(names):
        return f"columns {names[0]}, {names[1]} and {record.n_broken - 2:,} more"
    return f"columns {list_names(names)}"


def _say_rows(record: InputRecord) -> str:
    text = f"{say_count(record.n_rows, 'row')} of the batch"
    if record.rows:
        first = ", ".join(str(row) for row in record.rows)
        text += (
            f" ({'rows' if record.n_rows > 1 else 'row'} {first}{', ...' if record.n_rows > len(record.rows) else ''})"
        )
    columns = _say_columns(record)
    return f"{text} and {columns} of {record.n_columns:,}" if columns else text


def _say_consequence(scene: Scene) -> str:
    phases = ((Phase.LOSS, "loss"), (Phase.GRADIENT, "gradients"), (Phase.WEIGHT, "weights"))
    broken = [noun for phase, noun in phases if scene.broken(phase)]
    if not broken:
        return ""
    text = " and ".join([", ".join(broken[:-1]), broken[-1]] if len(broken) > 1 else broken)
    return f", and broke the {text}"


def _mended_behind(lead: NonFinite, scene: Scene) -> str | None:
    """The last layer whose output was broken, where a later one was finite again."""
    episode = next((e for e in scene.broken(Phase.ACTIVATION) if e.first_step == lead.first_step), None)
    if episode is None or episode.table is None:
        return None
    is_broken = episode.counts.sum(axis=1) > 0
    last = int(np.flatnonzero(is_broken)[-1])
    is_mended = (episode.looked_at & ~is_broken)[last + 1 :].any()
    return episode.table.names[episode.table.activation[last]] if is_mended else None


def _column_evidence(record: InputRecord | None) -> dict[str, Any]:
    if record is None:
        return {}
    return {
        "columns_step": record.step,
        "columns": list(record.columns),
        "columns_n_nonfinite": list(record.counts),
        "n_columns_nonfinite": record.n_broken,
        "n_columns": record.n_columns,
        "rows": list(record.rows),
        "n_rows_nonfinite": record.n_rows,
    }
