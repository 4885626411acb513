"""The search engineer: is the new ranking better than BM25 at the top of the page?

Judged documents come as a LETOR file, in which each line has its query. Guarantees are for new queries.
Run: ``python examples/stories/search_engineer.py [FOLDER]``.
"""

from pathlib import Path

import numpy as np
import polars as pl
from telling import story_folder, tell

from headrank.readers import read_svmlight

TRAIN = (
    "headrank fit judged.letor --top 0.1 --models linear --out result",
    "headrank score result/model later.letor --out scores.csv",
)
COMPARE = (
    "headrank evaluate judged.csv --target relevant --score new --score bm25 --qid query --measure p@5 --measure auc",
    "headrank compare judged.csv --target relevant --score new --score bm25 --qid query --measure p@5",
)
FEATURES = ("bm25 of the body", "bm25 of the title", "matches in links", "visits", "age in days", "length", "spam")


def judged(n_queries: int, rng: np.random.Generator, *, n_documents: int = 40) -> list[str]:
    """Draw lines of a LETOR file: grades 0 to 2, the query and seven features, of which zeros are left out."""
    lines = []
    for query in range(1, n_queries + 1):
        hard = rng.normal()
        relevance = rng.normal(size=n_documents)
        grades = np.select([relevance > 1.8, relevance > 1.0], [2, 1], 0)
        body = np.clip(9 + 2 * hard + 1.5 * relevance + 2.5 * rng.normal(size=n_documents), 0, None)
        title = np.clip(1 + relevance + rng.normal(size=n_documents), 0, None)
        links = rng.poisson(np.exp(0.5 * relevance))
        visits = np.round(np.exp(3 + 0.8 * relevance + rng.normal(size=n_documents)))
        age, length = rng.integers(0, 3000, n_documents), np.round(np.exp(rng.normal(6, 1, n_documents)))
        spam = np.clip(rng.normal(0.1, 0.2, n_documents) - 0.1 * relevance, 0, 1)
        for i in rng.permutation(n_documents):
            values = (body[i], title[i], links[i], np.log1p(visits[i]), age[i], length[i], spam[i])
            features = " ".join(f"{j}:{value:.4g}" for j, value in enumerate(values, 1) if value)
            lines.append(f"{grades[i]} qid:{query} {features} #docid = {query}-{i}")
    return lines


def write(folder: Path, seed: int = 0) -> None:
    """Write the judged queries, and others that were judged later."""
    rng = np.random.default_rng(seed)
    (folder / "judged.letor").write_text("\n".join(judged(400, rng)) + "\n")
    (folder / "later.letor").write_text("\n".join(judged(300, rng)) + "\n")


def side_by_side(folder: Path) -> None:
    """Write the labels, the queries and both scores of the later documents as a table."""
    later, new = read_svmlight(folder / "later.letor"), pl.read_csv(folder / "scores.csv")["score"]
    bm25 = later.X[:, [0]].toarray().ravel()
    table = {"query": later.qid, "relevant": later.y.astype(int), "new": new, "bm25": bm25}
    pl.DataFrame(table).write_csv(folder / "judged.csv")


if __name__ == "__main__":
    here = story_folder("search_engineer")
    write(here)
    tell(TRAIN, here)
    side_by_side(here)
    tell(COMPARE, here)
