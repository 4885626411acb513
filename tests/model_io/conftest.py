"""Every kind of model, for the tests that hold for all."""

import pytest

from headrank.model_io import load, save
from model_io.saved_models import MAKERS, made


@pytest.fixture(params=list(MAKERS))
def model_and_rows(request):
    return made(request.param)


@pytest.fixture(scope="module", params=list(MAKERS))
def saved(request, tmp_path_factory):
    """A model, its rows, its file and what is loaded from there."""
    model, rows = made(request.param)
    path = tmp_path_factory.mktemp("saved") / "model"
    save(model, path)
    return model, rows, path, load(path)
