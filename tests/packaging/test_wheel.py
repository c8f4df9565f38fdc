"""The wheel as a user gets it: what it holds, and that the hook alone is light."""

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
HEAVY = ["tensorflow", "keras", "fastapi", "starlette", "uvicorn", "sqlalchemy", "plotly", "sklearn"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built from this checkout by the build backend that is installed here: no network."""
    directory = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", directory, ROOT)
    (built,) = directory.glob("gradwatch-*.whl")
    return built


@pytest.fixture(scope="session")
def core_python(wheel, tmp_path_factory):
    """The interpreter of a fresh environment with the wheel and its core dependencies, and nothing else.

    The dependencies are the ones installed here, one link each: no network, and none of their neighbours comes along.
    """
    directory = tmp_path_factory.mktemp("core")
    venv.EnvBuilder(symlinks=True, with_pip=False).create(directory)
    python = directory / "bin" / "python"
    site = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for name in list_core_dependencies():
        for path in {file.parts[0] for file in distribution(name).files or () if file.parts[0] not in {"..", "."}}:
            (site / path).symlink_to(Path(distribution(name).locate_file(path)), target_is_directory=True)
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--no-deps",
        "--no-index",
        "--quiet",
        str(wheel),
    )
    return python


def list_core_dependencies() -> list[str]:
    requirements = [Requirement(line) for line in distribution("gradwatch").requires or ()]
    return [item.name for item in requirements if item.marker is None or item.marker.evaluate({"extra": ""})]


def run(*command: object) -> str:
    """What a command printed; it must succeed. Settings of this Python and its environment are not handed on."""
    done = start(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def start(*command: object) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run([str(part) for part in command], check=False, capture_output=True, text=True, env=clean)


def list_files(directory: Path, *suffixes: str) -> set[str]:
    """Files under a package's directory, named as in the wheel."""
    found = (path for path in directory.rglob("*") if path.suffix in suffixes and "__pycache__" not in path.parts)
    return {path.relative_to(directory.parent).as_posix() for path in found}


def test_wheel_holds_every_file_of_the_page_and_every_migration(wheel):
    held = set(zipfile.ZipFile(wheel).namelist())
    page = list_files(ROOT / "frontend" / "gradwatch_frontend", ".html", ".js", ".css", ".svg")
    server = list_files(ROOT / "server" / "gradwatch_server", ".py", ".mako", ".ini")
    hook = list_files(ROOT / "client_hook" / "gradwatch", ".py")
    assert {Path(name).suffix for name in page} >= {".html", ".js", ".css"}
    assert any("/migrations/versions/" in name for name in server)
    assert page | server | hook <= held


def test_wheel_holds_types_and_license_and_no_tests(wheel):
    held = zipfile.ZipFile(wheel).namelist()
    for package in ("gradwatch", "gradwatch_server", "gradwatch_frontend"):
        assert f"{package}/py.typed" in held
    assert any(name.endswith("licenses/LICENSE") for name in held)
    assert {name.split("/")[0].split("-")[0] for name in held} == {
        "gradwatch",
        "gradwatch_server",
        "gradwatch_frontend",
    }


def test_core_dependencies_are_few_and_bring_no_framework():
    assert set(list_core_dependencies()) == {"numpy", "websockets", "msgpack"}
    everything = {Requirement(line).name for line in distribution("gradwatch").requires or ()}
    assert not {name for name in everything if re.match("tensorflow|keras", name)}


def test_importing_the_hook_imports_nothing_heavy(core_python):
    code = f"import gradwatch, json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    assert json.loads(run(core_python, "-c", code)) == []


def test_importing_the_hook_imports_nothing_heavy_where_it_could():
    """The same here, where TensorFlow, FastAPI and Plotly are installed, so that an import would succeed."""
    code = f"import gradwatch, json, sys; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))"
    assert json.loads(run(sys.executable, "-c", code)) == []


def test_watching_without_tensorflow_says_what_is_missing(core_python):
    code = "import gradwatch\ntry:\n    gradwatch.watch(None)\nexcept Exception as error:\n    print(error)"
    assert "tensorflow" in run(core_python, "-c", code).lower()


def test_command_without_the_server_says_in_one_line_what_to_install(core_python):
    command = core_python.parent / "gradwatch"
    for arguments in (["serve"], ["--help"]):
        done = start(command, *arguments)
        assert done.returncode != 0
        lines = (done.stdout + done.stderr).strip().splitlines()
        assert len(lines) == 1
        assert "pip install 'gradwatch[server]'" in lines[0]
