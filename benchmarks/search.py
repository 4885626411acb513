"""Time of the search measures over many queries, as a ratio to trec_eval in the same run (pytrec_eval).

``python benchmarks/search.py [n_queries]``. Every figure it prints was measured just then; nothing is asserted. Both
start from what their users have: arrays of grades, scores and query ids, and dictionaries by query and document.
"""

import sys
import time

import numpy as np
import pytrec_eval

import headrank as hr

PER_QUERY = 20
MEASURES = {"ndcg_cut_10": "ndcg@10", "map": "ap", "recip_rank": "mrr"}


def seconds(job) -> tuple[float, float, object]:
    """Time of the first call, the best of all, and the result."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        result = job()
        taken.append(time.process_time() - start)
    return taken[0], min(taken), result


if __name__ == "__main__":
    n_queries = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(0)
    n = n_queries * PER_QUERY
    qid, grades = np.repeat(np.arange(n_queries), PER_QUERY), rng.choice(5, p=[0.6, 0.2, 0.1, 0.06, 0.04], size=n)
    scores = rng.permutation(n) / 1.0
    print(f"{n_queries:,} queries of {PER_QUERY} documents, grades 0 to 4; seconds of one processor")
    rows = zip(qid.tolist(), grades.tolist(), scores.tolist(), strict=True)
    judged: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    start = time.process_time()
    for row, (query, grade, score) in enumerate(rows):
        judged.setdefault(str(query), {})[str(row)] = grade
        run.setdefault(str(query), {})[str(row)] = score
    print(f"dictionaries for pytrec_eval: {time.process_time() - start:.2f}")
    for theirs, ours in MEASURES.items():
        measure = hr.measure(ours)
        y = grades if measure.graded else grades > 0
        first, taken, mean = seconds(lambda measure=measure, y=y: measure(y, scores, qid=qid))
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {theirs.replace("cut_", "cut.")})
        their_first, their_time, found = seconds(lambda evaluator=evaluator: evaluator.evaluate(run))
        values = [each[theirs] for query, each in found.items() if any(judged[query].values())]
        print(
            f"{ours:<8} headrank {taken:6.2f}, pytrec_eval {their_time:6.2f}, {their_time / taken:5.1f} times as fast "
            f"({their_first / first:.1f} in the first call, {first:.2f}); the means differ by "
            f"{abs(mean - np.mean(values)):.0e}"
        )
