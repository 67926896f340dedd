"""What `python -m transformer_lib` runs."""

import sys

from transformer_lib.cli import main

if __name__ == "__main__":
    sys.exit(main())
