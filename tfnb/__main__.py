"""`python -m tfnb`: see tfnb/tools/cli.py."""
import sys

from tfnb.tools.cli import main

sys.exit(main())
