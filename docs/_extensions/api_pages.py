"""Generate the pages of the API reference from the lists of public names, so that none is missing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import headrank
import headrank.datasets
import headrank.exceptions
import headrank.integrations
import headrank.readers
import headrank.rivals

FOLDER = "api"
"""Where the pages are written, below the sources of the documentation."""

HEADINGS = {
    "curve": (
        "The curve",
        "Counts of positives and negatives at each score. All measures are computed from it.",
    ),
    "measures": (
        "Measures",
        "One number for the quality of a scorer. All classes share the methods of `headrank.Measure`. "
        "`headrank.measures` has the same names.",
    ),
    "workflow": (
        "From a table to a report",
        "What `headrank fit` and `headrank evaluate --out` do, in Python. Needs the extra `cli`.",
    ),
    "estimators": ("Learning", "Scorers trained for the head of the list, as scikit-learn estimators."),
    "rivals": ("Other methods", "Methods of other papers for the head of the list, as scikit-learn estimators."),
    "rows": ("Data larger than memory", "Rows in blocks: arrays, mapped files, Parquet and CSV files, Dask."),
    "bounds": ("Intervals and guarantees", "Intervals, bands, comparisons, thresholds and sample sizes."),
    "deciders": ("Deciding", "Classifiers that put a threshold on any scorer."),
    "plots": ("Plots", "Displays for matplotlib. The underlying numbers are attributes."),
    "model_io": ("Model files", "Saving, loading and exporting models, without pickle."),
    "integrations": ("Other libraries", "Measures and surrogates in the training of other libraries."),
    "readers": ("Files", "Functions that read tables and sparse matrices from files."),
    "datasets": ("Data sets", "Populations whose true curve is known, and a small real example."),
    "exceptions": ("Errors and warnings", "Errors and warnings specific to headrank."),
}
"""Title and first sentence of the page of each folder of the package, in order."""


def public_names() -> dict[str, list[str]]:
    """Return all public names in full, by folder; a folder without a heading is an error."""
    found: dict[str, list[str]] = {folder: [] for folder in HEADINGS}
    for name in headrank.__all__:
        # The folder is the part of the module name after "headrank.".
        found[getattr(headrank, name).__module__.split(".")[1]].append(f"headrank.{name}")
    found["integrations"] = [
        f"headrank.integrations.{library}.{name}"
        for library in headrank.integrations.__all__
        for name in getattr(headrank.integrations, library).__all__
    ]
    found["rivals"] = [f"headrank.rivals.{name}" for name in headrank.rivals.__all__]
    found["readers"] = [f"headrank.readers.{name}" for name in headrank.readers.__all__]
    found["datasets"] = [f"headrank.datasets.{name}" for name in headrank.datasets.__all__]
    found["exceptions"] = [
        f"headrank.exceptions.{name}"
        for name, value in vars(headrank.exceptions).items()
        if isinstance(value, type) and value.__module__ == "headrank.exceptions"
    ]
    return {folder: sorted(names, key=_classes_last) for folder, names in found.items() if names}


def pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    names = public_names()
    texts = {f"{folder}.rst": _page(*HEADINGS[folder], names[folder]) for folder in names}
    entries = "\n".join(f"   {folder}" for folder in names)
    texts["index.rst"] = (
        f"{_title('API reference')}\n\n"
        "All public names by topic. ``import headrank as hr`` provides all of them except those of\n"
        "``headrank.readers``, ``headrank.datasets`` and ``headrank.exceptions``.\n\n"
        f".. toctree::\n   :maxdepth: 2\n\n{entries}\n"
    )
    return texts


def distinct_file_names() -> dict[str, str]:
    """Return file names for functions that differ from a class in case only, for case-insensitive file systems."""
    every = [name for names in public_names().values() for name in names]
    twins = Counter(name.lower() for name in every)
    return {name: f"{name}-function" for name in every if twins[name.lower()] > 1 and name == name.lower()}


def _page(title: str, sentence: str, names: list[str]) -> str:
    parents = {name.rpartition(".")[0] for name in names}
    module = min(parents) if len(parents) == 1 else min(parents).rpartition(".")[0]  # modules of one package
    entries = "\n".join(f"   {name.removeprefix(module + '.')}" for name in names)
    table = f".. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: generated\n\n{entries}\n"
    return f"{_title(title)}\n\n{sentence}\n\n{table}"


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}"


def _classes_last(full_name: str) -> tuple[bool, str]:
    name = full_name.rpartition(".")[2]
    return name[0].isupper(), name.lower()


def _write(app: Any, _config: Any) -> None:
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    texts, file_names = pages(), distinct_file_names()
    every = [name for names in public_names().values() for name in names]
    kept = {folder / name for name in texts} | {folder / "generated" / f"{file_names.get(n, n)}.rst" for n in every}
    for page in set(folder.rglob("*.rst")) - kept:  # pages of names that are no longer public
        page.unlink()
    for name, text in texts.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:  # an unchanged file is not rebuilt
            file.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for its sources."""
    app.connect("config-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
