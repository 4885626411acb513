"""``python -m headrank`` is the command line."""

from headrank.cli import app

app(prog_name="headrank")
