"""Which of the hook's ops a GPU has no kernel for, read from TensorFlow's registry: no GPU is needed, only its build.

    python -m benchmarks.placement [--models mlp cnn transformer tiny] [--mixed]

TensorFlow built for CUDA (the package `tensorflow`, not `tensorflow-cpu`) knows its kernels on a machine without a GPU
too. Each op that the hook adds to a step, and to the functions that the step calls, is looked up with its types:

    host      a GPU's kernel that takes its data from the host, such as every sum of int32: a copy, and a wait for it
    CPU       no kernel on a GPU: TensorFlow places it on the CPU, with copies there and back

What handles shapes, indices and conditions belongs on the host and is not counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Any
from unittest import mock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf
from tensorflow.python.framework import kernels, op_def_registry

from benchmarks.models import MODELS
from benchmarks.overhead import Variant
from gradwatch import shared, statistic

ON_HOST = {"Const", "Fill", "Range", "Reshape", "If", "StatelessIf"}
"""Ops of which a shape or a condition is on the host, and no data."""


def place_of(node: Any) -> str:
    """``GPU``, ``host`` or ``CPU``."""
    for kernel in kernels.get_registered_kernels_for_op(node.op).kernel:
        if kernel.device_type in ("GPU", "DEFAULT") and all(_is_allowed(node, one) for one in kernel.constraint):
            return "host" if _data_of(node) in kernel.host_memory_arg and node.op not in ON_HOST else "GPU"
    return "CPU"


def _data_of(node: Any) -> str | None:
    """The name of the argument that is data, the first: no handle of a variable."""
    arguments = op_def_registry.get(node.op).input_arg
    return arguments[0].name if arguments and arguments[0].type != tf.resource.as_datatype_enum else None


def _is_allowed(node: Any, constraint: Any) -> bool:
    attribute = node.attr[constraint.name]
    types = attribute.list.type if attribute.HasField("list") else [attribute.type]
    return set(types) <= set(constraint.allowed_values.list.type)


def nodes_of(graph: Any) -> Iterator[Any]:
    """The nodes that the hook added to a graph, and those of the functions that they call."""
    library = {function.signature.name: function.node_def for function in graph.library.function}
    pending = [node for node in graph.node if "gradwatch" in node.name]
    while pending:
        node = pending.pop()
        yield node
        for attribute in node.attr.values():
            called = [attribute.func] if attribute.HasField("func") else attribute.list.func
            for function in called:
                pending.extend(library.pop(function.name, ()))


def main() -> None:
    """Traces each model's step under the hook and looks up its ops."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["mlp", "cnn", "transformer", "tiny"])
    parser.add_argument("--mixed", action="store_true", help="compute in float16, as on a GPU with mixed precision")
    options = parser.parse_args()
    if not tf.test.is_built_with_cuda():
        sys.exit(
            f"tensorflow {tf.__version__} is not built for CUDA and knows no kernel of a GPU: install `tensorflow`"
        )
    keras.config.set_dtype_policy("mixed_float16" if options.mixed else "float32")
    with (
        tempfile.TemporaryDirectory() as directory,
        mock.patch.object(statistic, "has_gpu", return_value=True),
        mock.patch.object(shared, "has_gpu", return_value=True),
    ):
        os.environ["GRADWATCH_DIR"] = directory
        for model in options.models:
            variant = Variant("everything", MODELS[model], url="http://127.0.0.1:9", jit=False)
            graph = variant.function.get_concrete_function(*variant.inputs).graph.as_graph_def()
            found = Counter((place_of(node), node.op, _types_of(node)) for node in nodes_of(graph))
            n_elsewhere = sum(n for (place, *_), n in found.items() if place != "GPU")
            print(f"{model}: {sum(found.values()):,} ops, {n_elsewhere} of them not on the GPU")
            for (place, op, types), n in sorted(found.items()):
                if place != "GPU":
                    print(f"    {place:4}  {n:4} x {op} of {types}")
            variant.watch.close()


def _types_of(node: Any) -> str:
    types = [value.type for name, value in sorted(node.attr.items()) if value.HasField("type") and name != "Tidx"]
    return ", ".join(tf.dtypes.as_dtype(one).name for one in types) or "-"


if __name__ == "__main__":
    main()
