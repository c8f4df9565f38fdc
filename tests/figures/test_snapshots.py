"""The specifications as the page's own tests read them: `tests/contract/snapshots/figure_*.json`.

After a change that is meant, ``python -m tests.figures.test_snapshots`` writes them anew.
"""

import json
from pathlib import Path

import pytest

from gradwatch_server.figures import FIGURES

FOLDER = Path(__file__).parents[1] / "contract" / "snapshots"


def render(name: str) -> str:
    """The light specification as text, keys in order."""
    return json.dumps(json.loads(FIGURES[name]("light").to_json()), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_page_tests_read_the_present_specification(name: str) -> None:
    assert (FOLDER / f"figure_{name}.json").read_text(encoding="utf-8") == render(name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for figure in FIGURES:
        (FOLDER / f"figure_{figure}.json").write_text(render(figure), encoding="utf-8")
