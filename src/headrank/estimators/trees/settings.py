"""How trees are boosted: the settings of one run, and the grid that cross-validation tries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrank._format import counted, rounded_percent, shown

_MOST_ROWS = 2**31 - 1
"""That LightGBM can count."""


@dataclass(frozen=True)
class Settings:
    """How stiff or loose boosted trees are; the names are scikit-learn's.

    Attributes
    ----------
    learning_rate : float
        Share of each tree that is added.
    max_leaf_nodes : int
        Leaves of a tree.
    min_samples_leaf : int
        Rows of a leaf.
    l2_regularization : float
        Added to the second derivatives of a leaf.
    max_features : float
        Share of the features that each tree sees.
    subsample : float
        Share of the rows that each tree sees.
    random_splits : bool
        Whether one random split per feature is tried instead of all, as in extremely randomized trees.
    """

    learning_rate: float = 0.1
    max_leaf_nodes: int = 31
    min_samples_leaf: int = 20
    l2_regularization: float = 0.0
    max_features: float = 1.0
    subsample: float = 1.0
    random_splits: bool = False

    def __str__(self) -> str:
        splits = ", random splits" if self.random_splits else ""
        leaves = f"{self.max_leaf_nodes} leaves of at least {self.min_samples_leaf} rows"
        return f"{leaves}, learning rate {shown(self.learning_rate)}{splits}"

    @property
    def label(self) -> str:
        """What differs from the defaults, and the number of leaves, for the legend of a plot."""
        words = {
            "learning_rate": f"rate {shown(self.learning_rate)}",
            "min_samples_leaf": f"min. {counted(self.min_samples_leaf, 'row')} per leaf",
            "l2_regularization": f"L2 {shown(self.l2_regularization)}",
            "max_features": f"{rounded_percent(self.max_features)} of features",
            "subsample": f"{rounded_percent(self.subsample)} of rows",
            "random_splits": "random splits",
        }
        default = Settings()
        special = [text for name, text in words.items() if getattr(self, name) != getattr(default, name)]
        return ", ".join([f"{self.max_leaf_nodes} leaves", *special])

    @property
    def for_lightgbm(self) -> dict[str, Any]:
        """The same under LightGBM's names."""
        return {
            "learning_rate": self.learning_rate,
            "num_leaves": self.max_leaf_nodes,
            "min_data_in_leaf": min(self.min_samples_leaf, _MOST_ROWS),
            "lambda_l2": self.l2_regularization,
            "feature_fraction": self.max_features,
            "bagging_fraction": self.subsample,
            "bagging_freq": int(self.subsample < 1),
            "extra_trees": self.random_splits,
        }

    @property
    def for_scikit_learn(self) -> dict[str, Any]:
        """The same for scikit-learn's histogram boosting, which has neither ``subsample`` nor ``random_splits``."""
        return {
            "learning_rate": self.learning_rate,
            "max_leaf_nodes": self.max_leaf_nodes,
            "min_samples_leaf": self.min_samples_leaf,
            "l2_regularization": self.l2_regularization,
            "max_features": self.max_features,
        }
