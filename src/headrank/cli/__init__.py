"""The command line: one file per command."""

import sys
from collections.abc import Sequence

from headrank._extras import needs_extra
from headrank.cli._interrupts import interruptible

_INTERRUPTED = 130
_NOT_INSTALLED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; failures are one line on stderr."""
    code = None
    with interruptible(last=arguments is None):
        try:
            # Importing takes long enough to be interrupted, so it is part of the run.
            with needs_extra("cli"):
                from headrank.cli._program import start
            code = start(sys.argv[1:] if arguments is None else arguments)
        except KeyboardInterrupt:
            if code is None:
                print("headrank: interrupted; nothing was written", file=sys.stderr)
                code = _INTERRUPTED
        except ModuleNotFoundError as error:
            print(f"headrank: {error}", file=sys.stderr)
            code = _NOT_INSTALLED
    return code
