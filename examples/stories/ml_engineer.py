"""The machine learning engineer: a model that a service can call, with the same answers in Python and in ONNX.

The model is fitted on the command line with ``--onnx-only``, exported, used in Python as a classifier, and served by
FastAPI. Run: ``python examples/stories/ml_engineer.py [FOLDER]``.
"""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import onnxruntime
import polars as pl
from fastapi import FastAPI
from telling import story_folder, tell, with_gaps

import headrank as hr

COMMANDS = (
    "headrank fit signups.csv --target abuse --id account --fpr 0:0.02 --onnx-only --out result",
    "headrank export result/model --out result/model.onnx",
)


def service(path: Path) -> FastAPI:
    """Return the service: one route that scores a row."""
    app, model = FastAPI(), hr.load(path)

    @app.post("/score")
    def score(row: dict[str, Any]) -> dict[str, Any]:
        rows = pl.DataFrame([row])
        return {"flagged": bool(model.predict(rows)[0]), "probability": float(model.predict_proba(rows)[0, 1])}

    return app


def onnx_scores(path: Path, rows: pl.DataFrame) -> np.ndarray:
    """Score rows without headrank, as any runtime of ONNX does."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    given = {}
    for each in session.get_inputs():
        column = rows[each.name]
        if each.type == "tensor(string)":
            values = column.fill_null("").to_numpy().astype(object)
        elif each.type == "tensor(int64)":  # microseconds since 1970
            values = column.to_numpy().astype("datetime64[us]").astype(np.int64)
        else:
            values = column.cast(pl.Float64).fill_null(np.nan).to_numpy()
        given[each.name] = values.reshape(-1, 1)
    return session.run(["score"], given)[0].ravel()


def ask(app: FastAPI, row: dict[str, Any]) -> dict[str, Any]:
    """Post one row to the service, without a network."""

    async def posted() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
            return await client.post("/score", json=row)

    return asyncio.run(posted()).raise_for_status().json()


def signups(n_rows: int, rng: np.random.Generator, *, number: int = 0) -> pl.DataFrame:
    """Draw accounts on the day they sign up; about 6 % are abused later."""
    abuse = rng.random(n_rows) < 0.06
    seconds = np.round(rng.gamma(3, 20, n_rows) * np.where(abuse, 0.35, 1), 1)
    start = datetime(2024, 1, 1)
    minutes = rng.integers(0, 365 * 24 * 60, n_rows)
    return pl.DataFrame(
        {
            "account": [f"A{number + i:07d}" for i in range(n_rows)],
            "signed_up": [start + timedelta(minutes=int(minute)) for minute in minutes],
            "mail": [f"user{number + i}@example.org" for i in range(n_rows)],
            "seconds_on_form": with_gaps(seconds.tolist(), 0.05, rng),
            "country": with_gaps(rng.choice(["BR", "DE", "FR", "IN", "PL", "US"], n_rows).tolist(), 0.03, rng),
            "browser": np.where(rng.random(n_rows) < np.where(abuse, 0.5, 0.1), "headless", "other"),
            "verified": with_gaps((rng.random(n_rows) < np.where(abuse, 0.3, 0.8)).tolist(), 0.1, rng),
            "accounts_at_address": rng.poisson(np.where(abuse, 6, 1)),
            "abuse": abuse,
        }
    )


def write(folder: Path, seed: int = 0) -> None:
    """Write the accounts of a year."""
    signups(8000, np.random.default_rng(seed)).write_csv(folder / "signups.csv")


def decide(folder: Path) -> tuple[dict[str, Any], float]:
    """Return the service's answer for a new account, and the largest difference of scores between ONNX and Python."""
    model = hr.load(folder / "result" / "model")
    rows = signups(1000, np.random.default_rng(1), number=900_000).drop("account", "abuse", "mail")
    scores, exported = model.decision_function(rows), onnx_scores(folder / "result" / "model.onnx", rows)
    app = service(folder / "result" / "model")
    return ask(app, rows.with_columns(pl.col("signed_up").dt.to_string()).row(0, named=True)), abs(
        scores - exported
    ).max()


if __name__ == "__main__":
    here = story_folder("ml_engineer")
    write(here)
    tell(COMMANDS, here)
    answer, distance = decide(here)
    print(f"\nThe service answers {answer}. ONNX and Python agree to {distance:.0e}.")
