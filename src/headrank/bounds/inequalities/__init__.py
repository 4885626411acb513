"""How far can a sample be from the truth? Binomial and Chernoff bounds and order statistics, without ROC curves."""
