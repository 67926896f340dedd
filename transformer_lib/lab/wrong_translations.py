"""What is wrong with a French translation, by rules that see letters and no language. Lesson 15."""

from collections import Counter

from transformer_lib.corpus import tokenize

KINDS = (
    "right",
    "repetition",
    "ending or form",
    "order",
    "dropped word",
    "added word",
    "wrong word",
    "several",
)
OPENED = {"au": "à le", "aux": "à les", "du": "de le"}
FAMILIES = """le la les l' | un une des | de d' | je j' | ce c' cet cette ces | mon ma mes
ton ta tes | son sa ses | notre nos | votre vos | leur leurs | il ils elle elles | me m' | te t'
se s' | ne n' | que qu' | bon bons bonne bonnes | beau bel belle beaux belles
vieux vieil vieille vieilles | suis es est sommes êtes sont | ai as a avons avez ont
vais va allons allez vont"""
FIRST = {word: f.split()[0] for f in FAMILIES.replace("\n", "|").split("|") for word in f.split()}


def kind_of_mistake(said: str, reference: str) -> str:
    """The first of these that fits, against one reference.

    right: the reference, word for word. repetition: up to three words, and at once the same again,
    where the reference has no such thing.
    Then, of both sentences without endings (`stems`): ending or form, the same words in the same
    order; order, the same words; dropped word or added word, words too few or too many and nothing
    else; wrong word, one in place of one; several, all the rest.
    """
    ours, theirs = tokenize(said, "fr"), tokenize(reference, "fr")
    if ours == theirs:
        return "right"
    if _repeated(ours) - _repeated(theirs):
        return "repetition"
    ours, theirs = stems(said), stems(reference)
    if ours == theirs:
        return "ending or form"
    more, less = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
    if not more and not less:
        return "order"
    if not more or not less:
        return "added word" if more else "dropped word"
    return "wrong word" if more.total() == less.total() == 1 else "several"


def _repeated(words: list[str]) -> set[tuple[str, ...]]:
    """The runs of up to three words that follow on themselves."""
    runs = [(i, n) for n in (1, 2, 3) for i in range(len(words) - 2 * n + 1)]
    return {
        tuple(words[i : i + n]) for i, n in runs if words[i : i + n] == words[i + n : i + 2 * n]
    }


def stems(sentence: str) -> list[str]:
    """The words of a French sentence without what inflects them, as far as letters tell.

    Contractions are opened, short words become the first of their family (elles: il), others keep
    at most four letters, without e, s and x at the end.
    """
    words = " ".join(tokenize(sentence, "fr")).replace("-", " ").split()
    opened = " ".join(OPENED.get(word, word) for word in words).split()
    return [FIRST.get(word, word.rstrip("esx")[:4] or word) for word in opened]
