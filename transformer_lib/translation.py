"""A model and two vocabularies make a translator: sentences in, sentences out, and scores.

Lesson 15.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.base.distributed import gather, share
from transformer_lib.base.lines import unknown_words
from transformer_lib.base.listening import AttentionMap, listen
from transformer_lib.base.report import progress_bar
from transformer_lib.base.sentences import joined, sentences
from transformer_lib.base.tokens import EOS_ID, LONGEST_TRANSLATION, PAD_ID
from transformer_lib.base.views import eval_view
from transformer_lib.batching import Example, make_batch, pad
from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import AnyVocabulary, SentencePair, no_string
from transformer_lib.decoding import beam_search, greedy, sample
from transformer_lib.masks import padding_mask
from transformer_lib.metrics import Links, alignment_error_rate, translation_scores

BATCH = 256  # hypotheses side by side


@dataclass
class Translator:
    """A trained model that reads and writes text."""

    model: nn.Module
    source_vocabulary: AnyVocabulary
    target_vocabulary: AnyVocabulary

    @classmethod
    def load(cls, directory: str | Path, device: torch.device | str = "cpu") -> "Translator":
        """The translator in `directory`: a run's, one that was exported, or one checkpoint.

        Of a run's checkpoints the best is taken. Errors as in `load_model`.
        """
        return cls(*load_model(directory, device)[:3])

    def translate(self, texts: Sequence[str], **search) -> list[str]:
        """The translations in the order of the texts, greedy unless told otherwise.

        Of a text that holds several sentences each is translated by itself. By beam search with a
        `beam_size` of more than one, where `length_penalty` favours longer ones; drawn at random
        where `temperature`, `top_k`, `top_p` or `generator` say how, as in `sample`. `progress`
        shows a bar.

        A word that training never showed is read as <unk>, a sentence that is too long for the
        model is cut, an empty sentence stays empty: each is said in a warning. A translation ends
        after `LONGEST_TRANSLATION` tokens at the latest.
        """
        no_string(texts)
        language = self.source_vocabulary.language
        cut = [sentences(text, language) or [""] for text in texts]
        said = iter(self._translate([one for parts in cut for one in parts], **search))
        return [joined(islice(said, len(parts))) for parts in cut]

    def _translate(
        self,
        sentences: Sequence[str],
        *,
        beam_size: int = 1,
        length_penalty: float = 0.0,
        progress: bool = False,
        **sampling,
    ) -> list[str]:
        """`translate`, each text as it is."""
        if beam_size < 1:
            raise ValueError(f"beam_size={beam_size}, but a beam holds at least 1 hypothesis")
        if sampling and beam_size > 1:
            raise ValueError(
                f"beam_size={beam_size} and {', '.join(sampling)}: search or draw, not both"
            )
        self._warn_of_unknown(sentences)
        sources = [self._encode_source(sentence) for sentence in sentences]
        nonempty = [i for i, ids in enumerate(sources) if len(ids) > 1]  # not <eos> alone
        by_length = sorted(nonempty, key=lambda i: len(sources[i]))
        translations = [""] * len(sentences)
        starts = range(0, len(by_length), max(1, BATCH // beam_size))
        for start in progress_bar(starts, unit="batch", show=progress):
            rows = by_length[start : start + starts.step]
            src = pad([sources[i] for i in rows]).to(self._device)
            out = self._decode(src, beam_size, length_penalty, sampling)
            for i, ids in zip(rows, out.tolist(), strict=True):
                translations[i] = self.target_vocabulary.decode(ids)
        return translations

    def lost(self, sentence: str) -> str:
        """What is said of a sentence that is too long for the model; nothing of any other."""
        room, length = self.model.config.max_len - 1, len(self.source_vocabulary.encode(sentence))
        return f"cut after {room} of {length} tokens: {sentence[:40]!r}…" if length > room else ""

    def hypotheses(self, pairs: Sequence[SentencePair], **search) -> list[str]:
        """The sources translated in order to be measured, each whole as its reference is.

        `search` as in `translate`. Unknown words are part of what is measured, and no cause for a
        warning.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._translate([pair.source for pair in pairs], **search)

    def evaluate(self, pairs: Sequence[SentencePair], **search) -> dict:
        """`translation_scores` on `pairs`; `search` as in `translate`.

        Several processes share the pairs out.
        """
        hypotheses = gather(self.hypotheses(share(pairs), **search))
        return self.scores(hypotheses, pairs)

    def scores(self, hypotheses: Sequence[str], pairs: Sequence[SentencePair]) -> dict:
        """`translation_scores` of what was written, in the target's language and case."""
        target = self.target_vocabulary
        references = [pair.target for pair in pairs]
        return translation_scores(hypotheses, references, target.language, target.lower)

    def attention_maps(self, source: str, target: str | None = None) -> list[AttentionMap]:
        """Every head's weights while the model reads `source` and predicts `target`.

        `target` is its own translation if None. Row t of a decoder or cross-attention map is the
        step that predicts target token t.
        """
        target = self._translate([source])[0] if target is None else target
        batch = make_batch([self._example(SentencePair(source, target))])
        read, given, said = (
            vocabulary.tokens(ids[0].tolist())
            for vocabulary, ids in (
                (self.source_vocabulary, batch.src),
                (self.target_vocabulary, batch.tgt_in),
                (self.target_vocabulary, batch.tgt_out),
            )
        )
        axes = {"encoder": (read, read), "decoder": (said, given), "cross": (said, read)}
        return [
            AttentionMap(kind, layer, head, *axes[kind], weights)
            for kind, layer, heads in self._recorded(batch)
            for head, weights in enumerate(heads[0])
        ]

    def alignment_error_rates(self, pairs: Sequence[SentencePair]) -> dict[tuple[int, int], float]:
        """The alignment error rate of every cross-attention head: (layer, head) -> 0 to 1.

        A target word's link is the source word that the step predicting it looks at most. Pairs
        without gold links are left out, and so are words without one. Links are between words, so
        both vocabularies must be of words.
        """
        pairs = self.aligned(pairs)
        if not pairs:
            raise ValueError(
                "none of these pairs has a gold alignment and at most "
                f"max_len={self.model.config.max_len} tokens"
            )
        links: dict[tuple[int, int], list[Links]] = {}
        for start in range(0, len(pairs), BATCH):
            examples = [self._example(pair) for pair in pairs[start : start + BATCH]]
            for kind, layer, weights in self._recorded(make_batch(examples)):
                if kind == "cross":
                    for head in range(weights.size(1)):
                        links.setdefault((layer, head), []).extend(
                            _links(w[: len(e.tgt) - 1, : len(e.src) - 1])
                            for w, e in zip(weights[:, head], examples, strict=True)
                        )
        gold = [pair.alignment for pair in pairs]
        return {
            head: alignment_error_rate(list(map(_only_linked, found, gold)), gold)
            for head, found in links.items()
        }

    @property
    def vocabularies(self) -> tuple[AnyVocabulary, AnyVocabulary]:
        """That of the source, and that of the target."""
        return self.source_vocabulary, self.target_vocabulary

    @property
    def longest(self) -> int:
        """The tokens of the longest translation, <eos> included."""
        return min(LONGEST_TRANSLATION, self.model.config.max_len)

    def aligned(self, pairs: Sequence[SentencePair]) -> list[SentencePair]:
        """Those of the pairs that have gold links and are short enough for the model."""
        longest = self.model.config.max_len
        return [p for p in pairs if p.alignment and max(map(len, self._example(p))) <= longest]

    def _decode(
        self,
        src: Int[Tensor, "batch source"],
        beam_size: int,
        length_penalty: float,
        sampling: dict,
    ) -> Int[Tensor, "batch target"]:
        """The ids of the translations: drawn, the greedy ones, or the best that a beam finds."""
        asked = (self.model, src, padding_mask(src, PAD_ID))
        if sampling:
            return sample(*asked, max_len=self.longest, **sampling)
        if beam_size == 1:
            return greedy(*asked, max_len=self.longest)
        best, _ = beam_search(
            *asked, max_len=self.longest, beam_size=beam_size, length_penalty=length_penalty
        )
        return best

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def _example(self, pair: SentencePair) -> Example:
        return Example(
            [*self.source_vocabulary.encode(pair.source), EOS_ID],
            [*self.target_vocabulary.encode(pair.target), EOS_ID],
        )

    def _encode_source(self, sentence: str) -> list[int]:
        ids = self.source_vocabulary.encode(sentence)
        room = self.model.config.max_len - 1
        if not ids:
            warnings.warn("an empty sentence has an empty translation", stacklevel=4)
        if lost := self.lost(sentence):
            warnings.warn(lost, stacklevel=4)
        return [*ids[:room], EOS_ID]

    def _warn_of_unknown(self, sentences: Sequence[str]) -> None:
        unknown = list(
            dict.fromkeys(word for s in sentences for word in self.source_vocabulary.unknown(s))
        )
        if unknown:
            warnings.warn(unknown_words(unknown), stacklevel=4)

    @torch.no_grad()
    def _recorded(self, batch) -> Iterator[tuple[str, int, Float[Tensor, "batch heads query key"]]]:
        """(kind, layer, weights) of every attention in a teacher-forced pass."""
        model, batch = eval_view(self.model), batch.to(self._device)
        with listen(model.attentions()) as maps:
            model(batch.src, batch.tgt_in, batch.src_mask)
        for (kind, layer), records in maps.items():
            # A recurrent model tells step by step, and has no axis of heads.
            weights = torch.cat(records, dim=-2).cpu()
            yield kind, layer, weights if weights.dim() == 4 else weights[:, None]


def _links(weights: Float[Tensor, "target source"]) -> set[tuple[int, int]]:
    return {(i, j) for j, i in enumerate(weights.argmax(dim=1).tolist())}


def _only_linked(found: Links, gold: Links) -> Links:
    linked = {j for _, j in gold}
    return {(i, j) for i, j in found if j in linked}
