"""What every vocabulary begins with, and how long a sentence may be."""

SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
PAD_ID, BOS_ID, EOS_ID, UNK_ID = range(4)

# The longest sentence in tokens, <eos> included: what a model holds and a training takes, and where
# a translation that has not ended is broken off.
MAX_LEN, LONGEST_TRANSLATION = 256, 100
