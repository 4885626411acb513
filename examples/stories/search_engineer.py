"""The search engineer: is the new ranking better than BM25 at the top of the page?

Judged documents come as a LETOR file, in which each line has its query; feature 1 is BM25. Guarantees are for new
queries.
Run: ``python examples/stories/search_engineer.py [FOLDER]``.
"""

from pathlib import Path

import numpy as np
from telling import story_folder, tell

COMMANDS = (
    "headrank fit judged.letor --top 0.1 --models linear --out result",
    "headrank score result/model later.letor --keep 1 --out scores.csv",
    "headrank evaluate scores.csv --target label --score score --score 1 --qid qid --measure p@5 --measure auc",
    "headrank compare scores.csv --target label --score score --score 1 --qid qid --measure p@5",
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


if __name__ == "__main__":
    here = story_folder("search_engineer")
    write(here)
    tell(COMMANDS, here)
