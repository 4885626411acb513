"""Measures of a scorer: one number read off its ROC curve."""

# Each file lists its measures in its own __all__, so a new one becomes public without a change here.
from headrank.measures import area, early, exponential, local, precision, ranks, search
from headrank.measures.area import *  # noqa: F403
from headrank.measures.early import *  # noqa: F403
from headrank.measures.exponential import *  # noqa: F403
from headrank.measures.local import *  # noqa: F403
from headrank.measures.measure import Measure, QueryMean
from headrank.measures.names import measure
from headrank.measures.one_vs_rest import ClassMean, one_vs_rest
from headrank.measures.precision import *  # noqa: F403
from headrank.measures.ranks import *  # noqa: F403
from headrank.measures.search import *  # noqa: F403

__all__ = ["ClassMean", "Measure", "QueryMean", "measure", "one_vs_rest"]
__all__ += area.__all__
__all__ += early.__all__
__all__ += exponential.__all__
__all__ += local.__all__
__all__ += precision.__all__
__all__ += ranks.__all__
__all__ += search.__all__
