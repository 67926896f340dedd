"""Writes the corpus: python data/bilingual OUTDIR.

OUTDIR gets train.tsv, valid.tsv, test.tsv, test_long.tsv and test_joined.tsv; a line is
English<TAB>French<TAB>alignment, where the alignment is a list of links i-j between the tokens that
`transformer_lib.corpus.tokenize` gives.
"""

import argparse
import sys
from pathlib import Path

# a folder run as a script has its own files on the path, not itself as a package
sys.path.insert(0, str(Path(__file__).parent.parent))

from bilingual.generation import write


def main() -> None:
    """Write the corpus to the directory named on the command line."""
    parser = argparse.ArgumentParser(
        prog="python data/bilingual",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", metavar="OUTDIR", help="where the five files go")
    parser.add_argument(
        "--seed", type=int, default=2024, help="seed of the generator (default 2024)"
    )
    options = parser.parse_args()
    for name, pairs in write(options.directory, options.seed).items():
        print(f"{name}: {len(pairs)} pairs", file=sys.stderr)


if __name__ == "__main__":
    main()
