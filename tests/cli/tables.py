"""Tables for the tests of ``headrank fit``: clean, of all kinds of columns, and with queries."""

from datetime import date, timedelta

import numpy as np
import polars as pl


def clean(n_rows=600, seed=0):
    """Two telling numbers, one that tells nothing, and a target of 0 and 1."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.25
    return pl.DataFrame(
        {
            "size": rng.normal(size=n_rows) + 1.5 * y,
            "weight": rng.normal(size=n_rows) - y,
            "noise": rng.normal(size=n_rows),
            "broken": y.astype(int),
        }
    )


def of_all_kinds(n_rows=600, seed=1):
    """Numbers with gaps, categories, dates, flags, a name per row, a constant and an empty column; yes or no."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.25
    amount = np.round(rng.lognormal(size=n_rows) * np.where(y, 4, 1), 2)
    start = date(2024, 1, 1)
    return pl.DataFrame(
        {
            "customer": [f"c{i:05d}" for i in range(n_rows)],
            "amount": [None if lost else value for lost, value in zip(rng.random(n_rows) < 0.1, amount, strict=True)],
            "city": np.where(rng.random(n_rows) < 0.3, "Lyon", np.where(y, "Kraków", "Berlin")),
            "since": [str(start + timedelta(days=int(days))) for days in rng.integers(0, 700, n_rows) - 200 * y],
            "vip": rng.choice(["Y", "N"], n_rows),
            "online": rng.random(n_rows) < 0.5,
            "currency": ["EUR"] * n_rows,
            "remark": [None] * n_rows,
            "comment, free": rng.choice(["", "paid", "late, twice", 'said "no"'], n_rows),
            "churned": np.where(y, "yes", "no"),
        }
    )


def letor(n_queries=60, seed=2):
    """Lines of a LETOR file: grades 0 to 2, three features, ten rows per query."""
    rng = np.random.default_rng(seed)
    lines = []
    for query in range(1, n_queries + 1):
        for _ in range(10):
            grade = int(rng.choice([0, 0, 0, 1, 2]))
            values = rng.normal(size=3) + np.array([grade, -grade / 2, 0])
            features = " ".join(f"{i}:{value:.4f}" for i, value in enumerate(values, 1))
            lines.append(f"{grade} qid:{query} {features} #docid = {query}-{len(lines)}")
    return "\n".join(lines) + "\n"
