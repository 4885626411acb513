"""How sure are we in large samples? DeLong and the bootstrap: asymptotic."""
