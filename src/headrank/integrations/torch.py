"""Smooth surrogates as PyTorch losses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from headrank._extras import needs_extra
from headrank._numbers import above_zero, short_repr
from headrank.integrations._rows import Rows
from headrank.measures import Measure
from headrank.measures import measure as measure_of
from headrank.surrogates import RowFacts, surrogate_for

__all__ = ["loss"]


def loss(measure: Measure | str, *, bandwidth: float = 0.3) -> Loss:
    """Return a loss for PyTorch: 1 - measure with soft counts, and its exact gradient.

    Call it with the scores and labels of a batch, ``loss(scores, y)``, optionally ``sample_weight=`` and ``qid=``. The
    result is a scalar tensor; ``backward`` passes the gradient on to the scores. Second derivatives are not available.
    The batch is one list (or, with ``qid``, several): it needs rows of both classes, and enough of them for its head to
    resemble that of the whole list. The loss does not depend on the scale of the scores, and is not convex: start from
    a model trained with the log loss. Computed on the processor in double precision, O(n log n).

    Parameters
    ----------
    measure : Measure or str
        What to train for: any measure with a smooth surrogate.
    bandwidth : float, default=0.3
        Half-width of a soft step, in standard deviations of the scores.
    """
    target, width = measure_of(measure), above_zero("bandwidth", bandwidth)
    surrogate_for(target, "smooth", bandwidth=width)  # raises for a measure without one
    return Loss(target, width)


@dataclass(frozen=True)
class Loss:
    """A smooth surrogate of scores in a tensor, made by `loss`."""

    measure: Measure
    bandwidth: float

    def __call__(self, scores: Any, y: Any, *, sample_weight: Any = None, qid: Any = None) -> Any:
        """Return the risk of these scores as a scalar tensor."""
        with needs_extra("torch"):
            import torch

        if not isinstance(scores, torch.Tensor):
            raise TypeError(f"scores must be a torch.Tensor, got {short_repr(scores)}")
        rows = Rows(_array(y), _array(sample_weight), _array(qid))
        positive, facts, checked = rows.checked(scores.detach().to("cpu", torch.float64).numpy())
        cut = self._surrogate(facts)(checked[positive], checked[~positive])
        slopes = torch.empty(positive.size, dtype=torch.float64)
        is_positive = torch.from_numpy(positive)
        slopes[is_positive], slopes[~is_positive] = torch.from_numpy(cut.pos_coef), torch.from_numpy(cut.neg_coef)
        return _known_slopes().apply(scores, cut.risk, slopes.to(scores).reshape(scores.shape))

    def _surrogate(self, facts: RowFacts) -> Any:
        return surrogate_for(self.measure, "smooth", facts, bandwidth=self.bandwidth)


def _array(values: Any) -> Any:
    return values.detach().cpu().numpy() if hasattr(values, "detach") else values


@cache
def _known_slopes() -> Any:
    """Return a function of scores whose value and derivative are already known."""
    import torch
    from torch.autograd.function import once_differentiable

    class KnownSlopes(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is not followed by the type checker
        @staticmethod
        def forward(ctx: Any, scores: Any, risk: float, slopes: Any) -> Any:
            ctx.save_for_backward(slopes)
            return scores.new_tensor(risk)

        @staticmethod
        @once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Any) -> Any:
            (slopes,) = ctx.saved_tensors
            return gradient * slopes, None, None

    return KnownSlopes
