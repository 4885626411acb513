"""What pytest leaves alone here: the settings of Sphinx, all that Sphinx makes, and examples whose library is missing."""

from importlib.util import find_spec

collect_ignore = ["_build", "_extensions", "api", "conf.py", "gallery"]
if not all(find_spec(name) for name in ("catboost", "optuna", "xgboost")):
    collect_ignore.append("integrations.md")
