"""What the stories share: a folder of their own, and commands run one after the other as they would be typed."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

import numpy as np


def story_folder(name: str) -> Path:
    """Return the folder named on the command line, or a new one, and say which."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(mkdtemp(prefix=f"{name}_"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"The files of this story are in {folder}.", flush=True)
    return folder


def tell(commands: Sequence[str], folder: Path) -> None:
    """Print each command and run it in the folder; stop at the first that fails."""
    for command in commands:
        print(f"\n$ {command}", flush=True)
        subprocess.run([sys.executable, "-m", *shlex.split(command)], cwd=folder, check=True)


def with_gaps(values: Sequence, share: float, rng: np.random.Generator) -> list:
    """Return the values as a list in which a share is missing."""
    return [None if gone else value for gone, value in zip(rng.random(len(values)) < share, values, strict=True)]
