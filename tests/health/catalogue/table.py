"""Plays the catalogue and writes its table.

``python -m tests.health.catalogue [--seeds 3] [--only WORDS] [-o docs/catalogue.md]``
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tests.health.catalogue.play import Played, is_found, names_culprit, play
from tests.health.catalogue.tenth import BROKEN, HEALTHY

BLIND = "written blind"
"""So begins the study of a case by someone who had not seen the rules."""

Results = Mapping[tuple[str, int], Played]

HEAD = """\
# The catalogue: broken and healthy trainings

Each is a small training, played for real under the hook with everything captured at every step, and diagnosed step by
step. They are written anew after the kinds of defects that the studies named here found in real programs; their code is
in [`tests/health/catalogue`](../tests/health/catalogue). `make test` plays one of each family of defects, and of the
healthy ones the shorter; `make thorough` plays the others, each once. This table is what
`python -m tests.health.catalogue --seeds {n_seeds} -o docs/catalogue.md` printed.

*found*: the leading finding has a right kind. *culprit*: it names the operation and its line, the layer or the column,
and the right cause among its first two. *breaks*: the first step with a NaN or Inf in a gradient or the loss. *told*:
the step at which the first finding was told. *ahead*: how many steps before it broke something was told.

Rules and trainings were mostly written by the same people, so this guards against steps back and is no estimate for
programs that neither knows. When the first 49 were first played, 39 were found; six of the others did not break as they
had been written, and four showed gaps in the rules, which were closed. Most break at once: how early a slow failure is
told shows in few of them.

Nearer to an estimate is what happened to the nine sets *written blind*, by someone who had seen neither rules nor
cases, at their first play: of the first set's nine that broke five were found, of two the culprit was named; of the
second set's twenty twelve were found (all eight that end in NaN, four of the twelve that only fail to learn), of eight
the culprit was named, and its twelve healthy ones were silent; of the third set's twenty sixteen were found (all eight
whose defect ends in NaN, one of them before it got there, and eight of the twelve that only fail to learn), of twelve
the culprit was named, and its ten healthy ones were silent; of the fourth set's twenty, written after reports of users,
ten were found (all eight that end in NaN, two of the twelve that only fail to learn), of ten the culprit was named, and
its twelve healthy ones were silent; of the fifth set's twenty-two, written after the studies, eighteen were found (all
eleven that end in NaN, seven of the eleven that only fail to learn), of fourteen the culprit was named, and its ten
healthy ones were silent; of the sixth set's twenty-two, all of which only fail to learn, twelve were found, of eleven
the culprit was named, and its twelve healthy ones were silent; of the seventh set's twenty twelve were found (eight of
the nine that end in NaN, four of the eleven that only fail to learn), of ten the culprit was named, and of its eighteen
healthy ones seventeen were silent and one was given a warning; of the eighth set's twenty-seven that were played as
they had been written twenty-one were found (twelve of the thirteen that end in NaN, nine of the fourteen that only fail
to learn), of eleven the culprit was named, of its eighteen healthy ones seventeen were silent and one was given a
warning, and the cured copies of the fourteen were silent; of the ninth set's eighteen, of the families that people ask
about most, thirteen were found (all eight that end in NaN, five of the ten that only fail to learn), of ten the culprit
was named, and of its eighteen healthy ones seventeen were silent and one was given a warning. Each set was played with
one seed. The rules have been mended by them since, so their rows here are no estimate any more; what is still not
found, or told with another cause, is listed below the table. What the tools of these studies report of their own sets:
[published.md](published.md).
"""


def run(job: tuple[str, int]) -> tuple[str, int, Played | str, float]:
    """Plays one training in a process of the pool."""
    name, seed = job
    began = time.perf_counter()
    train = BROKEN[name.removeprefix("broken ")].train if name.startswith("broken ") else HEALTHY[name]
    try:
        return name, seed, play(train, seed), time.perf_counter() - began
    except Exception as error:  # another training goes on
        return name, seed, f"{type(error).__name__}: {error}", time.perf_counter() - began


def main() -> None:
    """Plays everything that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="how many, from 0 on")
    parser.add_argument("--only", default="", help="parts of the names to play, with commas between them")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, help="where the table goes")
    options = parser.parse_args()
    names = [*(f"broken {name}" for name in BROKEN), *HEALTHY]
    names = [name for name in names if any(word in name for word in options.only.split(","))]
    jobs = [(name, seed) for name in names for seed in range(options.seeds)]
    results: dict[tuple[str, int], Played] = {}
    failed = []
    with multiprocessing.get_context("spawn").Pool(options.processes, maxtasksperchild=12) as pool:
        for name, seed, played, seconds in pool.imap_unordered(run, jobs):
            if isinstance(played, str):
                failed.append(name)
                print(f"{name}, seed {seed}: {played}", flush=True)
                continue
            results[name, seed] = played
            print(f"{name}, seed {seed}, {seconds:.0f} s: {say(name, played)}", flush=True)
    if failed:
        sys.exit(f"{len(failed)} did not end: {', '.join(failed)}")
    table = "\n".join([HEAD.format(n_seeds=options.seeds), *tabulate(names, results, options.seeds), ""])
    if options.output is None:
        print(table)
    else:
        options.output.write_text(table, encoding="utf-8")


def say(name: str, played: Played) -> str:
    """What became of one training."""
    if not name.startswith("broken "):
        return played.describe()
    case = BROKEN[name.removeprefix("broken ")]
    found = "found" if is_found(case, played) else "NOT FOUND"
    named = "culprit named" if names_culprit(case, played) else "CULPRIT NOT NAMED"
    causes = (
        "" if named == "culprit named" else f" {[[h.cause for h in one.hypotheses[:2]] for one in played.findings]}"
    )
    return f"{found}, {named}, breaks at {played.nonfinite_step}: {played.describe()}{causes}"


def tabulate(names: Sequence[str], results: Results, n_seeds: int) -> list[str]:
    """The lines of the tables of the broken, and of that of the healthy."""
    broken = [name.removeprefix("broken ") for name in names if name.startswith("broken ")]
    blind = [name for name in broken if BROKEN[name].study.startswith(BLIND)]
    lines: list[str] = []
    for head, some in (("Broken", [name for name in broken if name not in blind]), ("Broken, written blind", blind)):
        if some:
            lines += [f"## {head}", "", *_tabulate_broken(some, results, n_seeds), ""]
    healthy = [name for name in names if not name.startswith("broken ")]
    lines += ["## Healthy", "", "| training | seeds | critical | warnings |", "|---|---|---|---|"]
    for name in healthy:
        findings = [finding for seed in range(n_seeds) for finding in results[name, seed].findings]
        critical = [finding.kind for finding in findings if finding.severity == "critical"]
        warnings = [finding.kind for finding in findings if finding.severity != "critical"]
        lines.append(f"| {name} | {n_seeds} | {' '.join(critical) or '0'} | {' '.join(warnings) or '0'} |")
    n_spoke = sum(bool(results[name, seed].findings) for name in healthy for seed in range(n_seeds))
    return [*lines, "", f"{len(healthy) * n_seeds} runs, {n_spoke} of them with a finding."]


def _tabulate_broken(names: Sequence[str], results: Results, n_seeds: int) -> list[str]:
    lines = ["| training | defect | study | kind told | found | culprit | breaks | told | ahead |"]
    lines.append("|---|---|---|---|---|---|---|---|---|")
    n_found = n_named = 0
    for name in names:
        case = BROKEN[name]
        played = [results[f"broken {name}", seed] for seed in range(n_seeds)]
        found, named = sum(is_found(case, one) for one in played), sum(names_culprit(case, one) for one in played)
        n_found, n_named = n_found + found, n_named + named
        kinds = sorted({f"`{one.findings[0].kind}`" if one.findings else "nothing" for one in played})
        breaks = _range([one.nonfinite_step for one in played])
        told = _range([min(one.told.values(), default=None) for one in played])
        ahead = _range([one.lead_steps for one in played])
        lines.append(
            f"| {case.name} | {case.family} | {case.study} | {' '.join(kinds)} | {found} of {n_seeds} | "
            f"{named} of {n_seeds} | {breaks} | {told} | {ahead} |"
        )
    n_all = len(names) * n_seeds
    gaps = [f"- *{BROKEN[name].name}*: {BROKEN[name].gap}" for name in names if BROKEN[name].gap]
    return [
        *lines,
        *(["", "Not found, or told with another cause:", "", *gaps] if gaps else []),
        "",
        f"Found {n_found} of {n_all} ({n_found / n_all:.0%}), culprit named in {n_named} ({n_named / n_all:.0%}).",
    ]


def _range(steps: Sequence[int | None]) -> str:
    """Steps over the seeds: ``13``, ``2 to 5``, an en dash where there is none."""
    known = sorted(step for step in steps if step is not None)
    if not known:
        return "–"  # noqa: RUF001
    return str(known[0]) if known[0] == known[-1] else f"{known[0]} to {known[-1]}"
