"""Every kind of model, for the tests that hold for all."""

import pytest

from model_io.saved_models import MAKERS, made


@pytest.fixture(params=list(MAKERS))
def model_and_rows(request):
    return made(request.param)
