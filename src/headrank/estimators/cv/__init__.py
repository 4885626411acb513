"""Which candidate? Cross-validation on the measure itself, and the rule that chooses against noise."""
