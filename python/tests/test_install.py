"""The wheel, installed in the ways that pip has."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import venv
import zipfile
from pathlib import Path

import pytest

import stampmill

VERSION = f"stampmill {stampmill.__version__}\n"
KERNEL = "kernel void a(global int* x) { x[get_global_id(0)] += 3; }\n"


def pip(*arguments: str | Path) -> None:
    # Without --ignore-installed pip finds it in this environment, and installs nothing.
    words = [sys.executable, "-m", "pip", "install", "--ignore-installed", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    subprocess.run([*words, *arguments], check=True)


def output(*words: str | Path, **environment: str) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}).stdout


def works(command: Path, folder: Path) -> None:
    """The command starts, and its helpers find one another: the clang worker, the sandbox, the SQL engine."""
    assert output(command, "-V") == VERSION
    (folder / "kernel.cl").write_text(KERNEL)
    output(command, "features", folder / "kernel.cl", "--space", "grewe", "--out", folder / "vectors", "--quiet")
    assert output(command, "query", "SELECT kernel FROM dataset", folder / "vectors", "--format", "csv") == "kernel\na\n"


def test_the_command_is_on_the_path_of_its_environment() -> None:
    command = Path(sys.executable).parent / "stampmill"
    assert output(command, "-V") == VERSION
    assert output(sys.executable, "-m", "stampmill", "-V") == VERSION


def test_a_fresh_environment_without_dependencies_has_the_command(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    words: list[str | Path] = ["-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", wheel]
    subprocess.run([sys.executable, *words], check=True)
    works(tmp_path / "venv" / "bin" / "stampmill", tmp_path)
    assert output(python, "-m", "stampmill", "-V") == VERSION


def test_what_ships_is_where_it_says(tmp_path: Path) -> None:
    assert stampmill.Dataset(stampmill.shipped("datasets/device-mapping-h200/task")).to_pandas()["group"].nunique() == 18
    assert len(stampmill.Dataset(stampmill.shipped("datasets/device-mapping-h200/kernels"))) == 1803
    assert all(stampmill.Dataset(stampmill.shipped(f"datasets/archive-{space}")).schema == "archive" for space in ("instcount", "autophase"))
    assert {"models", "datasets", "packages.toml"} <= {path.name for path in stampmill.shipped().iterdir()}
    samples = stampmill.sample(stampmill.shipped("models/infill"), n=1, seed=1, out=tmp_path / "samples")
    assert len(samples.to_pandas()) == 1
    with pytest.raises(FileNotFoundError, match="models/cost"):
        stampmill.shipped("models/none")


def test_target(wheel: Path, tmp_path: Path) -> None:
    pip("--target", tmp_path / "target", wheel)
    works(tmp_path / "target" / "bin" / "stampmill", tmp_path)
    script = "import stampmill; print(stampmill.__file__)"
    where = output(sys.executable, "-c", script, PYTHONPATH=str(tmp_path / "target"))
    assert where.startswith(str(tmp_path / "target"))
    assert output(sys.executable, "-m", "stampmill", "-V", PYTHONPATH=str(tmp_path / "target")) == VERSION


def test_prefix(wheel: Path, tmp_path: Path) -> None:
    pip("--prefix", tmp_path / "prefix", wheel)
    works(tmp_path / "prefix" / "bin" / "stampmill", tmp_path)


def test_a_link_to_the_command_works(wheel: Path, tmp_path: Path) -> None:
    pip("--target", tmp_path / "target", wheel)
    (tmp_path / "link").symlink_to(tmp_path / "target" / "bin" / "stampmill")
    assert output(tmp_path / "link", "-V") == VERSION


def test_exit_statuses_and_signals_are_those_of_the_command(tmp_path: Path) -> None:
    here = Path(sys.executable)
    ways: list[list[str | Path]] = [[here.parent / "stampmill"], [here, "-m", "stampmill"]]
    for number, words in enumerate(ways):
        out = tmp_path / f"out-{number}"
        (tmp_path / "broken.cl").write_text("kernel void a(")
        features = [*words, "features", tmp_path / "broken.cl", "--space", "grewe", "--json"]
        assert subprocess.run(features, stdout=subprocess.DEVNULL).returncode == 1
        missing = [*words, "features", tmp_path / "nothing"]
        assert subprocess.run(missing, stderr=subprocess.DEVNULL).returncode == 2
        steer = [*words, "steer", "--target", "Load=60,PHI=23,Select=17,TotalInsts=400", "--budget", "60s", "--out", out]
        child = subprocess.Popen(steer, stderr=subprocess.DEVNULL)
        wait_for(tmp_path / f"{out.name}.partial")
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=30) == 130


def wait_for(path: Path) -> None:
    for _ in range(300):
        if path.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"there is no {path}")


def test_doctor_finds_every_helper() -> None:
    found = {component["name"]: component for component in stampmill.doctor()["components"]}
    folder = str(Path(stampmill.__file__).parent / "bin")
    assert folder in found["clang worker"]["version"]
    assert folder in found["sandbox launcher"]["version"]
    assert folder in found["object store client"]["version"]
    of_a_checkout = {name for name, component in found.items() if re.search(r"\bmake [a-z]|cargo build", component["install"])}
    assert of_a_checkout == {"cluster engine"}


def test_the_client_of_object_stores_starts() -> None:
    """Nobody asks: what says so is the client, which no other program here stands for."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    words = [sys.executable, "-m", "stampmill", "show", "s3://bucket/kernels"]
    shown = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    assert shown.returncode == 2
    assert "there are no credentials" in shown.stderr


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert "stampmill/py.typed" in names
        assert any(name.endswith("licenses/LICENSE-MIT") for name in names)
        notices = next(name for name in names if name.endswith("licenses/THIRD-PARTY.txt"))
        held = archive.read(notices).decode()
        assert re.search(r"^datafusion [0-9.]+: Apache-2.0; texts? \d", held, re.M) and "\nxtask " not in held
        assert re.search(r"^object_store [0-9.]+: ", held, re.M) and re.search(r"^reqwest [0-9.]+: ", held, re.M)
        for entry in archive.infolist():
            if entry.filename.startswith("stampmill/bin/"):
                assert entry.external_attr >> 16 & 0o111, f"{entry.filename} cannot be executed"
        about = next(name for name in names if name.endswith(".dist-info/WHEEL"))
        assert "Root-Is-Purelib: false" in archive.read(about).decode()
    assert wheel.stat().st_size < 100_000_000, "package indexes take files of 100 MB"
