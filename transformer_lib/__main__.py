"""What `python -m transformer_lib` runs."""

import sys

try:
    from transformer_lib.cli import main
except KeyboardInterrupt:  # while torch is loaded, which takes seconds
    print("\nstopped", file=sys.stderr)
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())
