"""The radiologist: which images need a second look tonight, if at most 10 % of the healthy patients may be called back?

A patient has several images, which resemble each other. Split by image, a model is tested on patients whom it knows;
``--group`` keeps the images of a patient on one side, and the guarantees are for new patients.
Run: ``python examples/stories/radiologist.py [FOLDER]``.
"""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from telling import story_folder, tell, with_gaps

COMMANDS = (
    "headrank fit images.csv --target malignant --id image --group patient --drop taken --fpr 0:0.1 --out result",
    "headrank score result/model tonight.csv --id image --keep patient --out scores.csv",
)


def images(n_patients: int, rng: np.random.Generator, *, number: int = 0) -> pl.DataFrame:
    """Draw patients, and from one to eight images of each; the images of a patient share most of what they show."""
    n_images = rng.integers(1, 9, n_patients)
    patient = np.repeat(np.arange(n_patients), n_images)
    n_rows = patient.size
    ill = rng.random(n_patients) < 0.25
    age = np.clip(rng.normal(55, 11, n_patients) + 6 * ill, 30, 92).astype(int)
    own = rng.normal(size=(n_patients, 3)) + 1.3 * ill[:, None]
    seen = 0.95 * own[patient] + 0.3 * rng.normal(size=(n_rows, 3))
    spiky = seen[:, 1] + 0.5 * rng.normal(size=n_rows)
    first = date(2023, 1, 1)
    return pl.DataFrame(
        {
            "image": [f"I{number + i:07d}" for i in range(n_rows)],
            "patient": [f"P{number + i:06d}" for i in patient],
            "taken": [first + timedelta(days=int(day)) for day in rng.integers(0, 700, n_rows)],
            "age": age[patient],
            "density": rng.choice(["a", "b", "c", "d"], n_patients, p=[0.1, 0.4, 0.4, 0.1])[patient],
            "lesion_mm": with_gaps(np.round(np.exp(1.8 + 0.45 * seen[:, 0]), 1).tolist(), 0.1, rng),
            "margin": np.select([spiky > 1.6, spiky > 0.6], ["spiculated", "indistinct"], "smooth"),
            "asymmetry": with_gaps(np.round(seen[:, 2], 2).tolist(), 0.05, rng),
            "calcified": rng.random(n_rows) < np.where(ill, 0.5, 0.25)[patient],
            "scanner": rng.choice(["east", "west", "mobile"], n_rows),
            "malignant": np.where(ill, "yes", "no")[patient],
        }
    )


def write(folder: Path, seed: int = 0) -> None:
    """Write the images with a known outcome, and those of tonight."""
    rng = np.random.default_rng(seed)
    images(1500, rng).write_csv(folder / "images.csv")
    images(20, rng, number=900_000).drop("malignant").write_csv(folder / "tonight.csv")


if __name__ == "__main__":
    here = story_folder("radiologist")
    write(here)
    tell(COMMANDS, here)
    flagged = pl.read_csv(here / "scores.csv").filter("flagged")
    print(f"\nA second look tonight: {flagged.height} images of {flagged['patient'].n_unique()} patients.")
