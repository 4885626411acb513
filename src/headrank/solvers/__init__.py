"""How is a regularised risk minimised? Solvers that prove how far from the minimum their answer can be."""

from headrank.solvers.bundle import Bundle
from headrank.solvers.cutting_plane import cutting_plane
from headrank.solvers.hybrid import hybrid
from headrank.solvers.lbfgs import lbfgs
from headrank.solvers.newton import newton
from headrank.solvers.risk import CurvedRisk, FunctionRisk, Risk
from headrank.solvers.trace import Solution, Step

__all__ = [
    "Bundle",
    "CurvedRisk",
    "FunctionRisk",
    "Risk",
    "Solution",
    "Step",
    "cutting_plane",
    "hybrid",
    "lbfgs",
    "newton",
]
