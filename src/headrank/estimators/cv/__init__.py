"""Which candidate is best? Cross-validation on the measure itself, and a selection rule that allows for noise."""
