"""Which cut-off? What each threshold does, and the one that is best by a criterion."""
