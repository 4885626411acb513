"""``python -m headrank`` is the command line."""

import sys

from headrank.cli import main

sys.exit(main())
