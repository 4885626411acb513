"""The errors and warnings that callers may want to tell apart; each is also a builtin one."""


class InvalidSampleError(ValueError):
    """Labels, scores, weights or query ids that cannot be measured as they are."""


class OneClassError(InvalidSampleError):
    """A sample, or every one of its queries, lacks positives or lacks negatives."""


class ShallowHeadError(ValueError):
    """A head was asked about something below its depth."""


class MeasureWarning(UserWarning):
    """A measure was computed, but does not mean here what its name promises."""


class CollapsedFitWarning(UserWarning):
    """A ranker has learned nothing: weights near 0 are optimal for its surrogate."""
