"""The command line: one file per command."""

import sys
from collections.abc import Sequence

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; failures are one line on stderr."""
    try:
        # Importing takes long enough to be interrupted, so it is part of the run.
        from headrank.cli._program import start
    except KeyboardInterrupt:
        print("headrank: interrupted; nothing was written", file=sys.stderr)
        return _INTERRUPTED
    return start(sys.argv[1:] if arguments is None else arguments)
