"""The papers' tables: one file each, with the paper's protocol and methods, run by ``python -m experiments.tables``."""
