"""How far can a sample be from the truth? Binomial, Chernoff and order statistics: mathematics without ROC curves."""
