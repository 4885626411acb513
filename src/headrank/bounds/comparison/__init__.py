"""Which scorer is better? Two scorers on the same rows, many scorers, the best of several."""
