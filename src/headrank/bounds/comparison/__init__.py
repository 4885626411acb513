"""Which scorer is better? Comparison of two or many scorers on the same rows, and selection of the best."""
