"""Which rankers together are best at the head? Families of models, and the combination that the folds prefer."""
