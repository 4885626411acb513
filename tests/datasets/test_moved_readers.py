"""The readers of files moved out of `headrank.datasets` in 0.2; code written for 0.1 still finds them."""

import pytest

import headrank.datasets
import headrank.readers


@pytest.mark.parametrize("name", ["RankingData", "Table", "read_columns", "read_svmlight", "read_table"])
def test_readers_are_found_at_their_old_place(name):
    with pytest.warns(FutureWarning, match=rf"headrank\.datasets\.{name} moved to headrank\.readers\.{name}"):
        assert getattr(headrank.datasets, name) is getattr(headrank.readers, name)


def test_other_names_are_not_found():
    with pytest.raises(AttributeError, match="no attribute 'read_excel'"):
        headrank.datasets.read_excel  # noqa: B018
