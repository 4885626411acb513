"""Scores of both classes for the laws of surrogates: few rows, many ties, whole weights, up to four queries."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import headrank as hr
from headrank.surrogates import RowFacts

halves = st.integers(-6, 6).map(lambda k: k / 2)
multiplicities = st.integers(0, 3)


class Rows(NamedTuple):
    """Both classes' scores, and what is known of the rows besides."""

    pos: np.ndarray
    neg: np.ndarray
    facts: RowFacts = RowFacts()

    def scored(self, pos, neg):
        return Rows(np.asarray(pos, dtype=float), np.asarray(neg, dtype=float), self.facts)

    def measured(self, low, high):
        """1 - PartialAUC, by the measure itself."""
        facts = self.facts
        return 1 - hr.PartialAUC(min_fpr=low, max_fpr=high)(
            np.repeat([1, 0], [self.pos.size, self.neg.size]),
            np.concatenate([self.pos, self.neg]),
            sample_weight=None if facts.neg_weights is None else joined(facts.pos_weights, facts.neg_weights),
            qid=None if facts.neg_queries is None else joined(facts.pos_queries, facts.neg_queries),
        )


def joined(pos, neg):
    return np.concatenate([pos, neg])


def vectors(size, elements=halves):
    return st.lists(elements, min_size=size, max_size=size).map(np.array)


@st.composite
def plain_rows(draw, max_pos=3, max_neg=5):
    return Rows(draw(vectors(draw(st.integers(1, max_pos)))), draw(vectors(draw(st.integers(1, max_neg)))))


@st.composite
def weighted_rows(draw, weights=multiplicities, max_neg=5):
    pos, neg, _ = draw(plain_rows(max_neg=max_neg))
    pos_weights, neg_weights = draw(vectors(pos.size, weights)) * 1.0, draw(vectors(neg.size, weights)) * 1.0
    pos_weights[0] += pos_weights.sum() == 0
    neg_weights[-1] += neg_weights.sum() == 0
    return Rows(pos, neg, RowFacts(pos_weights, neg_weights))


@st.composite
def grouped_rows(draw, weighted=False):
    """Rows of up to four queries, of which one at least has both classes."""
    pos, neg, facts = draw(
        weighted_rows(weights=st.sampled_from([0.3, 1, 2]), max_neg=9) if weighted else plain_rows(4, 9)
    )
    pos_queries, neg_queries = draw(vectors(pos.size, st.integers(0, 3))), draw(vectors(neg.size, st.integers(0, 3)))
    pos_queries[0] = neg_queries[0]
    return Rows(pos, neg, RowFacts(facts.pos_weights, facts.neg_weights, pos_queries, neg_queries))


any_rows = plain_rows() | weighted_rows() | grouped_rows() | grouped_rows(weighted=True)
