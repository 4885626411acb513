"""Whole numbers beyond 64 bits are scores and features like others."""

import polars as pl
import pytest
from sklearn.utils.fixes import parse_version

import headrank as hr
from cli.running import refused, run


@pytest.mark.parametrize("sign", ["", "-"])
def test_scores_beyond_64_bits_are_measured(capsys, tmp_path, monkeypatch, sign):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i % 2},{sign}{10**20 + i * 10**18}" for i in range(40))
    (tmp_path / "t.csv").write_text(f"y,s\n{rows}\n")
    done = run(capsys, "evaluate", "t.csv", "--target", "y", "--score", "s")
    if parse_version(pl.__version__) < parse_version("1.41"):  # polars has no type for them in text files
        assert refused(done, 3, "t.csv cannot be read", "column 's'")
    else:
        assert done.code == 0, done.err


def test_a_parameter_beyond_float_is_refused():
    with pytest.raises(ValueError, match="max_fpr must be a number that fits a float"):
        hr.PartialAUC(max_fpr=10**400)
