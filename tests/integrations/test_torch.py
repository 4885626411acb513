"""headrank's smooth surrogates as PyTorch losses."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import headrank as hr
from headrank.integrations.torch import loss
from headrank.surrogates import RowFacts, surrogate_for
from samples import gaussians

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

X, Y = gaussians(60, 540, 3)
SCORES = X @ np.array([1.0, 0.5, -0.3])
NAMES = ["auc", "pauc@0.1", "locauc@0.2", "p@50", "mass@0.1"]


@pytest.mark.parametrize("name", NAMES)
def test_value_and_gradient_are_those_of_the_surrogate(name):
    scores = torch.tensor(SCORES, requires_grad=True)
    value = loss(name)(scores, Y)
    (3 * value).backward()
    cut = surrogate_for(hr.measure(name), "smooth")(SCORES[Y == 1], SCORES[Y == 0])
    assert value.item() == pytest.approx(cut.risk, abs=1e-12)
    assert scores.grad.numpy()[Y == 1] == pytest.approx(3 * cut.pos_coef, abs=1e-12)
    assert scores.grad.numpy()[Y == 0] == pytest.approx(3 * cut.neg_coef, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_matches_finite_differences(name):
    start, step = torch.tensor(SCORES, requires_grad=True), 1e-5
    loss(name)(start, torch.tensor(Y)).backward()
    direction = np.random.default_rng(0).normal(size=Y.size)
    ahead, behind = (loss(name)(torch.tensor(SCORES + sign * step * direction), Y).item() for sign in (1, -1))
    slope = float(start.grad.numpy() @ direction)
    assert (ahead - behind) / (2 * step) == pytest.approx(slope, rel=1e-4)
    assert abs(slope) > 1e-4


@pytest.mark.parametrize("name", ["pauc@0.1", "mass@0.1"])
def test_a_linear_model_improves(name):
    measure, features = hr.measure(name), torch.tensor(X, dtype=torch.float32)
    model = torch.nn.Linear(3, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[0.3, 1.0, 1.0]]))
    before = measure(Y, model(features).detach().numpy())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(40):
        optimizer.zero_grad()
        loss(name)(model(features), Y).backward()
        optimizer.step()
    gain = measure(Y, model(features).detach().numpy()) - before
    assert (gain if measure.greater_is_better else -gain) > 0


def test_weights_and_queries_count():
    weights, qid = np.random.default_rng(0).uniform(0.5, 2, Y.size), np.arange(Y.size) % 6
    for facts, options in (
        (RowFacts(weights[Y == 1], weights[Y == 0]), {"sample_weight": torch.tensor(weights)}),
        (RowFacts(pos_queries=qid[Y == 1], neg_queries=qid[Y == 0]), {"qid": torch.tensor(qid)}),
    ):
        expected = surrogate_for(hr.measure("pauc@0.2"), "smooth", facts)(SCORES[Y == 1], SCORES[Y == 0]).risk
        assert loss("pauc@0.2")(torch.tensor(SCORES), Y, **options).item() == pytest.approx(expected, abs=1e-12)
        assert expected != pytest.approx(loss("pauc@0.2")(torch.tensor(SCORES), Y).item(), abs=1e-6)


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_the_gradient_has_the_type_and_shape_of_the_scores(kind):
    scores = torch.tensor(SCORES[:, None], dtype=getattr(torch, kind), requires_grad=True)
    value = loss("pauc@0.2")(scores, Y)
    value.backward()
    assert (value.dtype, value.shape) == (scores.dtype, ())
    assert (scores.grad.dtype, scores.grad.shape) == (scores.dtype, scores.shape)


def test_second_derivatives_are_refused():
    scores = torch.tensor(SCORES, requires_grad=True)
    [slopes] = torch.autograd.grad(loss("auc")(scores, Y) ** 2, scores, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slopes.sum().backward()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: loss("ks"), "no smooth surrogate"),
        (lambda: loss("auc", bandwidth=0), "bandwidth must be above 0"),
        (lambda: loss("auc")(torch.tensor([1.0, 2.0]), [1, 1]), "both classes"),
        (lambda: loss("auc")(torch.tensor([1.0, 1.0]), [1, 0]), "constant"),
        (lambda: loss("auc")(torch.tensor([1.0, 2.0]), [1, 0, 0]), "one value per row"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match=r"headrank\[torch\]"):
        loss("auc")(SCORES, Y)


def test_the_example_of_the_documentation_runs():
    page = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(example, names)
    assert 0 < names["loss"].item() < 1


def test_scores_that_are_no_tensor():
    with pytest.raises(TypeError, match=r"scores must be a torch.Tensor, got \[2.0, 1.0\]"):
        loss("auc")([2.0, 1.0], [1, 0])
