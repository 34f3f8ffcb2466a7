"""`python -m kibitz_cluster`."""

import sys

from kibitz_cluster.cli import main

sys.exit(main())
