"""Documents that are true: what they point at exists."""

import re

import pytest
from typer.main import get_command

from gradwatch_server.cli import app
from gradwatch_server.health import slip

from .import_graph import ROOT, SOURCES

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def name(path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document):
    links = LINK.findall(document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_commands_and_targets_exist(document):
    text = document.read_text(encoding="utf-8")
    commands = set(re.findall(r"(?:^ {4}|`|; )gradwatch ([a-z]+)\b", text, re.MULTILINE))
    targets = set(re.findall(r"(?:^ {4}|`|; )make ([a-z-]+)\b", text, re.MULTILINE))
    known = set(get_command(app).commands)  # type: ignore[attr-defined]
    assert commands <= known
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))


def test_the_rules_above_find_what_they_look_for():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/architecture.md" in LINK.findall(readme)
    assert "gradwatch serve" in readme
    assert "make demo" in readme


def test_every_slip_stands_in_the_contract():
    text = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    fields = [*slip._BY_FIELD, *slip._BY_TYPE]
    assert len(fields) > 100
    # Of other fields of the message, or of what the rows tell.
    told_otherwise = {"unasked", "output_shape", *(slip.AUGMENT, slip.ANGLES, slip.WORDS), "foreign"}
    assert [name for name in fields if f"`{name}`" not in text and name not in told_otherwise] == []


def test_every_module_of_the_hook_stands_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    modules = {path.stem for path in SOURCES["gradwatch"].glob("[!_]*.py")}
    assert len(modules) > 10
    assert [module for module in sorted(modules) if f"`{module}`" not in text] == []
