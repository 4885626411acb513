"""Which model is best for a table? Train models for the head, evaluate them on a holdout and certify the best."""
