"""The same measures and surrogates in other libraries' training: LightGBM, XGBoost, CatBoost, PyTorch and Optuna.

Importing this package imports none of them.
"""

from headrank.integrations import catboost, lightgbm, optuna, torch, xgboost

__all__ = ["catboost", "lightgbm", "optuna", "torch", "xgboost"]
