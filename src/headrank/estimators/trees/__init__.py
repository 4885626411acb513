"""Which trees are best at the head? Gradient boosting by LightGBM, and what it leaves to grow and to explain."""
