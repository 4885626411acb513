"""The fraud desk: 250 claims come in every week, and the desk can look at 20 of them. Which, and is it worth it?

Fraud changes: since early in the second year, most of it comes from staged accidents reported online. A model that is
measured on a random part of two years promises too much for the next week. ``--time`` trains on the past and measures
on the latest claims. Run: ``python examples/stories/fraud_desk.py [FOLDER]``.
"""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from telling import story_folder, tell, with_gaps

COMMANDS = (
    "headrank fit claims.csv --target fraud --id claim --time day --top 0.08 --out result",
    "headrank score result/model week.csv --id claim --keep amount --best 20 --why 2 --out reasons.csv",
    "headrank choose result week.csv --list 20 --id claim --keep amount --keep garage --out this_week.csv",
)
FIRST_DAY, NEW_FRAUD, LAST_DAY = date(2023, 1, 2), date(2024, 3, 1), date(2024, 12, 29)
GARAGES = [f"garage {number:02d}" for number in range(1, 25)]


def claims(n_rows: int, first: date, last: date, rng: np.random.Generator, *, number: int = 0) -> pl.DataFrame:
    """Draw claims of these days, in their order."""
    offsets = np.sort(rng.integers(0, (last - first).days + 1, n_rows))
    days = [first + timedelta(days=int(offset)) for offset in offsets]
    new = np.array([day >= NEW_FRAUD for day in days])
    fraud = rng.random(n_rows) < 0.07
    staged = fraud & (rng.random(n_rows) < np.where(new, 0.7, 0.1))
    inflated = fraud & ~staged
    amount = np.round(np.exp(rng.normal(7.3, 0.8, n_rows) + 2.0 * inflated + 0.4 * staged), 2)
    policy_days = np.round(rng.gamma(2.0, 400, n_rows) * np.where(fraud, 0.15, 1)).astype(int)
    late = np.round(rng.gamma(1.2, 4, n_rows) * np.where(staged, 4.0, 1)).astype(int)
    online = rng.random(n_rows) < np.where(staged, 0.9, 0.35)
    crooked = rng.random(n_rows) < 0.6
    garage = np.where(inflated & crooked, rng.integers(0, 4, n_rows), rng.integers(0, len(GARAGES), n_rows))
    return pl.DataFrame(
        {
            "claim": [f"C{number + i:06d}" for i in range(n_rows)],
            "day": days,
            "amount": with_gaps(amount.tolist(), 0.04, rng),
            "policy_days": policy_days,
            "days_to_report": with_gaps(late.tolist(), 0.08, rng),
            "reported": np.where(online, "online", np.where(rng.random(n_rows) < 0.7, "phone", "agent")),
            "garage": with_gaps([GARAGES[i] for i in garage], 0.15, rng),
            "make": rng.choice(["Fiat", "Ford", "Opel", "Skoda", "Toyota", "VW"], n_rows),
            "driver_age": rng.integers(18, 86, n_rows),
            "police_report": rng.random(n_rows) < np.where(fraud, 0.15, 0.6),
            "earlier_claims": rng.poisson(0.5 + 0.8 * inflated),
            "fraud": np.where(fraud, "yes", "no"),
        }
    )


def week(rng: np.random.Generator, *, n_rows: int = 250) -> pl.DataFrame:
    """Draw the claims of the week after the last day, with the labels that the desk does not have yet."""
    return claims(n_rows, LAST_DAY + timedelta(days=1), LAST_DAY + timedelta(days=7), rng, number=900_000)


def write(folder: Path, seed: int = 0) -> None:
    """Write two years of claims that were looked into, and those of this week."""
    rng = np.random.default_rng(seed)
    claims(12_000, FIRST_DAY, LAST_DAY, rng).write_csv(folder / "claims.csv")
    week(rng).drop("fraud").write_csv(folder / "week.csv")


if __name__ == "__main__":
    here = story_folder("fraud_desk")
    write(here)
    tell(COMMANDS, here)
    print("\nThe desk opens this_week.csv, and looks at the claims from the top:")
    with pl.Config(tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True, tbl_width_chars=80):
        print(pl.read_csv(here / "this_week.csv").head(5))
