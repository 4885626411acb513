"""The adapters import their libraries on first use."""

import subprocess
import sys

import headrank as hr


def test_reaching_the_adapters_imports_no_library():
    code = (
        "import sys, headrank as hr; hr.integrations.lightgbm.metric('auc'); hr.integrations.catboost.Metric('auc');"
        "print(*{'catboost', 'lightgbm', 'optuna', 'sklearn', 'torch', 'xgboost'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_adapters_are_found_by_completion():
    assert "integrations" in dir(hr)
    assert {"metric", "objective"} <= set(dir(hr.integrations.lightgbm))
