"""The walls between the rooms: who may import whom, read from the sources."""

import sys

import pytest

from .import_graph import SOURCES, Import, follow, name_module, read_package, read_source

FRAMEWORKS = ("tensorflow", "keras", "tf_keras")
HOOK_MAY_USE = {"numpy", "websockets", "msgpack", *FRAMEWORKS, "gradwatch"}
# The one surface of the hook that the server may use: the codec of the wire, its errors, and, to deliver what waits on
# disk, the sender and the spool. None of it imports TensorFlow.
HOOK_MODULES = ("gradwatch.protocol", "gradwatch.errors", "gradwatch.sender", "gradwatch.spool")
HOOK_SURFACE = (*HOOK_MODULES, "gradwatch.__version__")
# Trainings as users write them: for them the hook is a public package, and TensorFlow is what they train with.
USER_SCRIPTS = "gradwatch_server.demo.scripts"
# What finders of slips read graphs, lines and models with: nothing of how a step is recorded and sent.
SLIPS_MAY_USE = tuple(
    f"gradwatch.{name}"
    for name in ("slips", "constants", "contrast", "legacy", "origin", "syntax", "tap", "target", "walk", "way")
)
DOES_IO = {
    "asyncio", "http", "io", "logging", "os", "pathlib", "shutil", "socket", "sqlite3", "ssl", "subprocess", "tempfile",
    "threading", "time", "urllib",
}  # fmt: skip


def check(imports: list[Import], is_allowed) -> list[str]:
    return [f"{edge.importer}:{edge.line} imports {edge.target}" for edge in imports if not is_allowed(edge)]


def is_hook_import_allowed(edge: Import) -> bool:
    top = edge.target.partition(".")[0]
    return top in HOOK_MAY_USE or top in sys.stdlib_module_names


def is_slip_import_allowed(edge: Import) -> bool:
    return not edge.reaches("gradwatch") or edge.reaches(*SLIPS_MAY_USE)


def is_server_import_allowed(edge: Import) -> bool:
    if edge.importer.startswith(f"{USER_SCRIPTS}."):
        return True
    if edge.reaches("gradwatch"):
        return edge.reaches(*HOOK_SURFACE)
    return not edge.reaches(*FRAMEWORKS, "sklearn")


def make_pure_rule(room: str, *libraries: str):
    def is_allowed(edge: Import) -> bool:
        top = edge.target.partition(".")[0]
        if top == "gradwatch_server":
            return edge.reaches(room)
        if top in sys.stdlib_module_names:
            return top not in DOES_IO or edge.reaches(
                "pathlib.PurePath", "pathlib.PurePosixPath", "pathlib.PureWindowsPath"
            )
        return edge.reaches(*libraries, "gradwatch.protocol")

    return is_allowed


is_health_import_allowed = make_pure_rule("gradwatch_server.health", "numpy")
is_figures_import_allowed = make_pure_rule("gradwatch_server.figures", "numpy", "plotly")


def test_hook_knows_neither_the_server_nor_its_libraries():
    imports = read_package("gradwatch")
    assert len(imports) > 20
    assert check(imports, is_hook_import_allowed) == []


def test_finders_of_slips_know_nothing_of_recording():
    imports = [edge for edge in read_package("gradwatch") if edge.importer.startswith("gradwatch.slips.")]
    assert len(imports) > 300
    assert check(imports, is_slip_import_allowed) == []


def test_server_uses_only_the_hooks_surface_and_no_framework():
    imports = read_package("gradwatch_server")
    assert any(edge.reaches("gradwatch.protocol") for edge in imports)
    assert check(imports, is_server_import_allowed) == []


@pytest.mark.parametrize(
    ("room", "is_allowed"),
    [("gradwatch_server.health", is_health_import_allowed), ("gradwatch_server.figures", is_figures_import_allowed)],
)
def test_pure_rooms_do_no_input_or_output(room, is_allowed):
    imports = [edge for edge in read_package("gradwatch_server") if f"{edge.importer}.".startswith(f"{room}.")]
    assert imports
    assert check(imports, is_allowed) == []


@pytest.mark.parametrize("start", ["gradwatch", *HOOK_MODULES])
def test_no_framework_is_imported_before_something_is_watched(start):
    root = SOURCES["gradwatch"]
    modules = {name_module(path, "gradwatch", root) for path in root.rglob("*.py")}
    assert start in modules
    reached = follow(read_package("gradwatch"), start, modules=modules)
    assert {target: by for target, by in reached.items() if target.partition(".")[0] in FRAMEWORKS} == {}


def test_page_is_data_and_imports_nothing():
    assert [edge for edge in read_package("gradwatch_frontend") if not edge.reaches("__future__")] == []


@pytest.mark.parametrize(
    ("module", "source", "is_allowed"),
    [
        ("gradwatch.sender", "import gradwatch_server", is_hook_import_allowed),
        ("gradwatch.sender", "def f():\n    from fastapi import FastAPI", is_hook_import_allowed),
        ("gradwatch.slips.graph.mask", "from gradwatch.probe import Stream", is_slip_import_allowed),
        ("gradwatch_server.store", "from gradwatch import session", is_server_import_allowed),
        ("gradwatch_server.store", "import gradwatch.probe as p", is_server_import_allowed),
        ("gradwatch_server.store", "import gradwatch", is_server_import_allowed),
        ("gradwatch_server.cli", "import keras", is_server_import_allowed),
        ("gradwatch_server.health.rule", "from pathlib import Path", is_health_import_allowed),
        ("gradwatch_server.health.rule", "from ..store import frames", is_health_import_allowed),
        ("gradwatch_server.health.rule", "import plotly", is_health_import_allowed),
        ("gradwatch_server.figures.run", "from gradwatch_server.store import frames", is_figures_import_allowed),
    ],
)
def test_rules_see_a_breach(module, source, is_allowed):
    assert len(check(read_source(source, module), is_allowed)) == 1


def test_follow_tells_imports_that_run_from_those_that_wait():
    imports = read_source(
        "from gradwatch.a import x\nif TYPE_CHECKING:\n    import keras", "gradwatch", is_package=True
    )
    imports += read_source("from . import b\ndef f():\n    import keras", "gradwatch.a")
    imports += read_source("class C:\n    import tensorflow", "gradwatch.b")
    reached = follow(imports, "gradwatch", modules={"gradwatch", "gradwatch.a", "gradwatch.b"})
    assert reached["tensorflow"] == "gradwatch.b"
    assert "keras" not in reached
