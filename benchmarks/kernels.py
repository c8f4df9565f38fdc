"""How many kernels a compiled step launches, with the hook and without, counted in XLA's optimized HLO.

    python -m benchmarks.kernels [--models mlp tiny]

Each instruction of the optimized program that is neither bookkeeping nor within a fusion is a kernel, or a call of a
library. A conditional launches one of its branches: *light* counts the cheaper one of each (a step in which full
statistics are not due), *full* the dearer. Compiled for the CPU where there is no GPU: there XLA fuses by other rules,
so the counts tell the order of size. No copy to the host and no wait is among them in either case.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.models import MODELS
from benchmarks.overhead import Variant

VARIANTS = ("plain", "gradients", "every step", "default")
BOOKKEEPING = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "conditional", "while", "call", "after-all",
    "reshape", "iota", "broadcast", "domain", "partition-id", "replica-id",
}  # fmt: skip
HOST = {"infeed", "outfeed", "send", "recv", "send-done", "recv-done"}
_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_OPCODE = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (?:\((?:[^()]|\([^()]*\))*\)|\S+) ([\w\-]+)\(")
_CALLED = re.compile(r"(?:true_computation|false_computation|body|to_apply)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")


class Program:
    """The computations of an optimized HLO module, by name."""

    def __init__(self, text: str) -> None:
        self.lines: dict[str, list[str]] = {}
        self.entry = ""
        name = ""
        for line in text.splitlines():
            head = _HEAD.match(line)
            if head:
                name = head[2]
                self.lines[name] = []
                self.entry = name if head[1] else self.entry
            elif name and _OPCODE.match(line):
                self.lines[name].append(line)

    def count(self, name: str | None = None) -> tuple[int, int]:
        """Kernels of a computation with the cheaper and with the dearer branch of each conditional in it."""
        light = full = 0
        for line in self.lines.get(name or self.entry, ()):
            opcode = _OPCODE.match(line)[1]  # type: ignore[index]
            if opcode == "conditional":
                listed = _BRANCHES.search(line)
                names = re.findall(r"[\w.\-]+", listed[1]) if listed else _CALLED.findall(line)
                counts = [self.count(one) for one in names]
                light += min(one[0] for one in counts)
                full += max(one[1] for one in counts)
            elif opcode in {"call", "while"}:
                for one in _CALLED.findall(line):
                    inner = self.count(one)
                    light, full = light + inner[0], full + inner[1]
            elif opcode not in BOOKKEEPING:
                light, full = light + 1, full + 1
        return light, full

    @property
    def n_host(self) -> int:
        """Instructions that move data to the host or wait for it."""
        return sum(_OPCODE.match(line)[1] in HOST for lines in self.lines.values() for line in lines)  # type: ignore[index]


def main() -> None:
    """Compiles each model in each variant and counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["tiny", "mlp", "cnn"])
    options = parser.parse_args()
    print("| model | variant | kernels, light step | full step | to the host |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        os.environ["GRADWATCH_DIR"] = directory
        for model in options.models:
            for name in VARIANTS:
                variant = Variant(name, MODELS[model], url="http://127.0.0.1:9", jit=True)
                program = Program(variant.function.experimental_get_compiler_ir(*variant.inputs)(stage="optimized_hlo"))
                light, full = program.count()
                print(f"| {model} | {name} | {light:,} | {full:,} | {program.n_host} |", flush=True)
                if variant.watch is not None:
                    variant.watch.close()


if __name__ == "__main__":
    main()
