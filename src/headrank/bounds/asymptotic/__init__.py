"""How sure are we in large samples? DeLong's method and the bootstrap, both asymptotic."""
