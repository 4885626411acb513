"""Table 3 of Narasimhan & Agarwal (2013): documents for queries, each query a list of its own."""

from __future__ import annotations

from experiments.tables import methods
from experiments.tables.data import shared
from experiments.tables.protocol import Published, Table, by_groups, unscaled
from headrank import AUC, PartialAUC

_SETS = ("mq2008", "lightgbm_rank")
_MEASURES = (PartialAUC(max_fpr=0.1), PartialAUC(max_fpr=0.02), PartialAUC(max_fpr=0.05), AUC())


TABLE = Table(
    name="retrieval",
    title="Information retrieval (ICML 2013, table 3)",
    tasks=tuple(shared(name, *_MEASURES) for name in _SETS),
    split=by_groups(0.6, 0.2, 0.2),
    scale=unscaled,
    methods=(methods.SVM_PAUC, methods.SVM_AUC, methods.TIGHT),
    n_splits=10,
    quick_tasks=_SETS,
    published=Published(
        order=(
            "on TD2004 SVM-pAUC leads close to the very top; on TREC10 SVM-AUC is ahead over [0, 0.1] and the whole "
            "curve, SVM-pAUC at the very top. The numbers are not in our copy."
        ),
    ),
    paper_says=(
        "TD2004 (75 queries, 44 features) and TREC10 (50 queries, 750 features); 10 random splits of the queries, 60 "
        "% training, 20 % validation, 20 % testing; trained for [0, 0.1], several ranges and the AUC measured. The "
        "other methods were left out, since they do not handle queries."
    ),
    decided=(
        "Neither set is available: `mq2008` (784 queries of about 20 documents) and `lightgbm_rank` (251 of about "
        "15) stand in. Their lists are short, so that [0, 0.1] is one or two negatives of a query. Features are not "
        "scaled. The value is the mean over the queries with both classes."
    ),
    found=(
        "SVM-AUC is ahead at every range, not only over the whole curve, significantly so on both sets over 10 "
        "splits. On `mq2008` SVM-pAUC collapses in all ten splits, and the tight form has nine of its final fits "
        "(nearly) at 0: a certificate says that no other weights have a much smaller risk. The sets differ from the "
        "paper's: TD2004 and TREC10 have about 1,000 and 4,000 documents in a list, so [0, 0.1] holds hundreds of "
        "negatives; here it holds one or two. That this is why SVM-pAUC does not lead at the very top is likely, but "
        "not tested."
    ),
)
