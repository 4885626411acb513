"""train: what a result promises, on tables small enough to train on in seconds."""

import gc
import warnings
import weakref

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from fits import alike
from headrank.bounds.comparison.selection import select
from headrank.bounds.threshold import threshold_at
from headrank.estimators._risk import LinearRisk
from headrank.exceptions import CollapsedFitWarning, InvalidSampleError
from headrank.measures import AUC
from headrank.training import holdout as holdout_module
from headrank.training import models as models_module
from headrank.training.columns import conformed
from headrank.training.goal import Goal
from headrank.training.handover import Handover
from headrank.training.holdout import split
from headrank.training.result import TrainingResult
from headrank.training.table_info import DataSource
from headrank.training.train import confidence_of_each, train

SOURCE = DataSource(source="t.csv", target="y", positive="1")


def small(n=200, seed=0, rate=0.3):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rate
    return pl.DataFrame({"a": rng.normal(size=n) + 1.5 * y, "b": rng.normal(size=n)}), y


def trained(frame, y, goal=None, **options) -> TrainingResult:
    return train(frame, y, goal=goal or Goal(max_fpr=0.2), source=SOURCE, models="linear", **options)


def test_the_facts_are_those_of_the_table(messy):
    result, y = messy.result, messy.y
    info, parts = result.table, split(y)
    assert (info.n_rows, info.n_pos) == (y.size, y.sum())
    assert (info.n_train, info.n_train_pos) == (parts.train.size, y[parts.train].sum())
    assert (info.n_holdout, info.n_holdout_pos) == (parts.holdout.size, y[parts.holdout].sum())
    assert np.array_equal(result.y, y[parts.holdout])
    assert result.ids.tolist() == [f"case {i}" for i in parts.holdout]
    assert [column.name for column in info.columns] == messy.features.columns
    assert (info.source, info.target, info.id_column, info.dropped) == ("cases.csv", "ill", "case", ("note",))
    libraries = {"headrank", "numpy", "scipy", "scikit-learn", "lightgbm", "skrub", "polars"}
    assert set(dict(result.provenance.versions)) == libraries
    assert info.n_queries is info.n_holdout_queries is result.qid is None
    said = " ".join(result.warnings)
    assert "'empty'" in said
    assert "'constant'" in said
    assert "infinite" in said


def test_three_models_and_what_is_known_of_each(messy):
    result = messy.result
    assert [each.name for each in result.models] == ["ranker", "logistic regression", "gradient boosting"]
    for each in result.models:
        assert each.scores.shape == result.y.shape
        assert each.remark.endswith(".")
        assert not each.collapsed
    ranker, logistic, boosting = result.models
    assert "trees" in ranker.remark
    assert len(logistic.coefficients) == result.table.n_features
    sizes = [abs(one.value) for one in logistic.coefficients]
    assert sizes == sorted(sizes, reverse=True)
    assert logistic.coefficients[0].feature in ("size", "gaps is missing")
    assert {one.feature: one.value for one in logistic.coefficients}["size"] > 0
    assert boosting.coefficients is None


def test_the_best_on_the_holdout_is_picked_with_a_certificate_for_all(messy):
    result = messy.result
    again = select({e.name: e.scores for e in result.models}, result.y, measure=result.goal.measure)
    assert result.selection.picked == result.winner.name == again.picked
    assert result.selection.intervals == again.intervals
    assert result.selection.n_scorers == 3


def test_the_threshold_pays_for_having_picked_the_best(messy):
    result = messy.result
    plain = threshold_at(result.y, result.winner.scores, max_fpr=0.1, confidence=0.95)
    shared = threshold_at(result.y, result.winner.scores, max_fpr=0.1, confidence=1 - 0.05 / 3)
    certified = result.threshold
    assert certified.confidence == 0.95
    assert certified.value >= shared.value > plain.value
    assert certified.tpr_low <= shared.tpr_low
    assert result.no_threshold == ""


def test_the_joint_confidence_that_is_stated_holds_for_three():
    for confidence in (0.8, 0.95, 0.99):
        for n in (1, 2, 3):
            each = confidence_of_each(confidence, n)
            assert n * (1 - each) <= 1 - confidence + 1e-12  # each budget
            assert n * (1 - each**2) <= 1 - confidence**2 + 1e-12  # budget and TPR, from independent classes
            assert 2 * n * (1 - each) <= 2 * (1 - confidence) + 1e-12  # budget and TPR, else


def test_no_threshold_says_how_many_rows_it_takes():
    result = trained(*small(), goal=Goal(max_fpr=0.01))
    assert result.threshold is None
    assert "max_fpr=0.01 with 95 % confidence, for the best of 2 models, needs at least" in result.no_threshold
    assert f"which has {np.count_nonzero(~result.y)}" in result.no_threshold


@pytest.mark.parametrize("goal", [Goal(max_fpr=1.0), Goal(top=1.0)])
def test_a_budget_of_everything_needs_no_threshold(goal):
    result = trained(*small(), goal=goal)
    assert result.threshold is None
    assert result.no_threshold.startswith("No threshold is needed")


@pytest.mark.parametrize("goal", [Goal(max_fpr=0.001), Goal(top=0.001), Goal(min_fpr=0.05, max_fpr=0.2)])
def test_parts_smaller_than_a_row_can_be_trained_for(goal):
    result = trained(*small(60), goal=goal)
    assert len(result.models) == 2


def test_queries_stay_whole_and_no_threshold_is_promised(sparse):
    result = sparse.result
    info = result.table
    assert (info.n_queries, info.n_holdout_queries) == (40, np.unique(result.qid).size)
    assert result.qid.size == result.y.size == 10 * info.n_holdout_queries
    assert result.threshold is None
    assert "queries" in result.no_threshold
    again = select({e.name: e.scores for e in result.models}, result.y, measure=result.goal.measure, qid=result.qid)
    assert result.selection.intervals == again.intervals
    assert "queries with both classes" in " ".join(result.warnings)


def test_sparse_features_have_numbers_for_names(sparse):
    result = sparse.result
    assert result.table.columns == ()
    assert result.table.n_features == 6
    assert [each.name for each in result.models] == ["ranker", "logistic regression", "gradient boosting"]
    assert result.models[1].coefficients[0].feature == "feature 0"
    assert result.ids.min() >= 1


def test_the_same_number_gives_the_same_result_and_another_another():
    frame, y = small()
    first, again, other = (trained(frame, y, random_state=seed) for seed in (1, 1, 2))
    assert alike(first.winner.scores, again.winner.scores)
    assert np.array_equal(first.ids, again.ids)
    assert not np.array_equal(first.ids, other.ids)


@pytest.mark.parametrize("by_query", [False, True])
def test_with_many_rows_the_ranker_is_chosen_on_some_and_fitted_to_all(monkeypatch, by_query):
    frame, y = small(800)
    qid = np.arange(800) // 4 if by_query else None
    monkeypatch.setattr(models_module, "ROWS_TO_CHOOSE", 150)
    monkeypatch.setattr(holdout_module, "_LEAST_TO_CHOOSE", 50)
    calls = []
    result = trained(frame, y, qid=qid, progress=lambda *call: calls.append(call))
    fitted = result.models[0]
    last = [(done, total) for step, done, total, *_ in calls if step == "fitting the ranker to all rows"]
    assert last == [(done, last[-1][1]) for done in range(last[-1][1] + 1)]
    after = calls.index(("fitting the ranker to all rows", *last[0]))
    assert not any(step == "training the ranker: linear" for step, *_ in calls[after:])
    assert fitted.remark.endswith(f"of {result.table.n_train} training rows, then fitted to all.")
    rows = split(y, qid).train
    encoded = fitted.estimator[:-1].transform(conformed(frame, result.table.columns)[rows])
    (part,) = fitted.estimator[-1].parts_
    scaled, chosen = part.scorer.scaler_.transform(encoded).astype(np.float32), part.scorer.ranker_
    for ranker in chosen.rankers_:
        again = clone(ranker).fit(scaled, y[rows], qid=None if qid is None else qid[rows])
        assert again.coef_ == pytest.approx(ranker.coef_, rel=1e-2)
    assert chosen.verbose == 0
    assert chosen.cv == 5


def test_a_leak_is_suspected():
    frame, y = small()
    result = trained(frame.with_columns(paid=pl.Series(y).cast(int)), y)
    assert any("'paid' (AUC 1.0000)" in each for each in result.warnings)


def test_warnings_of_the_fits_become_remarks(monkeypatch):
    monkeypatch.setattr(models_module, "_LOGISTIC_ITERATIONS", 1)
    result = trained(*small())
    assert "Warning: lbfgs failed to converge" in result.models[1].remark


def test_known_warnings_are_remarks_and_others_are_passed_on():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("collapsed. More", CollapsedFitWarning, stacklevel=1)
        warnings.warn("slow:\nand so on", ConvergenceWarning, stacklevel=1)
        warnings.warn("slow:\nagain", ConvergenceWarning, stacklevel=1)
    assert models_module._with_warnings("Done.", caught) == "Done. Warning: collapsed. Warning: slow."
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("strange", UserWarning, stacklevel=1)
    with pytest.warns(UserWarning, match="strange"):
        models_module._with_warnings("Done.", caught)


def test_ctrl_c_in_the_last_fit_ends_the_training(monkeypatch):
    plain, calls = LinearRisk.at_scores, []

    def interrupted(self, scores):
        calls.append(1)
        if len(calls) == 3:  # later than the first point, as a solver that has none yet has nothing to keep
            raise KeyboardInterrupt
        return plain(self, scores)

    def progress(step, done, total, _note=None):
        if step == "training the ranker: linear" and done == total - 1:  # what is left is the last fit of the choice
            monkeypatch.setattr(LinearRisk, "at_scores", interrupted)

    with pytest.raises(KeyboardInterrupt):
        trained(*small(), progress=progress)


def test_progress_goes_from_nothing_to_all_in_every_step():
    calls = []
    trained(*small(), progress=lambda *call: calls.append(call))
    steps = list(dict.fromkeys(step for step, *_ in calls))
    assert steps == [
        "encoding features",
        "training the ranker: linear",
        "fitting logistic regression",
        "evaluating on the holdout",
        "explaining the first rows",
    ]
    for step in steps:
        counts = [(done, total) for name, done, total, *_ in calls if name == step]
        assert counts[0][0] == 0
        assert counts[-1][0] == counts[-1][1]
        assert [done for done, _ in counts] == sorted(done for done, _ in counts)
        assert not any(done == total for done, total in counts[:-1])


def test_progress_names_the_best_value_so_far_and_what_follows(monkeypatch):
    families = "extra trees", "linear"
    monkeypatch.setitem(models_module.FAMILIES, "linear", families)
    calls = []
    result = trained(*small(), max_seconds=600.0, progress=lambda *call: calls.append(call))
    notes = {step: note for step, _, _, *more in calls for note in more}
    first, second = (notes[f"training the ranker: {family}"] for family in families)
    value = result.models[0].estimator[-1].trials_[0].mean
    assert (first.best, first.n_to_follow) == ("", 1)
    assert (second.best, second.n_to_follow) == (f"pauc@0.2 {value:.4g} out of fold", 0)
    assert 600 > first.seconds_left > second.seconds_left > 0


def test_a_table_handed_over_is_freed_before_the_models_are_trained():
    frame, y = small()
    alive = weakref.ref(frame)
    box = Handover(frame)
    del frame
    seen = []

    def progress(step, done, total, _note=None):
        if step.startswith("training the ranker") and not done:
            gc.collect()
            seen.append(alive() is None)

    trained(box, y, progress=progress)
    assert seen
    assert all(seen)
    with pytest.raises(ValueError, match="already been taken"):
        box.take()


def test_a_table_that_is_lent_is_left_as_it_was():
    frame, y = small()
    before = frame.clone()
    trained(frame, y)
    assert frame.equals(before)


@pytest.mark.parametrize("options", [{"qid": [1, 2]}, {"ids": ["a"]}])
def test_lengths_must_agree(options):
    with pytest.raises(InvalidSampleError, match=r"must have one value per row: the table has 200 rows, .* [12]"):
        trained(*small(), **options)
    frame, y = small()
    with pytest.raises(InvalidSampleError, match="y must have one value per row"):
        trained(frame, y[:-1])


def test_unknown_models_are_refused():
    with pytest.raises(ValueError, match="models must be one of 'all', 'linear'"):
        train(*small(), goal=Goal(top=0.1), source=SOURCE, models="bushes")


@pytest.mark.parametrize("seed", range(3))
def test_one_column_is_enough(seed):
    frame, y = small(seed=seed)
    result = trained(frame.select("a"), y, Goal(max_fpr=0.1))
    assert result.table.n_features == 1
    assert not any(model.collapsed for model in result.models)
    assert all(model.coefficients[0].value > 0 for model in result.models)


def test_one_column_that_is_nearly_constant():
    _, y = small()
    result = trained(pl.DataFrame({"a": [1.0] * 8 + [0.0] * 192}), y)
    assert len(result.models) == 2
    assert all(np.isfinite(model.scores).all() for model in result.models)


def test_seconds_since_1970_are_learned_from():
    rng = np.random.default_rng(0)
    when = rng.permutation(400)
    y = rng.random(400) < 1 / (1 + np.exp(-(when - 250) / 10))
    result = trained(pl.DataFrame({"when": 1_700_000_000 + when, "x": rng.normal(size=400)}), y)
    assert all(AUC()(result.y, model.scores) > 0.95 for model in result.models)
