"""The experiment on picked scorers, on one small draw."""

import pytest

from experiments import picked_lists


@pytest.mark.filterwarnings("ignore::headrank.exceptions.ShiftedScoresWarning")
def test_every_way_to_account_for_the_pick_promises_less():
    found = {
        each.way: each for each in picked_lists.simulated(picked_lists.SEPARATIONS["clear"], 0, n_neg=900, n_new=300)
    }
    assert tuple(found) == picked_lists.WAYS
    unpaid = found["not at all"]
    assert unpaid.chosen > 0
    assert all(0 < each.promised <= unpaid.promised for each in found.values())
    assert found["union bound"].chosen < unpaid.chosen
