"""Does it do what the papers say? Their tables and figures, one file each, run with ``python -m``."""
