"""How many kernels a compiled step launches, with the hook and without, counted in XLA's optimized HLO.

    python -m benchmarks.kernels [--models mlp tiny]

Each instruction of the optimized program that is neither bookkeeping nor within a fusion is a kernel, or a call of a
library. A conditional launches one of its branches: *light* counts the cheaper one of each in the program of a step in
which full statistics are not due, *full* the dearer in that of one in which they are. Compiled for the CPU where there
is no GPU, but as for one, where the host tells the step which it is: there XLA fuses by other rules, so the counts tell
the order of size.

Each conditional that a light step comes to, and each loop of the hook's, is a *wait* on a GPU: XLA's program for GPUs
copies the predicate to the host and blocks until the stream is done (`ExecuteOnStream` of `ConditionalThunk` and of
`WhileThunk` in openxla/xla). The last column counts other instructions that move data to the host or wait for it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks.models import MODELS
from benchmarks.overhead import Variant
from gradwatch import cadence, shared

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


class Count(NamedTuple):
    """What a computation launches.

    Attributes:
        light: kernels with the cheaper branch of each conditional.
        full: kernels with the dearer one.
        n_waits: conditionals, and loops of the hook's, that a light step comes to.
    """

    light: int = 0
    full: int = 0
    n_waits: int = 0

    def __add__(self, other: Count) -> Count:  # type: ignore[override]
        """Of two computations, one after the other."""
        return Count(*(one + another for one, another in zip(self, other, strict=True)))


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

    def count(self, name: str | None = None) -> Count:
        """Kernels and waits of a computation."""
        found = Count()
        for line in self.lines.get(name or self.entry, ()):
            opcode = _OPCODE.match(line)[1]  # type: ignore[index]
            if opcode == "conditional":
                listed = _BRANCHES.search(line)
                names = re.findall(r"[\w.\-]+", listed[1]) if listed else _CALLED.findall(line)
                branches = [self.count(one) for one in names]
                light = min(branches)
                found += Count(light.light, max(one.full for one in branches), light.n_waits + 1)
            elif opcode == "while" and "gradwatch" in line:  # entered where something is due or bad
                called = [self.count(one) for one in _CALLED.findall(line)]
                found += Count(0, sum(one.full for one in called), 1)
            elif opcode in {"call", "while"}:
                for one in _CALLED.findall(line):
                    found += self.count(one)
            elif opcode not in BOOKKEEPING:
                found += Count(1, 1)
        return found

    @property
    def n_host(self) -> int:
        """Instructions that move data to the host or wait for it."""
        return sum(_OPCODE.match(line)[1] in HOST for lines in self.lines.values() for line in lines)  # type: ignore[index]


def compile_programs(model: str, name: str) -> list[Program]:
    """The programs of a variant's step: full statistics are due in the first, not in the second; of the plain one."""
    with tempfile.TemporaryDirectory() as directory:
        flags = f"--xla_dump_to={directory}/programs --xla_dump_hlo_as_text"
        environment = os.environ | {"XLA_FLAGS": flags, "GRADWATCH_DIR": directory}
        command = [sys.executable, "-m", "benchmarks.kernels", "--step", model, name]
        subprocess.run(command, env=environment, check=True, stderr=subprocess.DEVNULL)
        found = sorted(Path(directory, "programs").glob("*inference_step_*after_optimizations.txt"))
        return [Program(path.read_text(encoding="utf-8")) for path in found]


def take_steps(model: str, name: str) -> None:
    """Takes two steps of a variant as on a GPU."""
    for module in (cadence, shared):
        setattr(module, "has_gpu", lambda: True)  # noqa: B010 as if there were one
    variant = Variant(name, MODELS[model], url="http://127.0.0.1:9", jit=True)
    if variant.watch is not None:
        variant.watch._cadence.set_period(100)
    variant.step()
    if variant.watch is not None:
        variant.watch.close()


def main() -> None:
    """Compiles each model in each variant and counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=["tiny", "mlp", "cnn"])
    parser.add_argument("--step", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        take_steps(*options.step)
        return
    print("| model | variant | kernels, light step | full step | waits, light step | other instructions to the host |")
    print("|---|---|---|---|---|---|")
    for model in options.models:
        for name in VARIANTS:
            programs = compile_programs(model, name)
            counts = [program.count() for program in programs]
            light, full = min(counts), max(counts, key=lambda one: one.full)
            n_host = max(program.n_host for program in programs)
            print(f"| {model} | {name} | {light.light:,} | {full.full:,} | {light.n_waits} | {n_host} |", flush=True)


if __name__ == "__main__":
    main()
