"""What is published works where nothing else is: the wheel in an empty environment, outside the checkout."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import headrank
from platforms import POSIX

ROOT = Path(__file__).parents[1]


def done(*command, cwd):
    """Run a command that knows nothing of this checkout, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    ran = subprocess.run([*map(str, command)], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_the_wheel_runs_the_demo_in_an_empty_environment(tmp_path):
    done(sys.executable, "-m", "build", "--outdir", tmp_path, ROOT, cwd=tmp_path)  # the wheel is made from the sdist
    (wheel,) = tmp_path.glob("*.whl")
    (_,) = tmp_path.glob("*.tar.gz")
    assert wheel.name == f"headrank-{headrank.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
    assert folders == {"headrank", f"headrank-{headrank.__version__}.dist-info"}

    venv.create(tmp_path / "empty", with_pip=True)
    scripts = tmp_path / "empty" / ("bin" if POSIX else "Scripts")
    install = [scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done(*install, wheel, cwd=tmp_path)
    code = "import headrank as hr; print(hr.__file__); hr.LinearRanker().fit([[0], [1], [2], [3]], [0, 1, 0, 1])"
    where = done(scripts / "python", "-W", "ignore", "-c", code, cwd=tmp_path)  # so few rows may teach nothing
    assert Path(where.strip()).is_relative_to((tmp_path / "empty").resolve())
    done(*install, f"{wheel}[cli]", cwd=tmp_path)
    assert done(scripts / "headrank", "--version", cwd=tmp_path).split() == ["headrank", headrank.__version__]
    done(scripts / "headrank", "demo", "--out", "demo", cwd=tmp_path)
    written = sorted(path.name for path in (tmp_path / "demo").iterdir())
    assert "report.html" in written, written
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000
