"""Parallel text: sentence pairs, their tokens, and the ids of the tokens. Lesson 05.

A vocabulary turns tokens into ids and back. The shipped corpora are described in data/README.md.
Any other corpus is a file of yours: a table of pairs, or two files whose lines belong together
(`pair_files` reads them).
"""

import difflib
import hashlib
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from transformer_lib.base.downloads import DOWNLOADED, fetch
from transformer_lib.base.language_names import language_named
from transformer_lib.base.optional import needed
from transformer_lib.base.tokens import BOS_ID, EOS_ID, PAD_ID, SPECIAL, UNK_ID
from transformer_lib.pair_files import Pair, read_pairs, read_plain


def data_directory() -> Path:
    """Where shipped corpora, recipes and models lie: in the installed library, or in a checkout."""
    inside = Path(__file__).parent / "data"
    return inside if inside.exists() else Path(__file__).parents[1] / "data"


DATA = data_directory()


def no_string(sentences: Iterable, what: str = "sentences") -> None:
    """Raises TypeError for a string where strings are meant: it would be read letter by letter."""
    if isinstance(sentences, str):
        raise TypeError(f"{what} is one string, not a list of strings: write [{sentences[:40]!r}]")


# ------------------------------------------------------------------------------------------- tokens

_WORD = r"\w+(?:-\w+)*"
_NUMBER = r"\d+(?:[.,:]\d+)+\w*"  # 3.14 1,000 10:30
_PLAIN = re.compile(rf"{_NUMBER}|{_WORD}|[^\w\s]")
_SIGNS = re.compile(rf"{_NUMBER}|[A-Za-z0-9]+|\w|[^\w\s]")  # where no blanks part the words
_TOKEN = {
    "en": re.compile(rf"{_NUMBER}|(?<=\w)'{_WORD}|{_WORD}|[^\w\s]"),  # i 'm
    "fr": re.compile(rf"{_NUMBER}|{_WORD}'?|[^\w\s]"),  # j' ai
    "de": _PLAIN,
}
BLANKLESS = ("zh", "ja", "th", "lo", "km", "my", "bo")  # scripts that write no blanks between words
_CODE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # en, zh-Hant
_ELISION = {"en": r"' (?=(?:em|til|cause|tis)\b)", "de": r" ' (?=(?:s|n|m|ne|nen|ner)\b)"}
_OPENING = {"en": "([“‘", "fr": "([“‘", "de": "([„‚", "": "([“‘«¿¡"}  # "" is any other language
_CLOSING = {"en": ".,…)]%”", "fr": ".,…)]%”", "de": ".,…)]%“‘", "": ".,…)]%”’»،؛؟"}
_TATOEBA = {"fra": "fr", "deu": "de"}


def blankless(language: str) -> bool:
    """Whether its script writes no blanks between words: Chinese, Japanese, Thai and their like."""
    return language.partition("-")[0] in BLANKLESS


def is_language(code: str) -> bool:
    """Whether `code` has the form of a language's code: en, deu, zh-Hant."""
    return bool(_CODE.fullmatch(code))


def tokenize(text: str, language: str, *, lower: bool = True) -> list[str]:
    """Words and punctuation marks in the order of the text, lower-case unless told otherwise.

    English, French and German have rules of their own. In English and French the apostrophe stays
    with the short word: `i 'm`, `j' ai`. Words with inner hyphens stay whole, and so do numbers and
    clock times: `3.14`, `10:30`. Where a script writes no blanks, each of its signs is a token. Word
    alignments index these tokens.
    """
    if not is_language(language):
        raise ValueError(f"language={language!r} is no code of a language, such as en, de or zh")
    text = unicodedata.normalize("NFC", text).replace("’", "'")
    pattern = _TOKEN.get(language, _SIGNS if blankless(language) else _PLAIN)
    return pattern.findall(text.lower() if lower else text)


def detokenize(tokens: Iterable[str], language: str, *, capital: bool = True) -> str:
    """Tokens as a person would write them, with a capital at the start unless told otherwise.

    Whatever else `tokenize` lower-cased stays lower-case, and white space is guessed: nobody can
    tell `3.50€` from `3.50 €`. How much that costs a corpus, `metrics.ceiling` says.
    """
    no_string(tokens, "tokens")
    text = " ".join(tokens)
    if blankless(language):
        text = re.sub(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])", "", text)
        return text[:1].upper() + text[1:] if capital else text
    rules = language if language in _TOKEN else ""
    text = re.sub(rf" (?=[{re.escape(_CLOSING[rules])}])", "", text)
    text = re.sub(rf"(?<=[{re.escape(_OPENING[rules])}]) ", "", text)
    text = re.sub(r'" ([^"]+?) ?"', r'"\1"', text)
    if language == "fr":  # joins after the apostrophe, and leaves a space before ! ? : ;
        text = text.replace("' ", "'")
    else:
        text = re.sub(r" (?=[!?:;]|'\w)", "", text)
        text = re.sub(r"(^|[:,;(] )' (.+?) ?'(?!\w)", r"\1'\2'", text)  # a quotation
        text = re.sub(_ELISION.get(rules, r" ' (?=\w)"), "'", text)
        text = re.sub(r" '(?!\w)", "'", text)  # the boys' ball
    first, large = text[:1], text[:1].upper()
    return (large if capital and large.lower() == first else first) + text[1:]  # no capital ß, ﬁ


# ------------------------------------------------------------------------------------- vocabularies


class Vocabulary:
    """The words of a language as ids: 0 to 3 are <pad> <bos> <eos> <unk>, then come the words.

    The most frequent word stands first. Build it from the training sentences only; a word it does
    not know becomes <unk>. With `lower` all text is read and written in lower case, but for the
    first letter of a sentence; without it a capital is another letter.
    """

    def __init__(self, words: Sequence[str], language: str, lower: bool = True):
        no_string(words, "words")
        self.language, self.lower = language, lower
        self.words = list(words)
        self._tokens = [*SPECIAL, *self.words]
        self._ids = {token: i for i, token in enumerate(self._tokens)}
        if len(self._ids) != len(self._tokens):
            twice = [token for token, n in Counter(self._tokens).items() if n > 1]
            raise ValueError(f"these words stand in the vocabulary twice: {', '.join(twice[:5])}")

    @classmethod
    def build(
        cls, sentences: Iterable[str], language: str, min_count: int = 1, lower: bool = True
    ) -> "Vocabulary":
        """Every word that occurs at least `min_count` times, the most frequent first.

        Words that occur equally often stand in alphabetical order.
        """
        no_string(sentences)
        counts = Counter(
            word for sentence in sentences for word in tokenize(sentence, language, lower=lower)
        )
        words = sorted(
            (w for w, n in counts.items() if n >= min_count), key=lambda w: (-counts[w], w)
        )
        return cls(words, language, lower)

    def __len__(self) -> int:
        return len(self._tokens)

    def encode(self, text: str) -> list[int]:
        """The ids of the sentence's tokens, without <bos> and <eos>."""
        return [self._ids.get(token, UNK_ID) for token in self._cut(text)]

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The token behind every id, special ones too: what labels the axes of an attention map."""
        return [self._tokens[i] for i in _known(ids, len(self))]

    def decode(self, ids: Iterable[int]) -> str:
        """The sentence up to <eos>, written as people write it."""
        return detokenize(self.tokens(_before_eos(ids)), self.language, capital=self.lower)

    def unknown(self, text: str) -> list[str]:
        """The words of `text` that become <unk>."""
        return [token for token in self._cut(text) if token not in self._ids]

    def rewritten(self, text: str) -> str:
        """What a perfect translation would be: `text`, cut into tokens and written again."""
        return detokenize(self._cut(text), self.language, capital=self.lower)

    def to_json(self) -> dict:
        kept = {"language": self.language, "lower": self.lower, "words": self.words}
        return {"kind": "words", **kept}

    def _cut(self, text: str) -> list[str]:
        return tokenize(text, self.language, lower=self.lower)


class Subwords:
    """Byte-pair encoding (Sennrich et al. 2016): rare words fall into pieces that are known.

    Frequent words stay whole. It serves wherever a `Vocabulary` does; `tokens` marks the start of a
    word with ▁. Pieces never cross `tokenize`'s borders.
    """

    def __init__(self, tokenizer, language: str, lower: bool = True):
        self.language, self.lower = language, lower
        self._tokenizer = tokenizer

    @classmethod
    def build(
        cls, sentences: Iterable[str], language: str, size: int = 4000, lower: bool = True
    ) -> "Subwords":
        """Learn at most `size` pieces from training sentences, the four special ones included.

        Every letter is a piece of its own: raises ValueError where `size` has no room for them all.
        """
        no_string(sentences)
        words = (tokenize(s, language, lower=lower) for s in sentences)
        return cls(_learn_pieces(words, size), language, lower)

    @classmethod
    def build_joint(
        cls,
        pairs: Sequence[tuple],
        languages: tuple[str, str],
        size: int = 8000,
        lower: bool = True,
    ) -> tuple["Subwords", "Subwords"]:
        """One set of pieces for both languages, learned from training pairs.

        Words that the languages share are cut alike, and one embedding can serve both
        (`tie_weights="all"`).
        """
        sides = enumerate(languages)
        words = (
            tokenize(pair[side], language, lower=lower)
            for side, language in sides
            for pair in pairs
        )
        tokenizer = _learn_pieces(words, size)
        return tuple(cls(tokenizer, language, lower) for language in languages)

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(" ".join(self._cut(text))).ids

    def tokens(self, ids: Iterable[int]) -> list[str]:
        return [self._tokenizer.id_to_token(i) for i in _known(ids, len(self))]

    def decode(self, ids: Iterable[int]) -> str:
        known = _known(_before_eos(ids), len(self))
        text = self._tokenizer.decode(known, skip_special_tokens=False)
        return detokenize(text.split(), self.language, capital=self.lower)

    def unknown(self, text: str) -> list[str]:
        """The words of `text` in which even a piece is unknown.

        They hold a letter that training never showed.
        """
        return [token for token in self._cut(text) if UNK_ID in self._tokenizer.encode(token).ids]

    def rewritten(self, text: str) -> str:
        """What a perfect translation would be: `text`, cut into tokens and written again."""
        return detokenize(self._cut(text), self.language, capital=self.lower)

    def to_json(self) -> dict:
        return {
            "kind": "subwords",
            "language": self.language,
            "lower": self.lower,
            "tokenizer": self._tokenizer.to_str(),
        }

    def _cut(self, text: str) -> list[str]:
        return tokenize(text, self.language, lower=self.lower)


class ByteSubwords:
    """Byte-level byte-pair encoding (Radford et al. 2019): no text is unknown.

    A text comes back as it was. The pieces are learned from bytes, of which every text in every
    script is made. It serves wherever a `Subwords` does, and needs no blanks between words.
    """

    SMALLEST = len(SPECIAL) + 256

    def __init__(self, tokenizer, language: str, lower: bool = False):
        self.language, self.lower = language, lower
        self._tokenizer = tokenizer
        self._tokenizer.encode_special_tokens = True  # "<eos>" in a text is five letters

    @classmethod
    def build(
        cls, sentences: Iterable[str], language: str, size: int = 4000, lower: bool = False
    ) -> "ByteSubwords":
        """Learn at most `size` pieces, the special ones and the 256 bytes included.

        Raises ValueError where `size` has no room for these.
        """
        no_string(sentences)
        return cls(_learn_bytes((_plain(s, lower) for s in sentences), size), language, lower)

    @classmethod
    def build_joint(
        cls,
        pairs: Sequence[tuple],
        languages: tuple[str, str],
        size: int = 8000,
        lower: bool = False,
    ) -> tuple["ByteSubwords", "ByteSubwords"]:
        """One set of pieces for both languages, learned from training pairs."""
        sentences = (_plain(pair[side], lower) for side in (0, 1) for pair in pairs)
        tokenizer = _learn_bytes(sentences, size)
        return tuple(cls(tokenizer, language, lower) for language in languages)

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(_plain(text, self.lower)).ids

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """Each piece as text; a piece that ends inside a letter shows � there."""
        known = _known(ids, len(self))
        return [self._tokenizer.decode([i], skip_special_tokens=False) for i in known]

    def decode(self, ids: Iterable[int]) -> str:
        known = _known(_before_eos(ids), len(self))
        return self._tokenizer.decode(known, skip_special_tokens=False)

    def unknown(self, text: str) -> list[str]:
        """No word: every text is made of bytes."""
        return []

    def rewritten(self, text: str) -> str:
        """`text` itself, since nothing is guessed."""
        return _plain(text, self.lower)

    def to_json(self) -> dict:
        return {
            "kind": "bytes",
            "language": self.language,
            "lower": self.lower,
            "tokenizer": self._tokenizer.to_str(),
        }


def _plain(text: str, lower: bool) -> str:
    text = unicodedata.normalize("NFC", text)
    return text.lower() if lower else text


def _learn_bytes(sentences: Iterable[str], size: int):
    if size < ByteSubwords.SMALLEST:
        raise ValueError(
            f"size={size}, but {len(SPECIAL)} special pieces and 256 bytes are "
            f"{ByteSubwords.SMALLEST}: give at least so many"
        )
    tokenizers = _tokenizers()
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences, trainer)
    return tokenizer


def _learn_pieces(sentences: Iterable[list[str]], size: int):
    tokenizers = _tokenizers()
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=SPECIAL[UNK_ID]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    tokenizer.decoder = tokenizers.decoders.Metaspace()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(SPECIAL), show_progress=False
    )
    tokenizer.train_from_iterator((" ".join(words) for words in sentences), trainer)
    if tokenizer.get_vocab_size() > size:
        raise ValueError(
            f"size={size}, but {len(SPECIAL)} special pieces and a piece for each letter of the "
            f"sentences are {tokenizer.get_vocab_size()}: give at least so many"
        )
    return tokenizer


AnyVocabulary = Vocabulary | Subwords | ByteSubwords


def vocabulary_from_json(data: dict) -> AnyVocabulary:
    """The vocabulary that `to_json` described."""
    language, lower = data["language"], data.get("lower", True)
    if data["kind"] == "words":
        return Vocabulary(data["words"], language, lower)
    kind = {"subwords": Subwords, "bytes": ByteSubwords}[data["kind"]]
    return kind(_tokenizers().Tokenizer.from_str(data["tokenizer"]), language, lower)


def _tokenizers() -> ModuleType:
    return needed("tokenizers", "cutting words into pieces")


def _known(ids: Iterable[int], size: int) -> list[int]:
    """The ids, none of which is below 0 or past the vocabulary's last."""
    ids = [int(i) for i in ids]
    for i in ids:
        if not 0 <= i < size:
            raise IndexError(
                f"id {i} stands for no token: the ids of this vocabulary are 0 to {size - 1}"
            )
    return ids


def _before_eos(ids: Iterable[int]) -> Iterator[int]:
    for i in ids:
        if i == EOS_ID:
            return
        if i not in (PAD_ID, BOS_ID):
            yield int(i)


# ------------------------------------------------------------------------------------------ corpora


class SentencePair(NamedTuple):
    """A sentence and its translation as people write them.

    `alignment` holds the gold links (i, j) between their tokens, if they are known.
    """

    source: str
    target: str
    alignment: frozenset[tuple[int, int]] | None = None


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs in splits that share no source sentence.

    `languages_are` says how the languages of a file of yours were found: `given`, `from the file
    names`, `from the header`, or `assumed`; and where its columns stood the other way round.
    `test_long` holds longer sentences than train; `test_joined` as many of each of these lengths, each
    of two whole sentences joined by a comma and a conjunction, which train does not show.
    """

    name: str
    languages: tuple[str, str]
    train: list[SentencePair] = field(repr=False)
    valid: list[SentencePair] = field(repr=False)
    test: list[SentencePair] = field(repr=False)
    test_long: list[SentencePair] = field(repr=False, default_factory=list)
    test_joined: list[SentencePair] = field(repr=False, default_factory=list)
    languages_are: str = ""

    def vocabularies(self, min_count: int = 1, lower: bool = True) -> tuple[Vocabulary, Vocabulary]:
        """Source and target vocabulary of the training split."""
        return tuple(
            Vocabulary.build((pair[side] for pair in self.train), language, min_count, lower)
            for side, language in enumerate(self.languages)
        )

    @property
    def fingerprint(self) -> dict:
        """What tells these data from others: the number of pairs, and a checksum over them all."""
        pairs = [(split, *pair[:2]) for split in SPLITS for pair in getattr(self, split)]
        text = "\n".join("\t".join(row) for row in pairs)
        return {"pairs": len(pairs), "sha256": hashlib.sha256(text.encode()).hexdigest()}


SPLITS = ("train", "valid", "test", "test_long", "test_joined")
SHIPPED = {  # languages, and a file below data/, or one a split, or the corpora that it joins
    "everyday": (("en", "fr"), "everyday.tsv"),
    "grammar": (("en", "fr"), "grammar/{split}.tsv"),
    "lessons": (("en", "fr"), ("everyday", "grammar")),
}
NAMES = (*SHIPPED, *DOWNLOADED)


def load_corpus(
    name_or_path: str | Path | Sequence[str | Path],
    *,
    languages: tuple[str, str] | str | None = None,
    max_pairs: int | None = None,
    max_words: int | None = None,
    hold_out: Iterable[str] = (),
    valid: str | Path | Sequence[str | Path] | None = None,
    seed: int = 0,
) -> Corpus:
    """The corpus of that name, or one read from your files, split into train, valid and test.

    Shipped: `everyday`, `grammar`, and `lessons`, which joins the two. Downloaded on first use:
    `tatoeba-fra` (English-French), `multi30k-de` (German-English), `multi30k-fra` (English-French).
    A path is a table, source TAB target on every line as Tatoeba and spreadsheets write it, or a
    .csv of commas or semicolons (plain, .gz, or a .zip with one inside); two paths are files whose
    n-th lines belong together (plain or .gz). Their languages come from the file names
    (`train.de.gz`, `fra-eng.zip`), else from a header row, unless given (`("de", "en")`, or
    `"de-en"`); English-French where nothing says them, and `languages_are` is `assumed` then. Where a
    header or the names say the languages that are meant the other way round, the columns are exchanged.

    Where the corpus has no splits of its own they are drawn by source sentence as tokens, so that
    one English sentence never stands on two sides: a tenth of the sentences, at most 500, for test,
    as many for valid. `seed` draws another split; the test set of a seed does not depend on
    `max_pairs`. Only pairs with at most `max_words` source words count, and of those `max_pairs`
    are taken (for a corpus with its own splits: of train). The sentences in `hold_out` go to test.

    With `valid`, files in the same form, nothing is drawn: all of the first files is train, `valid`
    is valid, and there is no test but `hold_out`.

    Of a file of yours a header, rows that are no pair, and pairs that stood there before are left
    out, with one warning that counts and names them. Raises ValueError for a file with no pair at
    all, with one column, not in UTF-8, or that can be read in two ways; FileNotFoundError names
    what was looked for; OSError where a download failed, and says what to do.
    """
    paths = _paths(name_or_path)
    languages = tuple(languages.split("-")) if isinstance(languages, str) else languages
    if languages is not None:
        _check_languages(languages)
    name = " + ".join(Path(path).name for path in paths)
    options = {"max_pairs": max_pairs, "max_words": max_words, "hold_out": hold_out}
    known = str(paths[0]) if len(paths) == 1 else ""
    if valid is not None and known in NAMES:
        raise ValueError(f"{name} has a valid split of its own: leave out valid={valid!r}")
    if known in SHIPPED:
        return _shipped(known, seed, options)
    if known in DOWNLOADED:
        remote = DOWNLOADED[known]
        parts = {
            part: _sentence_pairs(read_plain(*map(fetch, files)))
            for part, files in remote.files.items()
        }
        if "all" in parts:
            return _split(name, remote.languages, parts["all"], seed=seed, **options)
        return _own_splits(name, remote.languages, parts, **options)
    pairs, header = _read_own(paths)
    languages, found = _find_languages(languages, paths, header)
    if said := _reversed(languages, paths, header):
        pairs, found = _exchanged(pairs), f"{found}; {said}"
    if valid is not None:
        parts = {"train": pairs, "valid": load_pairs(valid, languages)}
        read = _own_splits(name, languages, parts, **options)
    else:
        read = _split(name, languages, pairs, seed=seed, **options)
    return replace(read, languages_are=found)


def load_pairs(
    files: str | Path | Sequence[str | Path], languages: tuple[str, str] | None = None
) -> list[SentencePair]:
    """All pairs of a file of yours, or of two whose lines belong together: to score a model on.

    Where a header or the file names say that the two `languages` stand the other way round, the
    columns are exchanged, with a warning.
    """
    paths = _paths(files)
    pairs, header = _read_own(paths)
    if languages and (said := _reversed(languages, paths, header)):
        warnings.warn(f"{' + '.join(Path(p).name for p in paths)}: {said}", stacklevel=2)
        return _exchanged(pairs)
    return pairs


def _paths(name_or_path: str | Path | Sequence[str | Path]) -> list[str | Path]:
    paths = [name_or_path] if isinstance(name_or_path, str | Path) else list(name_or_path)
    if len(paths) not in (1, 2):
        raise ValueError(
            f"a corpus is one file of pairs or two files of lines, not {len(paths)} files"
        )
    return paths


def _read_own(paths: Sequence[str | Path]) -> tuple[list[SentencePair], tuple[str, str] | None]:
    """The pairs of files of yours, and the languages that a header names."""
    for path in paths:
        if not Path(path).is_file():
            raise FileNotFoundError(
                f"no corpus {str(path)!r}: neither a name ({', '.join(NAMES)}) nor a file{_near(path)}"
            )
    read = read_pairs(*map(Path, paths))
    if note := read.note():
        warnings.warn(note, stacklevel=3)
    return _sentence_pairs(read.pairs), read.languages


def _near(path: str | Path) -> str:
    """What somebody may have meant who named a corpus that is not there."""
    folder, name = Path(path).parent, Path(path).name
    beside = [one.name for one in folder.iterdir() if one.is_file()] if folder.is_dir() else []
    found = difflib.get_close_matches(name, [*beside, *NAMES], n=1, cutoff=0.7)
    return (
        f". Did you mean {folder / found[0] if found[0] in beside else found[0]}?" if found else ""
    )


def _sentence_pairs(pairs: Iterable[Pair]) -> list[SentencePair]:
    return [SentencePair(pair.source, pair.target, _links(pair.third)) for pair in pairs]


def _links(text: str) -> frozenset[tuple[int, int]] | None:
    if not re.fullmatch(r"\d+-\d+( \d+-\d+)*", text):
        return None
    return frozenset(tuple(map(int, link.split("-"))) for link in text.split())


def verify(file: str) -> Path:
    """The path of a shipped file, given below data/, for which data/SHA256SUMS vouches.

    Raises ValueError where it does not.
    """
    sums = dict(reversed(line.split()) for line in (DATA / "SHA256SUMS").read_text().splitlines())
    found = hashlib.sha256((DATA / file).read_bytes()).hexdigest()
    if found != sums[file]:
        raise ValueError(
            f"{file} was changed: its SHA-256 is {found[:12]}…, data/SHA256SUMS says {sums[file][:12]}…. "
            "`git checkout data` brings it back; to use a version of yours, load a copy by its path"
        )
    return DATA / file


def _read_shipped(file: str) -> list[SentencePair]:
    return _sentence_pairs(read_plain(verify(file)))


def _shipped(name: str, seed: int, options: dict) -> Corpus:
    """The corpus of that row of `SHIPPED`."""
    languages, files = SHIPPED[name]
    if isinstance(files, tuple):
        corpora = [load_corpus(part, seed=seed) for part in files]
        joined = {split: [p for c in corpora for p in getattr(c, split)] for split in SPLITS}
        return _own_splits(name, languages, joined, **options)
    if "{split}" in files:
        parts = {split: _read_shipped(files.format(split=split)) for split in SPLITS}
        return _own_splits(name, languages, parts, **options)
    return _split(name, languages, _read_shipped(files), seed=seed, **options)


def _identity(sentence: str, language: str) -> str:
    """What makes two sentences the same: their tokens."""
    return " ".join(tokenize(sentence, language))


def _held(hold_out: Iterable[str], language: str, known: Iterable[str]) -> set[str]:
    """The identities to keep out of train.

    A warning names those that are not in the corpus, since they may be slips.
    """
    no_string(hold_out, "hold_out")
    held = {_identity(sentence, language): sentence for sentence in hold_out}
    absent = [sentence for key, sentence in held.items() if key not in known]
    if absent:
        warnings.warn(f"not in the corpus, so not held out: {'; '.join(absent)}", stacklevel=4)
    return set(held)


def _short_enough(identity: str, max_words: int | None) -> bool:
    return max_words is None or sum(t[0].isalnum() for t in identity.split()) <= max_words


def _split(name, languages, rows, *, max_pairs, max_words, hold_out, seed) -> Corpus:
    """Splits drawn by the hash of the source sentence."""

    def draw(key: str) -> bytes:
        return hashlib.sha256(f"{seed}:{key}".encode()).digest()

    groups: dict[str, dict] = {}  # of dicts rather than sets: they keep the order of the file
    for pair in rows:
        key = _identity(pair.source, languages[0])
        if _short_enough(key, max_words):
            groups.setdefault(key, {})[pair] = None
    if not groups:
        limit = f" of at most {max_words} words" if max_words else ""
        raise ValueError(f"{name} holds no sentence pair{limit}")
    held = _held(hold_out, languages[0], groups)
    order = sorted(groups.keys() - held, key=draw)
    size = min(500, max(1, len(order) // 10)) if len(order) >= 3 else 0
    test = sorted(groups.keys() & held, key=draw) + order[:size]
    splits = {"test": test, "valid": order[size : 2 * size], "train": order[2 * size :]}
    pairs, left = {}, max_pairs
    for split, keys in splits.items():
        pairs[split] = [pair for key in keys for pair in groups[key]][:left]
        left = None if left is None else left - len(pairs[split])
    if not pairs["train"]:
        raise ValueError(
            f"none is left to train on: of the {len(groups)} source sentences of {name}, "
            f"valid and test take {size} each, hold_out {len(held)}, and max_pairs={max_pairs}"
        )
    return Corpus(name, tuple(languages), **pairs)


def _own_splits(name, languages, parts, *, max_pairs, max_words, hold_out) -> Corpus:
    """The corpus's own splits, each source sentence in one of them.

    One that stands in two stays in the split that tests more.
    """
    keyed = {
        split: [(_identity(pair.source, languages[0]), pair) for pair in parts.get(split, ())]
        for split in reversed(SPLITS)
    }
    held = _held(hold_out, languages[0], {key for rows in keyed.values() for key, _ in rows})
    pairs = {split: [] for split in SPLITS}
    taken: dict[str, str] = {}
    for split, rows in keyed.items():
        for key, pair in rows:
            home = "test" if key in held else split
            if _short_enough(key, max_words) and taken.setdefault(key, home) == home:
                pairs[home].append(pair)
    pairs["train"] = pairs["train"][:max_pairs]
    if not pairs["train"]:
        limit = f", or longer than max_words={max_words}" if max_words else ""
        raise ValueError(
            f"nothing of {name} is left to train on: every sentence of it is held out{limit}"
        )
    return Corpus(name, tuple(languages), **pairs)


def _check_languages(languages: Sequence[str]) -> None:
    if len(languages) != 2 or not all(map(is_language, languages)):
        named = [language_named(language) for language in languages]
        meant = "-".join(named) if len(named) == 2 and all(named) else ""
        raise ValueError(
            f"languages={'-'.join(languages)!r} are not two codes of languages, such as "
            + (f"en-de: did you mean {meant}?" if meant else "en-de or en-zh")
        )


def _find_languages(
    given: tuple[str, str] | None,
    paths: Sequence[str | Path],
    header: tuple[str, str] | None,
) -> tuple[tuple[str, str], str]:
    """The languages of files of yours, and how they were found."""
    if given:
        return given, "given"
    if named := _languages_of(paths):
        return named, "from the file names"
    if header:
        _check_languages(header)
        return header, "from the header"
    if len(paths) == 2:
        raise ValueError(
            f"the languages of {paths[0]} and {paths[1]} are not in their names: "
            'say them, --languages de-en (in Python languages="de-en")'
        )
    if "eng" in _words_of(paths[0]):
        raise ValueError(
            f"{paths[0]} names no second language that is known here: say it, "
            '--languages en-xx (in Python languages="en-xx")'
        )
    return ("en", "fr"), "assumed"


def _reversed(
    languages: tuple[str, str], paths: Sequence[str | Path], header: tuple[str, str] | None
) -> str:
    """What is said where the files hold the two languages the other way round; else nothing.

    Of header and file names the header is nearer to the columns.
    """
    columns = header or _languages_of(paths)
    ours = tuple(language_named(code.partition("-")[0]) for code in languages)
    if columns == ours or columns != ours[::-1]:
        return ""
    who = "the header says" if header else "the file names say"
    return f"{who} {' → '.join(columns)}, so the columns are exchanged"


def _exchanged(pairs: Sequence[SentencePair]) -> list[SentencePair]:
    """The pairs from target to source."""
    return [
        SentencePair(target, source, links and frozenset((j, i) for i, j in links))
        for source, target, links in pairs
    ]


def _languages_of(paths: Sequence[str | Path]) -> tuple[str, str] | None:
    """The languages that the file names spell: train.de.gz + train.en.gz, en-fr.tsv, fra-eng.zip.

    Three letters are Tatoeba's: it names the other language first, or alone, and lists English first.
    """
    if len(paths) == 2:
        found = [next(filter(None, map(_code, _words_of(path)[::-1])), None) for path in paths]
        return tuple(found) if all(found) else None
    names = _words_of(paths[0])
    two = [p for p in names if len(p) == 2 and _code(p)]
    if len(two) == 2:
        return tuple(two)
    other = [_code(p) for p in names if len(p) == 3 and _code(p) and p != "eng"]
    alone = [_TATOEBA[p] for p in names if p in _TATOEBA]
    found = alone if "eng" not in names else other if len(other) == 1 else []
    return ("en", found[0]) if found else None


def _words_of(path: str | Path) -> list[str]:
    """What a file's name is made of."""
    return re.split(r"[\W_]", Path(path).name.lower())


def _code(part: str) -> str | None:
    """The language of which a part of a file's name is the code: two letters, or three."""
    return language_named(part) if len(part) in (2, 3) else None
