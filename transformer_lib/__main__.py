"""`python -m transformer_lib`: train a translator, translate with it, score it, look at the data."""

import sys

from transformer_lib.cli import main

if __name__ == "__main__":
    sys.exit(main())
