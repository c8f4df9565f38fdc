"""What enters a step: the model's inputs, the targets, the sample weights. Finds and names them; measures nothing.

Keras' own training hands them over when it computes the loss. In another loop the watched model's call tells its
inputs, and a loss of Keras its targets; in a graph the walk back from the gradients ends at what was given to the
function or taken off an iterator, whoever uses it; in the drawing of an eager step the walk back from the loss does.
What depends on a weight has not entered, it was made here.
Integers are always finite: indices and labels are measured for what they say of the batch.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from gradwatch.correlation import Pair, is_comparable, is_compared, meetings_of
from gradwatch.leakage import Compared
from gradwatch.origin import layer_of
from gradwatch.slips.graph.mask import is_hiding
from gradwatch.slips.graph.undetached import is_reward
from gradwatch.tap import Tap, enclosing_graphs
from gradwatch.walk import DIFFERENCES, ENTROPIES, roots_of

if TYPE_CHECKING:
    from gradwatch.heard import Drawn, Picked

__all__ = ["Entered", "Entry", "Intake"]

ENTRIES_MAX: Final = 64
"""Tensors of one step at most."""
PAIRS_MAX: Final = 8
"""Targets of one step at most that are compared with what was given for them."""
INPUT, TARGET, SAMPLE_WEIGHT = "input", "target", "sample_weight"
ROLES: Final = (INPUT, TARGET, SAMPLE_WEIGHT)
Tensor = Any  # tensorflow ships no types

_GIVEN: Final = frozenset(
    {
        "Placeholder",
        "IteratorGetNext",
        "IteratorGetNextSync",
        "OptionalGetValue",
        "EagerPyFunc",
        "PyFunc",
        "PyFuncStateless",
    }
)
"""Operations whose outputs come from outside the graph."""


class Entry(NamedTuple):
    """A tensor that enters a step.

    Attributes:
        tap: its entry in the tensor table.
        values: its values, dense; they may be integers.
        has_rows: whether its columns and rows are measured: its first axis is the batch, and it is floating. Not so
            where a sparse tensor's values stand for it.
    """

    tap: Tap
    values: Tensor
    has_rows: bool


class Entered(NamedTuple):
    """What entered a step.

    Attributes:
        entries: what is measured.
        compared: what the model and its loss were given, integers too.
        drawn: of the targets that only the drawing of an eager step told, names and tensors in it; and likewise, by the
            same names, the outputs that are held to them.
    """

    entries: Sequence[Entry] = ()
    compared: Compared = Compared()
    drawn: tuple[Mapping[str, Tensor], Mapping[str, Tensor]] = ({}, {})


class _Note(NamedTuple):
    """A tensor that was handed over: as what, under which name within it, for whose training.

    Attributes:
        role: one of `ROLES`.
        path: its place in the structure, or "".
        tensor: gives it while it exists.
        variables: the ids of the weights that it is used to train; None: of whatever is applied next.
        n_applied: how many steps had been applied when it was handed over.
        is_certain: whether it is known to enter; otherwise it does only where the gradients depend on it.
        is_of_loss: whether a loss was called with it, perhaps one that is only a part of Keras' own step.
        output: of a target, gives what the model gave for it while that exists; None where it is not known.
    """

    role: str
    path: str
    tensor: Callable[[], Tensor | None]
    variables: frozenset[int] | None = None
    n_applied: int = 0
    is_certain: bool = False
    is_of_loss: bool = False
    output: Callable[[], Tensor | None] | None = None


class Intake:
    """What entered the step that is being traced, or run eagerly.

    Args:
        models: gives the watched models.
        layer_paths: gives the Keras paths of their layers.
    """

    def __init__(self, models: Callable[[], Sequence[Any]], layer_paths: Callable[[], Sequence[str]]) -> None:
        self._models = models
        self._layer_paths = layer_paths
        self._thread = threading.local()

    def note_step(self, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """Keras' own training step has computed its loss from these."""
        # What a loss was called with was made of these on the way; an evaluation of Keras 2 does not say what it is.
        self._keep(lambda note: not (note.is_of_loss or (note.is_certain and tf.executing_eagerly())))
        inputs, targets, weights = (_leaves(one, has_integers=True) for one in (x, y, sample_weight))
        outputs = _outputs_of(targets, y_pred)
        self._add(
            _Note(role, path, _hold(leaf), is_certain=True, output=outputs.get(path) if role == TARGET else None)
            for role, leaves in zip(ROLES, (inputs, targets, weights), strict=True)
            for path, leaf in leaves
        )

    def note_call(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int | None:
        """A layer is about to be called; if it is a watched model that is being trained, with what.

        Returns:
            The samples in it, if that is known.
        """
        models = self._models()
        if not any(model is one for one in models) or not record.could_possibly_record():
            return None
        named = {**{str(i): value for i, value in enumerate(args)}, **kwargs}
        given = {name: leaves for name, value in named.items() if (leaves := _leaves(value, has_integers=True))}
        found = [
            ("/".join(filter(None, (name if len(given) > 1 else "", path))), leaf)
            for name, leaves in given.items()
            for path, leaf in leaves
        ]
        n_applied = self._n_applied
        prefix = f"{model.name}/" if len(models) > 1 else ""
        variables = frozenset(id(variable) for variable in model.trainable_variables) or None  # perhaps not made yet
        # What it was called with for another's step, before that was applied, is no part of its own.
        self._keep(lambda note: note.variables != variables or note.n_applied == n_applied)
        self._add(
            _Note(INPUT, (prefix + path).rstrip("/"), _hold(leaf), variables, n_applied)
            for path, leaf in found
            if not _depends_on_weight_eagerly(leaf)
        )
        return next((leaf.shape[0] for _, leaf in found if isinstance(leaf, tf.Tensor) and leaf.shape.rank), None)

    def note_output(self, model: Any, output: Any, *, is_drawn: bool) -> None:
        """A layer has given an output; if it is a watched model that is being trained, it may be held to a target.

        Args:
            model: the layer.
            output: what it gave.
            is_drawn: whether this is a part of an eager step that is drawn.
        """
        if (is_drawn or not tf.executing_eagerly()) and any(model is one for one in self._models()):
            alive = [one for one in self._outputs if one() is not None]
            self._thread.outputs = [*alive, *(_hold(leaf) for _, leaf in _leaves(output))][-ENTRIES_MAX:]

    def note_loss(self, y: Any, y_pred: Any, sample_weight: Any) -> None:
        """A loss of Keras is about to be computed from these."""
        if record.could_possibly_record():
            targets = _leaves(y, has_integers=True)
            outputs = _outputs_of(targets, y_pred)
            self._add(
                _Note(role, path, _hold(leaf), is_of_loss=True, output=outputs.get(path) if role == TARGET else None)
                for role, leaves in ((TARGET, targets), (SAMPLE_WEIGHT, _leaves(sample_weight, has_integers=True)))
                for path, leaf in leaves
                if not _depends_on_weight_eagerly(leaf)
            )

    def take(
        self,
        gradients: Sequence[Any],
        loss: Tensor | None,
        variables: Sequence[Any],
        *,
        drawn: Drawn | None = None,
        picked: Picked | None = None,
    ) -> Entered:
        """What entered the step that ends in these gradients, each tensor once.

        Args:
            gradients: as given to ``apply``.
            loss: the step's loss in the same graph, or None.
            variables: the variables that are applied.
            drawn: the step, if it runs eagerly and was drawn.
            picked: what one that was drawn before lets be known of it.

        Returns:
            Entries, `ENTRIES_MAX` at most and named apart: inputs, targets, sample weights; and what is compared.
        """
        trained = {id(variable) for variable in variables}
        notes = self._notes
        self._thread.n_applied = self._n_applied + 1
        if tf.executing_eagerly():
            notes = [note for note in notes if note.variables is None or note.variables & trained]
            self._keep(lambda note: not any(note is one for one in notes))
            # A graph whose gradients are applied outside of it has noted its own tensors.
            noted = ((note.role, note.path, tensor) for note in notes if (tensor := note.tensor()) is not None)
            found = [one for one in noted if not tf.is_symbolic_tensor(_parts(one[2])[0])]
            return self._take_eagerly(found, notes, drawn, picked)
        roots = roots_of(gradients)
        found = self._find_in_graph(notes, roots if loss is None else [*roots, loss])
        return self._enter_all(found, notes, _known_outputs(notes))

    def _take_eagerly(
        self,
        found: list[tuple[str, str, Tensor]],
        notes: Sequence[_Note],
        drawn: Drawn | None,
        picked: Picked | None,
    ) -> Entered:
        """`take` of an eager step: what was handed over, and targets that nobody did."""
        known = _known_outputs(notes)
        in_sketch: tuple[Mapping[str, Tensor], Mapping[str, Tensor]] = ({}, {})
        roles = {role for role, _, _ in found}
        if INPUT in roles and TARGET not in roles:
            targets, outputs = (picked.targets, picked.outputs) if picked is not None else ({}, {})
            if drawn is not None:
                targets, outputs, in_sketch = self._find_drawn(drawn, found)
            found += [(TARGET, name, tensor) for name, tensor in targets.items()]
            known |= {id(targets[name]): output for name, output in outputs.items()}
        self._thread.outputs = []
        return self._enter_all(found, notes, known)._replace(drawn=in_sketch)

    def _find_drawn(
        self, drawn: Drawn, found: Sequence[tuple[str, str, Tensor]]
    ) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], tuple[Mapping[str, Tensor], Mapping[str, Tensor]]]:
        """What came into a drawn step beside its inputs, a row for each sample; its outputs; and `Entered.drawn`."""
        walk, sketch = _Walk(), drawn.sketch
        entered = [leaf for role, _, leaf in found if role == INPUT]
        inputs = [one for leaf in entered if (one := sketch.find(leaf)) is not None]
        above, paths = walk.trace(inputs).given.keys(), self._layer_paths()
        given = sorted(walk.trace([drawn.loss]).given.values(), key=lambda one: one.op._id)
        places = {
            str(i): one
            for i, one in enumerate(one for one in given if id(one) not in above)
            if sketch.is_batch(sketch.find_eager(one))
            and not all(layer_of(op.name, paths) for op in one.consumers())
            and not any(_is_equal(sketch.find_eager(one), leaf) for leaf in entered)
        }
        outputs = [(output, one) for output in self._held_outputs() if (one := sketch.find(output)) is not None]
        held: dict[str, tuple[Tensor, Tensor]] = {}
        for name, target in places.items():
            fit = [pair for pair in outputs if is_comparable(target, pair[0]) and is_compared(target, pair[1])]
            if len(fit) == 1 and not is_reward(target):
                held[name] = fit[0]
        targets = {name: sketch.find_eager(one) for name, one in places.items()}
        of_targets = {name: output for name, (output, _) in held.items()}
        return targets, of_targets, (places, {name: one for name, (_, one) in held.items()})

    def _held_outputs(self) -> list[Tensor]:
        return [output for hold in self._outputs if (output := hold()) is not None]

    def _enter_all(
        self,
        found: Sequence[tuple[str, str, Tensor]],
        notes: Sequence[_Note],
        known: Mapping[int, Tensor | None],
    ) -> Entered:
        # What `fit` gives a model is handed over twice, by the same names, and what two models are given is one; two
        # arguments of one of them that are one tensor are two.
        called = {(note.role, note.path): note.variables for note in notes}
        first: dict[tuple[str, int], frozenset[int] | None] = {}
        whole: dict[tuple[str, str, int], Tensor] = {}
        for role, path, leaf in found:
            by = called.get((role, path))
            if isinstance(leaf, tf.Tensor) and first.setdefault((role, id(leaf)), by) == by:
                whole[role, path, id(leaf)] = leaf
        inputs, targets = ([leaf for (one, _, _), leaf in whole.items() if one == role] for role in (INPUT, TARGET))
        targets = [leaf for leaf in targets if not (tf.is_symbolic_tensor(leaf) and is_hiding(leaf))]
        entries = _name(found)
        return Entered(entries, Compared(inputs, targets, self._pairs(entries, known)))

    def _add(self, notes: Iterable[_Note]) -> None:
        self._keep(lambda note: note.tensor() is not None)
        self._thread.notes = [*self._notes, *notes][-4 * ENTRIES_MAX :]

    def _keep(self, is_kept: Callable[[_Note], bool]) -> None:
        self._thread.notes = [note for note in self._notes if is_kept(note)]

    @property
    def _notes(self) -> list[_Note]:
        return getattr(self._thread, "notes", [])

    def _pairs(self, entries: Sequence[Entry], known: Mapping[int, Tensor | None]) -> list[Pair]:
        """The targets among some entries of which an output is known, with it; ``known``: some, by the target's id."""
        graphs = enclosing_graphs()

        def is_here(output: Tensor | None) -> bool:
            is_ours = tf.executing_eagerly() or any(getattr(output, "graph", None) is graph for graph in graphs)
            return output is not None and is_ours

        given = [] if tf.executing_eagerly() else [output for output in self._held_outputs() if is_here(output)]
        pairs: list[Pair] = []
        for name, values in ((one.tap.tensor, one.values) for one in entries if one.tap.tensor.startswith(TARGET)):
            told = known.get(id(values))
            fit = [one for one in given if is_compared(values, one)] if told is None else [told]
            fit = [one for one in fit if is_here(one) and is_comparable(values, one)]
            if len(fit) == 1 and not (tf.is_symbolic_tensor(values) and is_reward(values)):
                pairs.append(Pair(name, values, fit[0]))
        return pairs[:PAIRS_MAX]

    @property
    def _outputs(self) -> list[Callable[[], Tensor | None]]:
        return getattr(self._thread, "outputs", [])

    @property
    def _n_applied(self) -> int:
        return getattr(self._thread, "n_applied", 0)

    def _find_in_graph(self, notes: Sequence[_Note], roots: Sequence[Tensor]) -> list[tuple[str, str, Tensor]]:
        walk = _Walk()
        step = walk.trace(roots)
        known: set[int] = set()
        above_inputs: set[int] = set()
        has_inputs = False
        found: list[tuple[str, str, Tensor]] = []
        for note in notes:
            leaf = note.tensor()
            own = None if leaf is None else walk.find_here(_parts(leaf)[0])
            if own is None:
                continue
            way = walk.trace([own])
            if note.role == INPUT:
                above_inputs |= way.given.keys()
                has_inputs = True
            if note.is_certain or (id(own.op) in step.ops and not _uses_weight(way.ops)):
                found.append((note.role, note.path, leaf))
                here = [walk.find_here(part) for part in _parts(leaf)]
                # What the step only gave another form, as `y[:, None]`, is what it was given, and no second one.
                known |= {id(form) for one in here if one is not None for form in _forms(one)}
        entering = list(self._enter(step.given.values(), walk))
        others = [one for one in entering if has_inputs and id(one) not in above_inputs and one.shape.rank != 0]
        targets = [one for one in others if id(one) not in known]
        if not targets and all(role != TARGET for role, _, _ in found):
            targets = [one for one in entering if id(one) in above_inputs and self._is_restored(one)]
        targets += [one for one in self._find_labels(step.ops.values(), walk) if id(one) not in known]
        known |= set(map(id, targets))
        found += [(INPUT, _name_of(one), one) for one in entering if id(one) not in known]
        return found + [(TARGET, _name_of(one), one) for one in targets]

    def _is_restored(self, tensor: Tensor) -> bool:
        """Whether a model's output is held to what the model was given, or to what that was made of."""
        outputs = [one for one in self._held_outputs() if one.graph is tensor.graph and is_comparable(tensor, one)]
        met = [op for one in outputs for op in meetings_of(one).values() if op.type in DIFFERENCES]
        return any(form is tensor for op in met for one in op.inputs for form in _forms(one))

    def _find_labels(self, ops: Iterable[Any], walk: _Walk) -> list[Tensor]:
        """The numbers of classes that a cross-entropy of the step takes as they were given, and weighs all alike."""
        found: dict[int, Tensor] = {}
        for op in (one for one in ops if one.type in ENTROPIES):
            labels = walk.find_here(_as_given(op.inputs[1]))
            if labels is not None and labels.dtype.is_integer and labels.op.type in _GIVEN and _is_unweighed(op):
                found[id(labels)] = labels
        return [one for one in found.values() if any(is_comparable(one, output) for output in self._held_outputs())]

    def _enter(self, given: Iterable[Tensor], walk: _Walk) -> Iterator[Tensor]:
        paths: Sequence[str] | None = None
        for tensor in sorted(given, key=lambda tensor: (tensor.op._id, tensor.value_index)):
            if tensor.op.type == "Placeholder" and walk.is_constant(tensor.op):
                # A large constant of a layer is no input; one of the user's may be the whole data set.
                paths = self._layer_paths() if paths is None else paths
                if all(layer_of(user.name, paths) for user in tensor.consumers()):
                    continue
            yield tensor


class _Way(NamedTuple):
    """The way back from some tensors: all operations on it, and the floating tensors that come from outside, by id."""

    ops: dict[int, Any]
    given: dict[int, Tensor]


class _Walk:
    """The way back through a graph and, where it captured something, through the graphs around it."""

    def __init__(self) -> None:
        self._graphs = enclosing_graphs()
        self._captures: dict[int, dict[int, Tensor]] = {}

    def trace(self, tensors: Iterable[Tensor]) -> _Way:
        """Goes all the way back from some symbolic tensors."""
        way = _Way({}, {})
        pending = [self._outermost(tensor) for tensor in tensors]
        while pending:
            tensor = pending.pop()
            op = tensor.op
            if op.type in _GIVEN and tensor.dtype.is_floating:
                way.given[id(tensor)] = tensor
            if id(op) not in way.ops:
                way.ops[id(op)] = op
                pending.extend(self._outermost(one) for one in op.inputs)
        return way

    def find_here(self, tensor: Tensor) -> Tensor | None:
        """What stands for a tensor in the graph being traced and those around it, the outermost; None: nothing does."""
        if tf.is_symbolic_tensor(tensor):
            return self._outermost(tensor) if any(tensor.graph is graph for graph in self._graphs) else None
        pairs = (pair for graph in self._graphs for pair in graph.captures)
        return next((inner for outer, inner in pairs if outer is tensor), None)

    def is_constant(self, op: Any) -> bool:
        """Whether a placeholder stands for an eager tensor: the same at every step."""
        return self._captured(op) is not None

    def _outermost(self, tensor: Tensor) -> Tensor:
        while tensor.op.type == "Placeholder":
            outer = self._captured(tensor.op)
            if outer is None or not tf.is_symbolic_tensor(outer):
                break
            tensor = outer
        return tensor

    def _captured(self, op: Any) -> Tensor | None:
        if id(op.graph) not in self._captures:
            pairs = getattr(op.graph, "captures", ())
            self._captures[id(op.graph)] = {id(inner.op): outer for outer, inner in pairs}
        return self._captures[id(op.graph)].get(id(op))


def _forms(tensor: Tensor) -> Iterator[Tensor]:
    """A tensor of a graph, and what it was before it was given another form, with the same numbers in order."""
    yield tensor
    while _is_another_form(tensor.op):
        tensor = tensor.op.inputs[0]
        yield tensor


def _as_given(tensor: Tensor) -> Tensor:
    """What labels were before they were cast, given another form or a column for each class."""
    while tensor.op.type in {"Cast", "OneHot"} or _is_another_form(tensor.op):
        tensor = tensor.op.inputs[0]
    return tensor


def _is_unweighed(entropy: Any) -> bool:
    """Whether what a cross-entropy gives of each sample is multiplied by nothing but numbers: advantages, masks."""
    pending = [entropy.outputs[0]]
    while pending:
        losses = pending.pop()
        for op in losses.consumers():
            others = [one for one in op.inputs if one is not losses]
            if op.type in {"Mul", "MulNoNan"} and any(one.op.type != "Const" for one in others):
                return False
            if _is_another_form(op):
                pending.append(op.outputs[0])
    return True


def _is_another_form(op: Any) -> bool:
    if op.type != "StridedSlice":
        return op.type in {"ExpandDims", "Identity", "Reshape", "Squeeze"}
    before, after = ([n for n in shape if n != 1] for shape in (op.inputs[0].shape, op.outputs[0].shape))
    return bool(op.get_attr("new_axis_mask")) and before == after and op.get_attr("shrink_axis_mask") == 0


def _is_equal(tensor: Tensor, leaf: Any) -> bool:
    """Whether one eager tensor is the other, as a layer may have converted it."""
    if not isinstance(leaf, tf.Tensor) or tensor.shape != leaf.shape:
        return False
    return bool(np.array_equal(tensor.numpy().astype(np.float32), leaf.numpy().astype(np.float32)))


def _known_outputs(notes: Sequence[_Note]) -> dict[int, Tensor | None]:
    """What a model gave for targets that were handed over with it, by their ids."""
    return {id(note.tensor()): note.output() for note in notes if note.output is not None}


def _outputs_of(targets: Sequence[tuple[str, Any]], y_pred: Any) -> dict[str, Callable[[], Tensor | None]]:
    """What a model gave for each of some targets, by the target's place, where that tells which it is."""
    outputs = _leaves(y_pred)
    if len(targets) == len(outputs) == 1:
        return {targets[0][0]: _hold(outputs[0][1])}
    found = {path: _hold(output) for path, output in outputs}
    return found if found.keys() == {path for path, _ in targets} else {}


def _uses_weight(ops: Mapping[int, Any]) -> bool:
    """Whether one of these operations makes floating numbers out of a variable."""
    return any(
        op.type not in _GIVEN
        and any(tensor.dtype == tf.resource for tensor in op.inputs)
        and any(tensor.dtype.is_floating for tensor in op.outputs)
        for op in ops.values()
    )


def _depends_on_weight_eagerly(leaf: Any) -> bool:
    return tf.executing_eagerly() and bool(record.should_record_backprop(_parts(leaf)[:1]))


def _leaves(structure: Any, path: str = "", *, has_integers: bool = False) -> list[tuple[str, Any]]:
    """The floating tensors in a structure, each with its place in it: keys, and indices where there are several.

    Args:
        structure: the tensors, in mappings and sequences; eagerly NumPy's arrays too, which become tensors.
        path: the structure's own place in what it stands in.
        has_integers: whether dense tensors of integers are wanted too.
    """
    if isinstance(structure, Mapping):
        items = [(str(key), value) for key, value in structure.items()]
    elif isinstance(structure, (list, tuple)):
        names = getattr(structure, "_fields", range(len(structure)))
        items = [(str(name) if len(structure) > 1 else "", value) for name, value in zip(names, structure, strict=True)]
    else:
        wanted = "fiu" if has_integers else "f"
        if isinstance(structure, np.ndarray) and structure.dtype.kind in wanted and tf.executing_eagerly():
            structure = tf.convert_to_tensor(structure)
        is_kept = isinstance(structure, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)) and structure.dtype.is_floating
        is_kept |= has_integers and isinstance(structure, tf.Tensor) and structure.dtype.is_integer
        return [(path, structure)] if is_kept else []
    places = [("/".join(filter(None, (path, key))), value) for key, value in items]
    return [leaf for place, value in places for leaf in _leaves(value, place, has_integers=has_integers)]


def _parts(leaf: Any) -> list[Tensor]:
    """The dense tensors of a tensor of any kind, its values first."""
    if isinstance(leaf, tf.SparseTensor):
        return [leaf.values, leaf.indices, leaf.dense_shape]
    if isinstance(leaf, tf.RaggedTensor):
        return [leaf.flat_values, *leaf.nested_row_splits]
    return [leaf]


def _hold(leaf: Any) -> Callable[[], Any]:
    """Holds a tensor until it is taken; one of a graph only as long as its graph lives."""
    return (lambda: leaf) if tf.executing_eagerly() or not isinstance(leaf, tf.Tensor) else weakref.ref(leaf)


def _name_of(tensor: Tensor) -> str:
    if tensor.op.type == "Placeholder":
        return str(tensor.op.name.rpartition("/")[2])
    return str(tensor.value_index)


def _name(found: Iterable[tuple[str, str, Tensor]]) -> list[Entry]:
    """Entries with names of their own: ``target``, or ``target/NAME`` where there are several."""
    once: dict[tuple[int, bool], tuple[str, str, Tensor]] = {}
    for role, path, tensor in found:  # what is to be restored is both an input and a target
        once.setdefault((id(_parts(tensor)[0]), role == TARGET), (role, path, tensor))
    chosen = sorted(once.values(), key=lambda one: ROLES.index(one[0]))[:ENTRIES_MAX]
    entries: list[Entry] = []
    names: set[str] = set()
    for role, path, tensor in chosen:
        plain = role if not path or _is_alone(role, path, chosen) else f"{role}/{path}"
        n, name = 1, plain
        while name in names:
            n += 1
            name = f"{plain} ({n})"
        names.add(name)
        values = _parts(tensor)[0]
        shape = values.shape.as_list() if values.shape.rank is not None else []
        tap = Tap("input", name, "", (None, *shape[1:]) if shape else (), values.dtype.name)
        entries.append(Entry(tap, values, has_rows=values is tensor and values.dtype.is_floating))
    return entries


def _is_alone(role: str, path: str, chosen: Sequence[tuple[str, str, Tensor]]) -> bool:
    """Whether a name tells nothing: the only one of its role that was given to a function, not under a key."""
    return sum(other == role for other, _, _ in chosen) == 1 and "/" not in path
