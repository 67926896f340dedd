"""What `python -m transformer_lib` runs."""

import sys

try:
    from transformer_lib.cli import main
except KeyboardInterrupt:  # while torch is loaded, which takes seconds
    print("\nstopped", file=sys.stderr)
    sys.exit(130)
except ModuleNotFoundError as error:  # another Python than that of .venv
    if error.name != "torch":
        raise
    sys.exit(
        f"error: {sys.executable} has no torch: take the Python of .venv (source .venv/bin/activate; "
        r"on Windows type .venv\Scripts\python), or install it first (make setup, or README)"
    )

if __name__ == "__main__":
    sys.exit(main())
