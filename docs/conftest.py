"""What pytest leaves alone here: the settings of Sphinx, what Sphinx makes, and a page whose libraries are missing."""

from importlib.util import find_spec

collect_ignore = ["_build", "_extensions", "api", "conf.py", "gallery"]
if not all(find_spec(name) for name in ("catboost", "optuna", "xgboost")):
    collect_ignore.append("integrations.md")
