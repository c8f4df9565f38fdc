"""The tensor table of one stream: names and index arrays. Owns no statistics."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["TensorTable"]

Index = npt.NDArray[np.int64]

_KINDS: Final = ("gradient", "weight", "update", "activation", "backprop", "input")


@dataclass(frozen=True)
class TensorTable:
    """Where each tensor stands in a row.

    Gradients keep the order of the table, which is the model's own order of variables: from input to output. "Position"
    below is a place among the gradients, "column" a place in the row.

    Attributes:
        names: ``[n_tensors]`` Keras paths.
        layers: ``[n_tensors]`` Keras paths of the layers.
        kinds: ``[n_tensors]``.
        dtypes: ``[n_tensors]``.
        shapes: ``[n_tensors]``.
        n_elements: ``[n_tensors]`` float64.
        functions: ``[n_tensors]`` the activation function that a tensor is the output of (``relu``), None if unknown;
            of a backprop the one behind which it is taken, None where it is with respect to the output.
        replica: the replica whose own gradients these are, before the reduction; None: what is applied.
        gradient: columns of the gradients, ``[n_gradients]``.
        weight: columns of the weights.
        update: columns of the updates.
        activation: columns of the layers' outputs, in order of depth.
        within: columns of what the user's own code takes activation functions of within layers, in order of depth.
        sources: ``[n_tensors]`` file, line and code of the user's own that made a tensor, None if unknown.
        backprop: columns of the gradients with respect to them.
        input: columns of what enters the step.
        kernels: positions of gradients of rank 2 or more (kernels, embeddings) that the optimizer is given, but for the
            biases of heads: the ones whose size says something about depth. Biases and scales are often zero at first,
            or by symmetry, in healthy models.
        weight_of: for every gradient position the column of its weight, or -1.
        update_of: for every gradient position the column of its update, or -1.
        is_left_out: for every gradient position whether the training never gives it to the optimizer, bool.
        bias_of: for every gradient position the position of the bias that adds to the same units, or -1.
        frozen: columns of weights that tell of layers, frozen or given to no optimizer, that they are as made.
        left: those of them that are given to no optimizer.
        copied: columns of weights of another model, which was a copy of what is trained when both were made.
        momenta: ``[n_tensors]`` of a running mean or variance the share that each batch leaves of it, else NaN.
        heads: of targets the layer's output that is held to them, by both names, where it is known.
        loops: paths of the layers that the graph of the step shows to be loops over time.
    """

    names: tuple[str, ...]
    layers: tuple[str, ...]
    kinds: tuple[str, ...]
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    n_elements: npt.NDArray[np.float64]
    functions: tuple[str | None, ...]
    replica: int | None
    gradient: Index
    weight: Index
    update: Index
    activation: Index
    within: Index
    sources: tuple[dict[str, Any] | None, ...]
    backprop: Index
    input: Index
    kernels: Index
    weight_of: Index
    update_of: Index
    is_left_out: npt.NDArray[np.bool_]
    bias_of: Index
    frozen: Index
    left: Index
    copied: Index
    momenta: npt.NDArray[np.float64]
    heads: Mapping[str, str]
    loops: frozenset[str] = frozenset()

    @classmethod
    def from_message(cls, tensors: Sequence[Mapping[str, Any]], *, loops: frozenset[str] = frozenset()) -> TensorTable:
        """Builds the table from the field ``tensors`` of a ``tensors`` message (docs/contract.md)."""
        names = tuple(str(tensor["tensor"]) for tensor in tensors)
        kinds = tuple(str(tensor["kind"]) for tensor in tensors)
        shapes = tuple(tuple(int(size or 0) for size in tensor.get("shape") or ()) for tensor in tensors)
        layers = tuple(str(tensor.get("layer") or "") for tensor in tensors)
        is_within = np.array([bool(tensor.get("within")) for tensor in tensors], bool)
        columns = {kind: _columns(kinds, kind) for kind in _KINDS}
        of_functions = columns["activation"]
        columns["activation"] = of_functions[~is_within[of_functions]]
        gradient = columns["gradient"]
        bias_of = _biases(layers, shapes, gradient)
        is_left_out = np.array([bool(tensors[column].get("left_out")) for column in gradient], bool)
        is_kernel = [len(shapes[c]) >= 2 and not out for c, out in zip(gradient, is_left_out, strict=True)]
        return cls(
            names=names,
            layers=layers,
            kinds=kinds,
            dtypes=tuple(str(tensor.get("dtype") or "float32") for tensor in tensors),
            shapes=shapes,
            n_elements=np.array([float(tensor.get("n_elements") or 0) for tensor in tensors], np.float64),
            functions=tuple(tensor.get("activation") for tensor in tensors),
            replica=next((tensor.get("replica") for tensor in tensors), None),
            **columns,
            within=of_functions[is_within[of_functions]],
            sources=tuple(tensor.get("source") for tensor in tensors),
            kernels=np.setdiff1d(np.flatnonzero(is_kernel), bias_of),
            weight_of=_partners(names, gradient, columns["weight"]),
            update_of=_partners(names, gradient, columns["update"]),
            is_left_out=is_left_out,
            bias_of=bias_of,
            frozen=np.array([column for column, tensor in enumerate(tensors) if tensor.get("frozen")], np.int64),
            left=np.array([column for column, tensor in enumerate(tensors) if tensor.get("left")], np.int64),
            copied=np.array([column for column, tensor in enumerate(tensors) if tensor.get("copied")], np.int64),
            heads={str(tensor["tensor"]): str(tensor["head"]) for tensor in tensors if tensor.get("head")},
            momenta=np.array([float(tensor.get("momentum") or np.nan) for tensor in tensors], np.float64),
            loops=loops,
        )

    @property
    def n_tensors(self) -> int:
        """The length of the table."""
        return len(self.names)

    @property
    def is_half(self) -> bool:
        """Whether anything is computed in float16."""
        return "float16" in self.dtypes

    @property
    def weight_type(self) -> str:
        """The type in which weights are kept; float32 where they are of several."""
        kinds = {self.dtypes[column] for column in self.weight.tolist()}
        return kinds.pop() if len(kinds) == 1 else "float32"

    def dtype_of_layer(self, layer: str | None) -> str | None:
        """The dtype that a layer computes in, as far as its outputs tell."""
        return next((self.dtypes[column] for column in self.activation if self.layers[column] == layer), None)

    def weights_and_updates(self) -> tuple[Index, Index]:
        """The columns of the kernels' weights and of their updates, side by side, where both are captured."""
        return self.weight_of[self.whole_kernels], self.update_of[self.whole_kernels]

    @property
    def whole_kernels(self) -> Index:
        """The positions of the kernels whose weights and updates are both captured."""
        is_whole = (self.weight_of[self.kernels] >= 0) & (self.update_of[self.kernels] >= 0)
        return self.kernels[is_whole]

    @property
    def linear_output(self) -> tuple[int, int]:
        """The columns of the last layer's output and of the gradient with respect to it; -1 behind an activation."""
        if not len(self.activation) or self.functions[int(self.activation[-1])] not in (None, "linear"):
            return -1, -1
        output = int(self.activation[-1])
        signal = self.find_backprop(output)
        return (output, signal) if signal >= 0 else (-1, -1)

    @property
    def scores(self) -> tuple[int, int]:
        """The columns of the last layer's output and of the gradient with respect to its scores; -1 for none.

        Scores are what it gives without an activation, or what it takes a softmax or sigmoid of where the loss does.
        """
        output = int(self.activation[-1]) if len(self.activation) else -1
        signal = self.find_backprop(output)
        is_behind = signal >= 0 and self.functions[signal] in ("softmax", "sigmoid")
        return (output, signal) if is_behind else self.linear_output

    def find_backprop(self, output: int) -> int:
        """The column of the gradient with respect to a layer's output, -1 for none."""
        same = (c for c in self.backprop.tolist() if output >= 0 and self.names[c] == self.names[output])
        return next(same, -1)

    def is_recurrent(self, layer: str) -> bool:
        """Whether a layer gives one state for each sample and has a kernel that takes its own units."""
        outputs = [column for column in self.activation.tolist() if self.layer_of(column) == layer]
        is_last = any(len(self.shapes[column]) == 2 for column in outputs)
        return is_last and (layer in self.loops or self.count_gates(self._kernels_within(layer)) > 0)

    def has_own_cell(self, layer: str) -> bool:
        """Whether a layer is a loop over time of which no kernel has the shape of a known cell's."""
        return layer in self.loops and next(self._find_recurrent(self._kernels_within(layer)), None) is None

    def _kernels_within(self, layer: str) -> Index:
        own = [p for p in self.kernels.tolist() if f"{self.layer_of_gradient(p)}/".startswith(f"{layer}/")]
        return np.array(own, np.int64)

    def count_gates(self, positions: Index) -> int:
        """How many gates the first recurrent layer among gradient positions has, its state included; 0 for none.

        It has a second kernel that takes its own units: n columns from n rows for each gate. A cell of another kind
        counts as one of none, where its layer is known to be a loop.
        """
        layers = {f"{self.layer_of_gradient(position)}/" for position in positions.tolist()}
        is_loop = any(layer.startswith(f"{loop}/") for loop in self.loops for layer in layers)
        return next((n_gates for _, n_gates in self._find_recurrent(positions)), 1 if is_loop else 0)

    @property
    def recurrent(self) -> list[int]:
        """The gradient positions of the kernels that take a recurrent layer's own units."""
        return [position for position, _ in self._find_recurrent(self.kernels)]

    def _find_recurrent(self, positions: Index) -> Iterator[tuple[int, int]]:
        """Of recurrent layers among gradient positions the kernel of their own units, and how many gates that has."""
        layers: dict[str, list[int]] = {}
        for position in positions.tolist():
            layers.setdefault(self.layer_of_gradient(position), []).append(position)
        for found in layers.values():
            shapes = {position: self.shapes[int(self.gradient[position])] for position in found}
            # A GRU has a bias for each of the two: (2, 3 n).
            pair = [(position, shape) for position, shape in shapes.items() if len(found) < 3 or shape[0] != 2]
            if len(pair) == 2 and len(pair[0][1]) == len(pair[1][1]) == 2 and pair[0][1][1] == pair[1][1][1]:
                n_gates, rest = divmod(pair[1][1][1], max(pair[1][1][0], 1))
                if rest == 0 and n_gates in (1, 3, 4):
                    yield pair[1][0], n_gates

    @property
    def states(self) -> Index:
        """The columns of weights without a gradient: what layers keep beside what is trained (running statistics)."""
        return np.setdiff1d(self.weight, np.concatenate([self.weight_of, self.frozen, self.copied]))

    def entering(self, role: str) -> list[int]:
        """The columns of what enters the step as ``input``, ``index``, ``target`` or ``sample_weight``.

        An input of whole numbers is an index: a word, a code, a type.
        """
        is_index = role == "index"
        given = "input" if is_index else role
        found = [int(column) for column in self.input if self.names[column].partition("/")[0] == given]
        return [c for c in found if ("int" in self.dtypes[c]) == is_index] if given == "input" else found

    def find_pooling(self) -> str | None:
        """The layer without a kernel that makes ``[n, c]`` of a vector for each place; None for none."""
        for before, after in itertools.pairwise(self.activation.tolist()):
            given, left = self.shapes[before], self.shapes[after]
            if len(given) > len(left) == 2 and given[-1] == left[-1] > 1 and not self.holds_kernel(after):
                return self.layer_of(after)
        return None

    @property
    def prepared(self) -> list[int]:
        """The columns of what layers give before the first that holds a kernel: inputs that are prepared."""
        found = list(itertools.takewhile(lambda column: not self.holds_kernel(column), self.activation.tolist()))
        return found if len(found) < len(self.activation) else []

    def holds_kernel(self, column: int) -> bool:
        """Whether the layer of an output, or one within it, has a kernel that is trained."""
        own = f"{self.layer_of(column)}/"
        return any(f"{self.layer_of_gradient(position)}/".startswith(own) for position in self.kernels.tolist())

    def head_of(self, target: str) -> str | None:
        """The layer whose output is held to a target, by the target's name; None where it is not known."""
        columns = [column for column in self.activation.tolist() if self.names[column] == self.heads.get(target)]
        return self.layer_of(columns[0]) if columns else None

    def held_to(self, target: str, columns: Index) -> list[int]:
        """Of some columns those of the layer that is held to a target: of its own head, else of the key's name."""
        head, key = self.heads.get(target), target.partition("/")[2]
        known = [column for column in columns.tolist() if self.names[column] == head]
        return known or [c for c in columns.tolist() if key and self.layer_of(c).rpartition("/")[2] == key]

    def names_of_gradients(self, *, left_out: bool) -> set[str]:
        """The Keras paths of the variables that the optimizer is given, or of those that the training leaves out."""
        return {self.names[c] for c, is_out in zip(self.gradient, self.is_left_out, strict=True) if is_out == left_out}

    def name_gradient(self, position: int) -> str:
        """The Keras path of the variable at a gradient position."""
        return self.names[int(self.gradient[position])]

    def layer_of_gradient(self, position: int) -> str:
        """The layer of the variable at a gradient position; its own path where the table names no layer."""
        return self.layer_of(int(self.gradient[position]))

    def say_output(self, column: int) -> str:
        """What a layer gives, for people: its path; of a function within it ``the tanh in PATH``."""
        layer = self.layer_of(column)
        return f"the {self.functions[column]} in {layer}" if column in self.within else layer

    @property
    def hidden(self) -> Index:
        """The columns of layers' outputs, but for those of the last layer, in whichever of its calls."""
        last = {self.layer_of(column) for column in self.activation[-1:].tolist()}
        return np.array([column for column in self.activation.tolist() if self.layer_of(column) not in last], np.int64)

    def layer_of(self, column: int) -> str:
        """The layer of a tensor; its own name where the table names no layer."""
        return self.layers[column] or self.names[column]


def _columns(kinds: Sequence[str], kind: str) -> Index:
    return np.array([column for column, name in enumerate(kinds) if name == kind], np.int64)


def _partners(names: Sequence[str], gradient: Index, others: Index) -> Index:
    by_name = {names[column]: column for column in others}
    return np.array([by_name.get(names[column], -1) for column in gradient], np.int64)


def _biases(layers: Sequence[str], shapes: Sequence[tuple[int, ...]], gradient: Index) -> Index:
    """Finds the bias of each kernel by layer and shape, not by name: users rename variables.

    It has a number for each unit of the kernel, its last axis; or for each of every head's, in an attention.
    """
    vectors = {(layers[column], len(shapes[column])) for column in gradient}
    result = np.full(len(gradient), -1, np.int64)
    for position, column in enumerate(gradient):
        for other, candidate in enumerate(gradient):
            kernel, bias, layer = shapes[column], shapes[candidate], layers[column]
            is_of_heads = (len(kernel), len(bias)) == (3, 2) and (layer, 1) not in vectors
            is_bias = (len(bias) == 1 < len(kernel) or is_of_heads) and kernel[-len(bias) :] == bias
            if is_bias and layers[candidate] == layer and layer:
                result[position] = other
                break
    return result
