"""The data of the tables: shared sets by name, and regions of X-ray images, made up in the shape of KDD Cup 2008."""

from __future__ import annotations

import importlib.util
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from experiments.tables.protocol import Rows, Task
from headrank import Measure


@lru_cache(maxsize=1)
def loader(folder: Path) -> Any:
    """Import the module that reads the data sets of a folder."""
    file = folder / "load.py"
    spec = importlib.util.spec_from_file_location("load", file)
    if spec is None or spec.loader is None or not file.exists():
        raise FileNotFoundError(f"expected a folder with load.py and the data sets, got {folder}; pass it with --data")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@lru_cache(maxsize=2)
def read(folder: Path, *, name: str) -> Rows:
    """Read ``set`` or ``set:task``; rows of one query stay together and are ranked as a list."""
    X, y, extra = loader(folder).load(*name.split(":", 1))
    X = X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
    qid = extra.get("qid")
    return Rows(X, np.asarray(y, dtype=np.int64), qid, lists=qid is not None)


def shared(name: str, *measures: Measure) -> Task:
    """Return the task of a shared set, ``set`` or ``set:task``."""
    return Task(name, partial(read, name=name), measures)


N_PATIENTS, N_MALIGNANT = 1712, 118
N_IMAGES, N_REGIONS, N_FEATURES = 4, 15, 117


@lru_cache(maxsize=1)
def made_up_regions(seed: int = 2008, *, n_patients: int = N_PATIENTS, n_malignant: int = N_MALIGNANT) -> Rows:
    """Return candidate regions of X-ray images in the shape of KDD Cup 2008; the group of a row is its patient.

    Every patient has 4 images with 10 to 20 candidate regions each. A malignant patient has one lesion, seen as 1 to 3
    regions in each of two images (two views of one breast). The 117 features are 12 independent ones, mixed: all rows
    of a patient share a shift, lesions are ahead along three of them by an amount that varies between lesions, and one
    benign region in twelve resembles a lesion along the first and lies behind along the second. Some features are
    exponentials, so that the scales are skewed as those of image descriptors are.
    """
    rng = np.random.default_rng(seed)
    images = np.repeat(np.arange(n_patients), N_IMAGES)
    patients = np.repeat(images, rng.integers(N_REGIONS - 5, N_REGIONS + 6, size=images.size))
    starts = np.searchsorted(patients, np.arange(n_patients))
    y = np.zeros(patients.size, dtype=np.int64)
    for patient in rng.choice(n_patients, size=n_malignant, replace=False):
        for view in rng.integers(1, 4, size=2):
            y[starts[patient] + rng.choice(40, size=view, replace=False)] = 1
    n_hidden = 12
    hidden = (
        rng.standard_t(5, size=(patients.size, n_hidden)) + rng.normal(scale=0.5, size=(n_patients, n_hidden))[patients]
    )
    strength = rng.gamma(4.0, 0.4, size=n_patients)[patients]
    hidden[:, :3] += (y * strength)[:, None] * np.array([1.2, 1.0, 0.8])
    resembling = (y == 0) & (rng.random(y.size) < 1 / 12)
    hidden[resembling, 0] += 2.0
    hidden[resembling, 1] -= 1.0
    mixing = rng.normal(size=(n_hidden, N_FEATURES)) / np.sqrt(n_hidden)
    X = hidden @ mixing + rng.normal(scale=0.7, size=(patients.size, N_FEATURES))
    X[:, ::4] = np.exp(np.clip(X[:, ::4], -6.0, 6.0) / 2)
    return Rows(X, y, patients)
