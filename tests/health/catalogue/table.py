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
from tests.health.catalogue.seventyfirst import BROKEN, HEALTHY

BLIND = "written blind"
"""So begins the study of a case by someone who had not seen the rules."""

Results = Mapping[tuple[str, int], Played]

HEAD = """\
# The catalogue: broken and healthy trainings

Each is a small training, played for real under the hook with everything captured at every step, and diagnosed step by
step. They are written anew after the kinds of defects that the studies named here found in real programs; their code is
in [`tests/health/catalogue`](../tests/health/catalogue). `make test` plays a short one of each frequent family of
defects, and of the shorter healthy ones the first twenty, the newest and every fiftieth; `make thorough` plays the
others once.
This table is what `python -m tests.health.catalogue --seeds {n_seeds} -o docs/catalogue.md` printed.

*found*: the leading finding has a right kind. *culprit*: it names the operation and its line, the layer or the column,
and the right cause among its first two. *breaks*: the first step with a NaN or Inf in a gradient or the loss. *told*:
the step at which the first finding was told. *ahead*: how many steps before it broke something was told.

Rules and trainings were mostly written by the same people, so this guards against steps back and is no estimate for
programs that neither knows. When the first 49 were first played, 39 were found; six of the others did not break as they
had been written, and four showed gaps in the rules, which were closed. Most break at once: how early a slow failure is
told shows in few of them.

Nearer to an estimate is what happened to the 71 sets *written blind*, by someone who had seen neither rules
nor cases, at their first play (one seed, before any rule was changed for them):

| set | end in NaN: found | only fail to learn: found | culprit named | healthy: silent |
|---|---|---|---|---|
| first | 5 of 9, of both kinds | | 2 of 9 | none there |
| second | 8 of 8 | 4 of 12 | 8 of 20 | 12 of 12 |
| third | 8 of 8 | 8 of 12 | 12 of 20 | 10 of 10 |
| fourth, after reports of users | 8 of 8 | 2 of 12 | 10 of 20 | 12 of 12 |
| fifth, after the studies | 11 of 11 | 7 of 11 | 14 of 22 | 10 of 10 |
| sixth | none there | 12 of 22 | 11 of 22 | 12 of 12 |
| seventh | 8 of 9 | 4 of 11 | 10 of 20 | 17 of 18 |
| eighth | 12 of 13 | 9 of 14 | 11 of 27 | 31 of 32, 14 of them cured copies |
| ninth, what people ask about most | 8 of 8 | 5 of 10 | 10 of 18 | 17 of 18 |
| tenth | 8 of 8 | 9 of 14 | 12 of 22 | 13 of 14 |
| eleventh | 8 of 8 | 13 of 18 | 16 of 26 | 15 of 16 |
| twelfth, one of each family of the studies | 9 of 9 | 13 of 18 | 19 of 27 | 16 of 16 |
| thirteenth | 4 of 4 | 8 of 11 | 10 of 15 | 13 of 14 |
| fourteenth | 4 of 4 | 7 of 11 | 8 of 15 | 13 of 14 |
| fifteenth | 4 of 4 | 10 of 12 | 12 of 16 | 14 of 14 |
| sixteenth | 4 of 4 | 8 of 14 | 7 of 18 | 11 of 12 |
| seventeenth, an acceptance test | 7 of 7 | 14 of 21 | 18 of 28 | 13 of 14 |
| eighteenth, one of each of the first families | 17 of 17 | 17 of 25 | 29 of 42 | 14 of 15 |
| nineteenth, the same families, after the eighteenth | none there | 12 of 14 | 12 of 14 | 3 of 3 |
| twentieth, the same families and others, by two | 9 of 9 | 13 of 23 | 17 of 32 | 5 of 6 |
| twenty-first, the same families and others | 2 of 2 | 26 of 33 | not counted | 44 of 44 (later), 38 cured copies |
| twenty-second, the same, more that end in NaN | 14 of 14 | 10 of 21 | 22 of 35 | 44 of 45, 35 of them cured copies |
| twenty-third, the families of the studies | 11 of 11 | 18 of 24 | 24 of 35 | 7 of 9; 35 of 35 cured copies (later) |
| twenty-fourth, played within the default budget | 3 of 3 | 7 of 10 | 10 of 13 | 4 of 4 |
| twenty-fifth, played within the default budget | 3 of 3 | 8 of 13 | 10 of 16 | 4 of 4, 14 of 14 cured copies |
| twenty-sixth, by two, played within the default budget | 2 of 2 | 5 of 14 | 5 of 16 | 6 of 6, 15 of 16 cured copies |
| twenty-seventh, by two, in the default budget | 1 of 1 | 11 of 16 | 8 of 17 | 6 of 6; later 16 of 16 cured copies |
| twenty-eighth, by two, in the default budget | 2 of 2 | 9 of 14 | 10 of 16 | 6 of 6; 15 of 16 cured copies |
| twenty-ninth, by two, in the default budget | 3 of 3 | 8 of 13 | 11 of 16 | 6 of 6; 16 of 16 cured copies |
| thirtieth, by two, in the default budget | 3 of 3 | 9 of 13 | 11 of 16 | 5 of 6; 16 of 16 cured copies |
| thirty-first, by three, in the default budget | 4 of 4 | 13 of 20 | 15 of 24 | 9 of 9; 23 of 24 cured copies |
| thirty-second, by three, in the default budget | 4 of 4 | 9 of 12 | 10 of 16 | 17 of 18; 16 of 16 cured copies |
| thirty-third, by three, in the default budget | 1 of 1 | 21 of 26 | 18 of 27 | 14 of 15; later 27 of 27 cured copies |
| thirty-fourth, an area each, in the default budget | none there | 8 of 10 | 8 of 10 | 4 of 4; 9 of 10 cured copies |
| thirty-fifth, by two, in the default budget | none there | 13 of 18 | 13 of 18 | 7 of 8; later 18 of 18 cured copies |
| thirty-sixth, by two, in the default budget | 1 of 1 | 14 of 17 | 10 of 18 | 7 of 8; later 18 of 18 cured copies |
| thirty-seventh, by two, in the default budget | none there | 14 of 16 | 14 of 16 | 10 of 10 |
| thirty-eighth, by two, in the default budget | 4 of 4 | 12 of 26 | 13 of 30 | 12 of 12; later 30 of 30 cured copies |
| thirty-ninth, by two, in the default budget | 6 of 6 | 18 of 24 | 22 of 30 | 12 of 12; 29 of 30 cured copies |
| fortieth, by three, in the default budget | 8 of 8 | 20 of 32 | 23 of 40 | 16 of 16; 39 of 40 cured copies |
| forty-first, by two, in the default budget | 5 of 5 | 13 of 23 | 16 of 28 | 11 of 11; 27 of 28 cured copies |
| forty-second, by two, in the default budget | 10 of 10 | 14 of 20 | 21 of 30 | 8 of 8; 29 of 30 cured copies |
| forty-third, by two, in the default budget | 9 of 9 | 9 of 17 | 15 of 26 | 6 of 6; 26 of 26 cured copies |
| forty-fourth, by two, in the default budget | 9 of 9 | 15 of 19 | 21 of 28 | 6 of 6; 28 of 28 cured copies |
| forty-fifth, by two, in the default budget | 9 of 9 | 17 of 19 | 25 of 28 | 6 of 6; 27 of 28 cured copies |
| forty-sixth, by one, in the default budget | 4 of 4 | 10 of 10 | 13 of 14 | 3 of 3; 14 of 14 cured copies |
| forty-seventh, by one, in the default budget | 4 of 4 | 8 of 10 | 12 of 14 | 3 of 3; 12 of 14 cured copies |
| forty-eighth, by one, in the default budget | 4 of 4 | 7 of 10 | 11 of 14 | 3 of 3; 14 of 14 cured copies |
| forty-ninth, by one, in the default budget | 4 of 4 | 9 of 10 | 13 of 14 | 3 of 3; 14 of 14 cured copies |
| fiftieth, by one, in the default budget | 4 of 4 | 7 of 10 | 10 of 14 | 3 of 3; 14 of 14 cured copies |
| fifty-first, by one, in the default budget | 4 of 4 | 5 of 10 | 8 of 14 | 3 of 3; 13 of 14 cured copies |
| fifty-second, by one, in the default budget | 4 of 4 | 4 of 10 | 8 of 14 | 2 of 3; later 14 of 14 cured copies |
| fifty-third, by one, in the default budget | 4 of 4 | 8 of 10 | 10 of 14 | 3 of 3; later 14 of 14 cured copies |
| fifty-fourth, by one, in the default budget | 4 of 4 | 6 of 10 | 8 of 14 | 3 of 3; 14 of 14 cured copies |
| fifty-fifth, by one, in the default budget | 4 of 4 | 10 of 10 | 11 of 14 | 3 of 3; 13 of 14 cured copies |
| fifty-sixth, by one, in the default budget | 4 of 4 | 10 of 10 | 12 of 14 | 2 of 3; 13 of 14 cured copies |
| fifty-seventh, by one, in the default budget | 4 of 4 | 8 of 10 | 10 of 14 | 3 of 3; 13 of 14 cured copies |
| fifty-eighth, by one, in the default budget | 4 of 4 | 8 of 10 | 11 of 14 | 3 of 3; 14 of 14 cured copies |
| fifty-ninth, by one, in the default budget | 4 of 4 | 9 of 10 | 9 of 14 | 3 of 3; 14 of 14 cured copies |
| sixtieth, by one, in the default budget | 4 of 4 | 7 of 10 | 8 of 14 | 3 of 3; 13 of 14 cured copies |
| sixty-first, what is common, in the default budget | 6 of 6 | 9 of 10 | 15 of 16 | 5 of 6; 16 of 16 cured copies |
| sixty-second, what is common, in the default budget | 6 of 6 | 9 of 9 | 12 of 15 | 6 of 6; 15 of 16 cured copies |
| sixty-third, what is common, in the default budget | 6 of 6 | 10 of 10 | 13 of 16 | 6 of 6; 16 of 16 cured copies |
| sixty-fourth, after the studies, in the default budget | 6 of 6 | 8 of 10 | 14 of 16 | 6 of 6; 15 of 16 cured copies |
| sixty-fifth, adapted tutorials, in the default budget | 6 of 6 | 10 of 10 | 15 of 16 | 6 of 6; 15 of 16 cured copies |
| sixty-sixth, after the studies, in the default budget | 6 of 6 | 10 of 10 | 14 of 16 | 5 of 6; 15 of 16 cured copies |
| sixty-seventh, what firms train, in the default budget | 5 of 5 | 9 of 9 | 13 of 14 | 4 of 4; 14 of 14 cured copies |
| sixty-eighth, after papers, in the default budget | 5 of 5 | 8 of 9 | 12 of 14 | 4 of 4; 14 of 14 cured copies |
| sixty-ninth, asked in forums, in the default budget | 6 of 6 | 10 of 10 | 16 of 16 | 6 of 6; 16 of 16 cured copies |
| seventieth, issues, beginners, in the default budget | 6 of 6 | 10 of 10 | 14 of 16 | 6 of 6; 16 of 16 cured copies |
| seventy-first, from a taxonomy, in the default budget | 6 of 6 | 9 of 10 | 13 of 16 | 5 of 6; 16 of 16 cured copies |

The sets thirteen to sixty were each to hold what no set before them had, so that they grew rarer; the last eleven
are what their writers hold for a fair sample of what people report, whatever earlier sets have.

The first twenty-three were played with every statistic at every step. Within the default budget of 2 %, as users have
it, 78 of 80 of the older sets were found and named, drawn at random from the shorter ones that are found otherwise
(of the two others *movie ratings* was told with another cause, and *ndvi* is not found on this processor with every
row either); of the twenty-third set all that are found were, once two rules had been mended by it. 38 healthy ones
were silent.

The rules have been mended by them since, so their rows here are no estimate any more; what is still not found, or told
with another cause, is listed below the table. What the tools of these studies report of their own sets:
[published.md](published.md).

As many further ones as one likes are drawn by a seed (`python -m tests.health.catalogue.drawn`): nine tasks, 38 kinds
of defect that people report, `fit` or a loop, four optimizers. Who drew them knows the rules, so they are no blind set;
but no rule was fitted to any one of these. Of 116 with a defect (29 kinds, seeds 500 to 503) something was told of 102,
and the cause named in 97; of the 14 others 12 learned all the same (scores of 0.36 to 1, where 1 is all and 0 is
guessing). Of 76 with a defect (38 kinds, seeds 610 and 611) something was told of 61, and the cause named in 55; of the
15 others five learned all the same (0.44 to 1), and ten learned little or nothing and were missed: data in order, the
beginning of a long sequence, inputs far out of scale or next to nothing, a penalty. Of 38 with another seed (720), one
of each kind, something was told of 32, and the cause named in 30; three of the six others learned all the same. Of 51
healthy ones two were told of: a slow one that ended after 188 steps, and one that left a plateau at step 122; since
then neither is.
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
