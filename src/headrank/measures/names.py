"""Short names: ``measure("pauc@0.02:0.05")`` parses what ``str`` of a measure prints."""

from difflib import get_close_matches

# The measures register themselves.
from headrank.measures import area, early, exponential, local, precision, ranks, search  # noqa: F401
from headrank.measures.measure import REGISTERED, Measure

MEASURES: tuple[type[Measure], ...] = tuple(REGISTERED.values())
"""All measures of this package."""
_OTHER_NAMES = {
    "roc_auc": "auc",
    "rocauc": "auc",
    "auroc": "auc",
    "partial_auc": "pauc",
    "precision": "p",
    "recall": "r",
    "sensitivity": "tpr",
    "enrichment": "ef",
    "map": "ap",
    "recip_rank": "mrr",
    "ndcg_cut": "ndcg",
    "r_precision": "rprec",
    "average_precision": "ap",
    "pr_auc": "prauc",
    "aupr": "prauc",
    "auprc": "prauc",
}
"""Names of measures in other packages, for suggestions in error messages."""


def measure(name: str | Measure) -> Measure:
    """Make a measure from its short name, or raise. A measure is returned unchanged.

    >>> measure("pauc@0.05")
    <PartialAUC(min_fpr=0.0, max_fpr=0.05): mean TPR over FPR 0 to 0.05 (area / width), perfect 1, chance 0.025>
    >>> [str(measure(name)) for name in ("auc", "locauc@0.1", "tpr@fpr=0.01", "p@100", "bedroc@20")]
    ['auc', 'locauc@0.1', 'tpr@fpr=0.01', 'p@100', 'bedroc@20']
    """
    if isinstance(name, Measure):
        return name
    if not isinstance(name, str):
        raise TypeError(f"expected a measure or its short name, such as 'pauc@0.05', got {name!r}")
    prefix, _, spec = name.strip().partition("@")
    kinds = _readable()
    if prefix not in kinds:
        raise ValueError(
            f"unknown measure {prefix!r}; {_did_you_mean(prefix, spec)}valid names are {', '.join(sorted(kinds))}"
        )
    try:
        return kinds[prefix].from_spec(spec)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cannot read the measure {name!r}: {error}; {_did_you_mean(prefix, spec)}names look like 'pauc@0.05' or "
            "'p@100'"
        ) from None


def _readable() -> dict[str, type[Measure]]:
    return {prefix: kind for prefix, kind in REGISTERED.items() if kind.readable}


def _did_you_mean(prefix: str, spec: str) -> str:
    """Suggest the name that was probably meant, preferably one that can be parsed as given."""
    small = prefix.lower()
    close = [_OTHER_NAMES[small]] if small in _OTHER_NAMES else get_close_matches(small, _readable(), n=1)
    near = [*close, *(["pauc"] if "auc" in close else [])]
    readable = [
        f"{one}@{text}" if text else one
        for one in near
        for text in ([spec, f"fpr={spec}", f"tpr={spec}"] if spec else [""])
        if _is_valid(one, text)
    ]
    meant = [*readable, *close][:1]
    return "" if not meant or meant == [prefix] else f"did you mean {meant[0]!r}? "


def _is_valid(prefix: str, spec: str) -> bool:
    try:
        _readable()[prefix].from_spec(spec)
    except (TypeError, ValueError):
        return False
    return True
