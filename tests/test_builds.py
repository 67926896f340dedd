"""Checks of classes: weights by name, known mistakes, and the part where an unknown one begins."""

import math
import sys
import time
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import attention, transformer
from transformer_lib.exercises import exercises
from transformer_lib.exercises.builds import (
    Block,
    Decoder,
    DecoderLayer,
    Encoder,
    EncoderLayer,
    GroupedAttention,
    MultiHeadAttention,
    SwiGLU,
    Transformer,
    whole,
)
from transformer_lib.exercises.builds.whole import MyTransformer
from transformer_lib.exercises.checking import running
from transformer_lib.exercises.checking.classes import Build, dropping
from transformer_lib.exercises.checking.weights import randomised
from transformer_lib.lab import twins
from transformer_lib.layers import AddNorm, PositionwiseFeedForward
from transformer_lib.masks import masked_softmax

BUILDS = {name: e for name, e in exercises().items() if isinstance(e, Build)}
EACH = pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)


class Heads(nn.Module):
    """Multi-head attention as a student may write it who has never seen the solution."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.h, self.d = num_heads, d_model // num_heads
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            p(x).view(len(x), -1, self.h, self.d).permute(0, 2, 1, 3)
            for p, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        weights = masked_softmax(torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(self.d), mask)
        return self.out_proj(self.last(torch.einsum("bhqk,bhkd->bqhd", weights, v).flatten(2)))

    def last(self, joined):
        return joined


def verdict(answer, build=MultiHeadAttention):
    return build.judge(answer)


@EACH
def test_every_build_knows_many_mistakes_and_its_solution_is_short(build):
    assert len({message for message, _ in build.mistakes}) >= 6
    lines = [line.strip() for line in build.source().splitlines()]
    assert len([line for line in lines if line and not line.startswith('"""')]) <= 50


@EACH
def test_what_is_used_covers_training_and_eval_and_other_sizes(build):
    cases = build.cases()
    assert {case.training for case in cases} == {True, False}
    assert len({case.sizes for case in cases}) > 1


@pytest.mark.parametrize(
    "build", [MultiHeadAttention, EncoderLayer, DecoderLayer, Encoder, Decoder, Transformer]
)
def test_torch_is_asked_and_says_what_the_library_says(build):
    """The twin is torch.nn's module: here the two meet on every use that torch can answer."""
    asked = 0
    for case in build.cases():
        model = randomised(build.reference, case.sizes, case.options).train(case.training)
        torchs = None if case.random else build.twin(model, *case.inputs)
        if torchs is not None:
            torch.testing.assert_close(model(*case.inputs), torchs, atol=1e-5, rtol=0)
            asked += 1
    assert asked >= len(build.cases()) - 3


def test_a_disagreement_with_torch_is_said(monkeypatch):
    monkeypatch.setattr(MultiHeadAttention, "twin", lambda model, *inputs: torch.zeros(()))
    assert "not as torch's without a mask" in verdict(Heads).message


def test_another_way_to_write_it_passes():
    assert verdict(Heads).passed


def test_random_weights_hide_nothing():
    model = randomised(twins.EncoderLayer, (12, 3, 17), {})
    for name, parameter in model.named_parameters():
        assert parameter.std() > 0.05, name
    again = randomised(twins.EncoderLayer, (12, 3, 17), {})
    assert all(map(torch.equal, model.parameters(), again.parameters()))


def changed(**attributes):
    """Heads with other attributes, made after its own."""

    class Changed(Heads):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)
            for name, make in attributes.items():
                delattr(self, name) if make is None else setattr(self, name, make(d_model))

    return Changed


def test_a_wrong_name_is_named_with_the_right_one():
    answer = changed(out_proj=None, W_o=lambda d: nn.Linear(d, d))
    message = verdict(answer).message
    assert "none for `out_proj`" in message
    assert "Should `W_o` be called so?" in message


def test_a_missing_weight_is_named():
    message = verdict(changed(out_proj=None)).message
    assert message == "Weights are missing: `out_proj`. Are they made in `__init__`?"


def test_a_wrong_shape_is_named_with_the_right_one():
    message = verdict(changed(k_proj=lambda d: nn.Linear(d, d // 2))).message
    assert message.startswith("`k_proj.weight` has the shape (2, 4); it should be (4, 4)")


def test_a_superfluous_weight_is_named():
    message = verdict(changed(extra=lambda d: nn.Linear(d, d))).message
    assert message == "`extra` should not be there: the library's class has no such weights."


def test_a_missing_bias_is_named():
    message = verdict(changed(v_proj=lambda d: nn.Linear(d, d, bias=False))).message
    assert message == "`v_proj` should have a bias: leave out `bias=False`."


def test_a_stored_buffer_is_not_a_weight():
    class WithBuffer(Heads):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)
            self.register_buffer("table", torch.zeros(3))

    assert "persistent=False" in verdict(WithBuffer).message


def test_layers_in_a_list_are_not_found():
    class InAList(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.all = [nn.Linear(d_model, d_model) for _ in range(4)]

        def forward(self, query, key, value, mask=None):
            return query

    assert "`self.all` is a plain list" in verdict(InAList).message
    assert "nn.ModuleList" in verdict(InAList).message


def holding_its_layers(held):
    """The library's Transformer, with another holder of its encoder's layers."""

    class Misstacked(transformer.Transformer):
        def __init__(self, config):
            super().__init__(config)
            layers = self.encoder.layers
            del self.encoder.layers
            self.encoder.layers = held(layers)

        def forward(self, *inputs):
            return super().forward(*inputs)

    return verdict(Misstacked, Transformer).message


def test_layers_in_a_list_of_a_part_are_not_found():
    assert "`self.layers` is a plain list" in holding_its_layers(list)


def test_one_layer_for_two_is_named():
    message = holding_its_layers(lambda layers: nn.ModuleList([layers[0]] * len(layers)))
    assert message.startswith("`encoder.layers.0` and `encoder.layers.1` are one and the same")


class Plain:
    def __init__(self, d_model, num_heads):
        self.q_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        return query


class NoSuper(nn.Module):
    def __init__(self, d_model, num_heads):
        self.q_proj = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        return query


class OtherArguments(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.q_proj = nn.Linear(d_model, d_model)


class Says:
    """A forward that ends otherwise."""

    @staticmethod
    def like(last):
        return type("Ends", (Heads,), {"last": last})


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Plain, "class Plain(nn.Module)"),
        (NoSuper, "`super().__init__()` is missing"),
        (OtherArguments, "takes 2 positional arguments but 3 were given"),
        (OtherArguments, "called as `forward(query, key, value, mask=None)`"),
        (Heads(12, 3), "the class itself, `MyMultiHeadAttention`"),
        (lambda d_model, num_heads: Heads(d_model, num_heads), "the class itself"),
        (None, "the class itself"),
        (Says.like(lambda self, x: x.detach()), "No gradient comes to `q_proj.weight`"),
        (
            Says.like(lambda self, x: x.relu()),
            "Right: `k_proj`, `v_proj`, `q_proj`. What goes into `out_proj` is wrong. Between lie the scores",
        ),
        (Says.like(lambda self, x: F.dropout(x, 0.1)), "no dropout. Take it out"),
        (Says.like(lambda self, x: F.dropout(x, 0.1, self.training)), "no dropout. Take it out"),
        (Says.like(lambda self, x: x[:, :2]), "a shape of (3, 2, 6)"),
        (Says.like(lambda self, x: 1 / 0), "ZeroDivisionError"),
    ],
)
def test_what_is_no_right_class_is_said_in_words(answer, words):
    found = verdict(answer)
    assert not found.passed
    assert words in found.message
    assert len(found.message) < 500


def test_what_threads_add_in_another_order_is_no_dropout():
    """The last bits of a sum may differ from run to run."""
    drawn = torch.Generator().manual_seed(0)

    class Trembling(Heads):
        def last(self, joined):
            return joined * (1 + 1e-6 * torch.randn(joined.shape, generator=drawn))

    assert verdict(Trembling).passed


def test_a_class_that_inherits_all_its_methods_is_judged_and_an_empty_one_is_not():
    class Version2(Heads):
        pass

    class Version3(nn.Module):
        def forward(self, query, key, value, mask=None): ...

    class Version4(Version3):
        pass

    assert verdict(Version2).passed
    for empty in (Version3, Version4, type("Version5", (nn.Module,), {})):
        assert "still empty" in verdict(empty).message


def test_two_mistakes_at_once_are_both_named(monkeypatch):
    class Both(Heads):
        def forward(self, query, key, value, mask=None):
            q, k, v = (
                p(x).view(len(x), -1, self.h, self.d).transpose(1, 2)
                for p, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
            )
            return self.out_proj(((q @ k.mT).softmax(-1) @ v).transpose(1, 2).flatten(2))

    message = verdict(Both).message
    assert message.startswith("Two things at once.")
    assert "Scale: the scores are not divided" in message
    assert "Mask: yours is never used" in message


def test_names_that_are_all_others_are_listed():
    class Others(nn.Module):
        def __init__(self, d_model, num_heads):
            super().__init__()
            self.W_q, self.W_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

        def forward(self, query, key, value, mask=None):
            return query

    assert verdict(Others).message.endswith("Yours are called `W_k`, `W_q`.")


def test_forward_without_a_return_is_said():
    class Silent(Heads):
        def forward(self, *inputs):
            super().forward(*inputs)

    assert "returned None" in verdict(Silent).message


def test_an_input_changed_in_place_is_said():
    class InPlace(Heads):
        def forward(self, query, key, value, mask=None):
            query += 1
            return super().forward(query - 1, key, value, mask)

    assert "changes its input" in verdict(InPlace).message


def test_a_class_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.5)

    def endless(self, x):
        while True:
            time.sleep(0.001)

    assert "still running" in verdict(Says.like(endless)).message


def test_a_part_that_is_never_called_is_named():
    class Layer(nn.Module):
        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False):
            super().__init__()
            self.self_attn = Heads(d_model, num_heads)
            self.add_norm1 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)
            self.feed_forward = PositionwiseFeedForward(d_model, d_ff)
            self.add_norm2 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)

        def forward(self, x, mask=None):
            x = self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))
            return self.add_norm2(x, lambda y: 0.5 * y)

    assert "`feed_forward.up_proj` is never called." in verdict(Layer, EncoderLayer).message


def test_a_part_that_is_never_called_is_named_before_what_stands_in_for_it():
    class Twice(Heads):
        def forward(self, query, key, value, mask=None):
            q, k, v = (
                (0.7 * p(x)).view(len(x), -1, self.h, self.d).transpose(1, 2)
                for p, x in ((self.k_proj, query), (self.k_proj, key), (self.v_proj, value))
            )
            return self.out_proj((masked_softmax(q @ k.mT, mask) @ v).transpose(1, 2).flatten(2))

    message = verdict(Twice).message
    assert "`q_proj` is never called." in message
    assert "`k_proj` is wrong" not in message


class Layer(nn.Module):
    """An encoder layer as a student may write it; `make` gives its Add & Norms."""

    make, rate = AddNorm, 0.1

    def __init__(self, d_model, num_heads, d_ff, *, dropout=None, norm_first=False):
        super().__init__()
        options = {"dropout": self.rate if dropout is None else dropout, "norm_first": norm_first}
        self.self_attn = Heads(d_model, num_heads)
        self.add_norm1, self.add_norm2 = (self.make(d_model, **options) for _ in range(2))
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff)

    def forward(self, x, mask=None):
        x = self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))
        return self.add_norm2(x, self.feed_forward)


class Quiet(Layer):
    rate = 0.0


class RootMeanSquare(AddNorm):
    def __init__(self, d_model, **options):
        super().__init__(d_model, **options)
        self.norm = nn.RMSNorm(d_model)


class OverTheBatch(AddNorm):
    def __init__(self, d_model, **options):
        super().__init__(d_model, **options)
        self.norm = nn.BatchNorm1d(d_model)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Quiet, "the rate is to be 0.1 where nothing is said"),
        (type("Rms", (Layer,), {"make": RootMeanSquare}), "that is an RMSNorm"),
        (type("Batch", (Layer,), {"make": OverTheBatch}), "is a batch norm"),
    ],
)
def test_what_an_encoder_layer_drops_by_itself_and_another_norm_are_named(answer, said):
    assert verdict(Layer, EncoderLayer).passed
    found = verdict(answer, EncoderLayer)
    assert found.kind == "mistake"
    assert said in found.message


def with_parts(**parts):
    """Layer with other parts, each made of (d_model, num_heads, d_ff, rate); None: add_norm1 again."""

    class Other(Layer):
        def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False):
            super().__init__(d_model, num_heads, d_ff, dropout=dropout, norm_first=norm_first)
            for name, make in parts.items():
                made = make(d_model, num_heads, d_ff, dropout) if make else self.add_norm1
                setattr(self, name, made)

    return Other


class Silent(AddNorm):
    def forward(self, x, sublayer):
        super().forward(x, sublayer)


class DropsAround(Layer):
    def forward(self, x, mask=None):
        attend = lambda y: F.dropout(self.self_attn(y, y, y, mask), 0.1, self.training)
        return self.add_norm2(self.add_norm1(x, attend), self.feed_forward)


class HandsOnTheMask(Layer):
    def forward(self, x, mask=None):
        return self.add_norm1(x, self.self_attn, mask)


def network(rate=None):
    return lambda d, h, d_ff, given: PositionwiseFeedForward(
        d, d_ff, dropout=given if rate is None else rate
    )


def drops_weights(rate=None):
    return lambda d, h, d_ff, given: attention.MultiHeadAttention(
        d, h, dropout=given if rate is None else rate
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (with_parts(add_norm2=None), "`add_norm1` and `add_norm2` are one and the same"),
        (
            with_parts(feed_forward=network(0.1)),
            "Dropout: `feed_forward.dropout` drops, and nothing",
        ),
        (with_parts(self_attn=drops_weights(0.1)), "Dropout: `self_attn` drops, and nothing"),
        (with_parts(feed_forward=network()), "Dropout: `feed_forward.dropout` drops, and nothing"),
        (with_parts(self_attn=drops_weights()), "Dropout: `self_attn` drops, and nothing"),
        (DropsAround, "an `F.dropout` in `add_norm1`, or in what it calls,"),
        (type("NoReturn", (Layer,), {"make": Silent}), "`add_norm1` gives None."),
        (HandsOnTheMask, "takes 3 positional arguments but 4 were given|too many positional"),
    ],
)
def test_what_is_in_an_encoder_layers_parts_is_told_by_the_part(answer, said):
    message = verdict(answer, EncoderLayer).message
    assert any(part in message for part in said.split("|")), message
    assert "Which value of the option" not in message
    assert "It is made as" not in message


class PostOnly(Layer):
    """Has the wrong default, and is otherwise right."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=True):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout, norm_first=norm_first)


class DropsTheSum(AddNorm):
    def forward(self, x, sublayer):
        if self.norm_first:
            return super().forward(x, sublayer)
        return self.norm(self.dropout(x + sublayer(x)))


class Deaf(Layer):
    """The second Add & Norm is never told `norm_first`."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False):
        super().__init__(d_model, num_heads, d_ff, dropout=dropout, norm_first=norm_first)
        self.add_norm2 = self.make(d_model, dropout=dropout)


class ReadsX(Layer):
    def forward(self, x, mask=None):
        x = self.add_norm1(x, lambda y: self.self_attn(x, x, x, mask))
        return self.add_norm2(x, self.feed_forward)


def ending(last):
    """Layer whose second half is another one."""

    class Ends(Layer):
        def forward(self, x, mask=None):
            return last(self, x, self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask)))

    return Ends


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (PostOnly, "`norm_first` is True in yours where nothing is said"),
        (type("Both", (Deaf,), {"make": DropsTheSum}), "it falls on the sum in yours"),
        (ReadsX, "the attention reads x itself"),
        (
            ending(lambda self, x, y: self.add_norm2.norm(self.feed_forward(y))),
            "Residual: there is none around the feed-forward network",
        ),
        (ending(lambda self, x, y: self.feed_forward(y)), "Add & Norm: there is none around"),
        (
            ending(lambda self, x, y: self.add_norm2(x, lambda _: self.feed_forward(y))),
            "both sublayers add the x that came into the layer",
        ),
    ],
)
def test_natural_mistakes_in_an_encoder_layer(answer, said):
    found = verdict(answer, EncoderLayer)
    assert found.kind == "mistake"
    assert said in found.message
    assert "behind the norm" not in found.message
    assert "handed over" not in found.message
    assert "It shows in" not in found.message


def test_a_part_that_should_drop_is_not_to_be_taken_out():
    drops = lambda d, h, d_ff, given: AddNorm(d, dropout=0.1)
    message = verdict(with_parts(add_norm1=drops), EncoderLayer).message
    assert message.endswith("Is the rate handed on to every part?")


def test_where_a_dropout_is_missing_the_step_is_the_one_that_should_drop():
    keeps = lambda d, h, d_ff, given: AddNorm(d)
    paper = str(verdict(with_parts(add_norm2=keeps), EncoderLayer).paper)
    assert "What goes into `add_norm2.norm` is wrong." in paper


def solved(old="", new="", build=DecoderLayer):
    """The solution of the decoder layer, or of another build, with other words in it."""
    known = {**vars(sys.modules[build.solutions[0].__module__]), "__name__": "__main__"}
    source = build.source()
    assert old in source
    exec(source.replace(old, new) if old else source, known)
    return known[build.name]


class Loud(solved(build=Transformer)):
    def __init__(self, config):
        super().__init__(config)
        nn.init.normal_(self.encoder.embedding.weight)


class DropsAnyhow(MyTransformer):
    def __init__(self, config):
        super().__init__(config)
        self.encoder.layers[0].add_norm1.dropout.p = 0.1


class AlwaysTied(MyTransformer):
    def __init__(self, config):
        super().__init__(config)
        self.generator.weight = self.decoder.embedding.weight


class DecoderWithoutPositions(MyTransformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        memory, embedding = self.encoder(src, src_mask), self.decoder.embedding
        x = nn.Embedding.forward(embedding, tgt_in) * math.sqrt(embedding.embedding_dim)
        for layer in self.decoder.layers:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.generator(self.decoder.norm(x))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Loud, "computes rightly, but its words begin too loud"),
        (DropsAnyhow, "drops although the rate is 0"),
        (AlwaysTied, "should be two (post-norm)"),
        (DecoderWithoutPositions, "right up to `encoder.layers.0.add_norm2.norm`"),
    ],
)
def test_what_is_no_right_transformer_is_said_in_words(answer, words):
    found = verdict(answer, Transformer)
    assert not found.passed
    assert words in found.message


@pytest.mark.parametrize(
    "text", ["pass", "...", "def __init__(self): ...\n    def forward(self): ..."]
)
def test_an_empty_class_is_not_an_attempt(text):
    names = {"nn": nn}
    exec(f"class MyTransformer(nn.Module):\n    {text}", names)
    found = verdict(names["MyTransformer"], Transformer)
    assert (found.passed, found.attempted) == (False, False)


def test_a_check_leaves_random_numbers_alone():
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    verdict(Heads)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(("rate", "passes"), [("0.1", True), ("0.0", False), ("0.5", False)])
def test_the_rate_of_a_decoder_layer_that_is_told_none_is_known(rate, passes):
    found = DecoderLayer.judge(solved("dropout=0.1", f"dropout={rate}"))
    assert found.passed == passes
    assert ("`dropout=0.1`" in found.message) != passes


def test_two_attentions_that_are_one_are_named_without_an_option():
    made = 'self.cross_attn = mine("MultiHeadAttention")(d_model, num_heads)'
    message = DecoderLayer.judge(solved(made, "self.cross_attn = self.self_attn")).message
    assert "`self_attn` and `cross_attn` are one and the same, and should be two" in message
    assert "option" not in message


ROWS = "self.dropout(rows + codes.to(rows))"
CODES = 'mine("sinusoids")(ids.size(1), self.embedding_dim)'
NORM = "nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()"
STD = "std=d_model**-0.5"
HOLDS = """class MyEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model, dropout):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)

    def forward(self, ids):
        return self.table(ids)


def my_layers"""


def rewritten(build, *changes):
    """What is said to the build's solution with other words in it."""
    source = build.source()
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    known = {**vars(whole), "__name__": "__main__"}
    exec(source, known)
    return build.judge(known[build.name])


@pytest.mark.parametrize(
    ("build", "old", "new", "said"),
    [
        (Encoder, CODES, 'mine("sinusoids")(1000, self.embedding_dim)', "a row for every position"),
        (Encoder, CODES, 'mine("sinusoids")(7, self.embedding_dim)[: ids.size(1)]', "too short"),
        (Encoder, "(c.num_layers)", "(c.num_layers - 1)", "`layers` holds 0 layers in yours"),
        (Encoder, "(c.num_layers)", "(2)", "`layers` holds 2 layers in yours"),
        (Decoder, NORM, "nn.LayerNorm(config.d_model)", "the last norm belongs to pre-norm alone"),
        (Decoder, NORM, "nn.Identity()", "the last norm belongs to pre-norm alone"),
        (Transformer, NORM, "nn.LayerNorm(config.d_model)", "belongs to pre-norm alone"),
        (Encoder, "nn.Dropout(dropout)", "nn.Dropout(0.1)", "Hand `config.dropout` on to it"),
        (Encoder, "def my_layers", HOLDS, "Let your class be one: `class …(nn.Embedding)`"),
        (Transformer, "def my_layers", HOLDS, "Let your class be one: `class …(nn.Embedding)`"),
        (Encoder, "src_vocab_size", "tgt_vocab_size", "the words of the other language"),
        (Decoder, "tgt_vocab_size", "src_vocab_size", "the words of the other language"),
        (Encoder, "__init__(vocab_size, d_model)", "__init__(d_model, vocab_size)", "is turned"),
        (Transformer, "d_model, config.tgt", "d_model, config.src", "Generator: these are the"),
        (Encoder, '"EncoderLayer"', '"DecoderLayer"', "the encoder has decoder layers"),
        (Decoder, '"DecoderLayer"', '"EncoderLayer"', "the decoder has encoder layers"),
        (Encoder, "c.num_heads, c.d_ff", "c.d_ff, c.num_heads", "(d_model, num_heads, d_ff)"),
        (Decoder, "tgt_mask, src_mask)", "tgt_mask, src_mask=src_mask)", "by other names"),
        (Encoder, STD, "std=1 / d_model", "begin too quiet"),
        (Transformer, STD, "std=1 / d_model", "begin too quiet"),
        (Encoder, STD, "std=1", "begin too loud"),
        (Encoder, ROWS, f"self.dropout({ROWS})", "it falls twice on the sum"),
        (Decoder, "(y, memory,", "(y, self.embedding.dropout(memory),", "the memory drops"),
        (Decoder, "return self.norm(y)", "return self.norm(y), memory", "Only the first of the 2"),
    ],
)
def test_what_is_natural_in_a_stack_is_told_in_its_words(build, old, new, said):
    found = rewritten(build, (old, new))
    assert not found.passed
    assert said in found.message
    assert "Two things" not in found.message


def test_layers_in_a_sequential_that_gets_a_mask_are_told_so():
    made = 'my_layers("EncoderLayer", config)'
    loop = "for layer in self.layers:\n            x = layer(x, src_mask)"
    changes = (made, f"nn.Sequential(*{made})"), (loop, "x = self.layers(x, src_mask)")
    assert "hands on one thing alone" in rewritten(Encoder, *changes).message


TIED = "self.generator.weight = self.decoder.embedding.weight  # one parameter, two names"


def test_matrices_that_are_tied_too_late_or_the_other_way_are_told_so():
    turned = "self.decoder.embedding.weight = self.generator.weight"
    other = rewritten(Transformer, (TIED, turned))
    assert "begins with the generator's numbers" in other.message

    class Late(solved(build=Transformer)):
        def __init__(self, config):
            super().__init__(replace(config, tie_weights="none"))
            self.ties = config.tie_weights

        def forward(self, *given):
            if self.ties != "none":
                self.generator.weight = self.decoder.embedding.weight
            if self.ties == "all":
                self.encoder.embedding.weight = self.decoder.embedding.weight
            return super().forward(*given)

    assert "it is tied too late, in `forward`" in verdict(Late, Transformer).message


def test_a_memory_that_drops_is_told_in_the_whole():
    drops = (
        "tgt_in, memory, tgt_mask, src_mask)",
        "tgt_in, self.encoder.embedding.dropout(memory), tgt_mask, src_mask)",
    )
    assert "the memory drops on its way" in rewritten(Transformer, drops).message


def test_a_mask_turned_round_is_told_without_the_way_to_it():
    turned = ("layer(x, src_mask)", "layer(x, src_mask if src_mask is None else ~src_mask)")
    message = rewritten(Encoder, turned).message
    assert message.endswith(
        "`src_mask` turned round: where it is True, yours does what belongs to False."
    )


def test_the_use_in_which_an_error_is_raised_stands_behind_the_name():
    message = rewritten(Encoder, ("return self.norm(x)", "return self.norm(x) @ src")).message
    assert message.startswith("`MyEncoder` (post-norm), given a tensor of shape (1, 2), raised")


def test_the_whole_is_written_from_its_two_checkpoints():
    whole = Transformer.source()
    for checkpoint in (Encoder, Decoder):
        assert checkpoint.source().rpartition("\n\n\n")[2] in whole
        assert whole.startswith(checkpoint.source().rpartition("\n\n\n")[0])


ATTENTION = 'mine("MultiHeadAttention")(d_model, num_heads)'
JOINED = "mask = mask & tgt_mask"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("(target, target)", "\n        mask = mask | self.training", "is causal in eval() alone."),
        ("norm_first=False", "norm_first=True", "`norm_first` is True in yours where nothing"),
        (JOINED, "mask = mask + tgt_mask", "`|`, like `+`, lets through"),
        (JOINED, "mask = mask and tgt_mask", "`and`, `or`, `not` and `if` want one truth"),
        (
            "if tgt_mask is not None",
            "if tgt_mask",
            "whether there is a tensor at all, `is not None`",
        ),
        ("(y, y, y, mask)", "(y, mask)", "argument: 'value'"),
        (
            "across, self.feed_forward",
            "back, self.feed_forward",
            "has to go on from what `add_norm2`",
        ),
        ("lambda y: self.self", "lambda: self.self", "your `lambda` takes none"),
        (
            "return self.add_norm3(across, self.feed_forward)",
            "return self.add_norm3(across, self.feed_forward), memory",
            "Only the first of the 2 things that you return is wanted",
        ),
        (
            "x, memory, tgt_mask=None",
            "memory, x, tgt_mask=None",
            "`forward(memory, x, tgt_mask, me",
        ),
        ("x, memory, tgt_mask=None", "x, tgt_mask=None, memory=None", "stand in other places"),
        (
            ATTENTION,
            f"{ATTENTION[:-1]}, dropout=dropout)",
            "Dropout: `self_attn` drops, and nothing",
        ),
        ("d_ff)\n", "d_ff, dropout=dropout)\n", "Dropout: `feed_forward.dropout` drops, and"),
    ],
)
def test_natural_mistakes_in_a_decoder_layer(old, new, said):
    found = DecoderLayer.judge(solved(old, new))
    assert not found.passed
    assert said in found.message
    assert "`[:, :, None]`" not in found.message
    assert "It shows in" not in found.message


def test_what_drops_is_found_whatever_drops_before_it():
    both = with_parts(self_attn=drops_weights(), feed_forward=network())
    layer, x = both(12, 3, 17, dropout=0.5).train(), torch.randn(2, 5, 12)
    assert dropping(layer, x) == [
        "self_attn",
        "add_norm1.dropout",
        "feed_forward.dropout",
        "add_norm2.dropout",
    ]
    assert dropping(layer.eval(), x) == []


SHARED = "k = k.repeat_interleave"
MADE = "(d_model, num_heads, num_kv_heads, positions, qk_norm=qk_norm)"
GROUPED = """q = q.unflatten(1, (self.group, -1))
        v, k = v[:, None], k[:, None]
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True).flatten(1, 2)
        return self.out_proj(heads.transpose(1, 2).flatten(2))
        k = k.repeat_interleave"""
STREAM = """x = self.norm1(x)
        h = x + self.attention(x)"""
BY_HAND = """q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        k = k.repeat_interleave"""
AS_MANY = """k = torch.stack([k[:, h % k.size(1)] for h in range(q.size(1))], dim=1)
        v = torch.stack([v[:, h % v.size(1)] for h in range(q.size(1))], dim=1)
        self.group = 1
        k = k.repeat_interleave"""


@pytest.mark.parametrize(
    ("build", "old", "new", "said"),
    [
        (
            SwiGLU,
            "F.silu(self.gate_proj(x))",
            "F.silu(x) @ self.gate_proj.weight.T",
            "on x in yours",
        ),
        (SwiGLU, "F.silu", "F.swish", "torch's name of swish is `F.silu`"),
        (SwiGLU, "F.silu", "nn.SiLU", "`nn.SiLU` is a layer"),
        (SwiGLU, "d_model, d_ff, bias", "d_ff, d_model, bias", "(entries in, entries out)"),
        (SwiGLU, ", bias=False", "", "should have no bias"),
        (SwiGLU, "d_model, d_ff):", "d_model, d_ff):\n        d_ff = 2 * d_ff // 3", "shrink d_ff"),
        (SwiGLU, "gate * up", "F.dropout(gate * up)", "this class has no dropout"),
        (
            SwiGLU,
            "gate * up",
            "gate.sigmoid() * up + (1 - gate.sigmoid()) * gate",
            "into `down_proj`",
        ),
        (GroupedAttention, SHARED, GROUPED, "reads key head h mod num_kv_heads"),
        (GroupedAttention, SHARED, AS_MANY, "reads key head h mod num_kv_heads"),
        (GroupedAttention, "x.unflatten", "F.relu(x).unflatten", "into `out_proj` is wrong"),
        (GroupedAttention, "(-1, self.d_head)", "(self.group, -1)", "Split: "),
        (GroupedAttention, "kv_width, bias", "d_model, bias", "with num_heads before num_kv_heads"),
        (GroupedAttention, "nn.RMSNorm", "nn.LayerNorm", "that is a LayerNorm, which has a bias"),
        (
            GroupedAttention,
            "RMSNorm(self.d_head)",
            "RMSNorm(d_model)",
            "over the entries of one head",
        ),
        (GroupedAttention, "if qk_norm", "if True", "where no `qk_norm` is asked for"),
        (GroupedAttention, "if qk_norm", "if False", "Where `qk_norm` is True, each of the two"),
        (GroupedAttention, "self.positions.turn", "self.positions", "`positions` is no function"),
        (GroupedAttention, "is_causal=True", "is_causal=True, dropout_p=0.1", "has no dropout"),
        (GroupedAttention, SHARED, BY_HAND, "also where no `qk_norm` is asked for"),
        (
            Block,
            "nn.RMSNorm(d_model)",
            "nn.LayerNorm(d_model)",
            "that is a LayerNorm, which has a bias",
        ),
        (Block, "h = x + self.attention(self.norm1(x))", STREAM, "Norm: it stands on the stream"),
        (
            Block,
            MADE,
            MADE.replace("num_heads, num_kv_heads", "num_kv_heads, num_heads"),
            "come first",
        ),
        (
            Block,
            MADE,
            "(d_model, num_heads, num_kv_heads, positions, qk_norm)",
            "by its name|too many",
        ),
        (Block, MADE, "(d_model, num_heads, num_kv_heads, positions)", "does not reach it"),
        (Block, MADE, "", "gives a class"),
        (Block, f"attention{MADE}", 'mine("MultiHeadAttention")(d_model, num_heads)', "lesson 09"),
        (
            Block,
            "self.attention(self.norm1(x))",
            "self.norm1(self.attention)",
            "is called with what it",
        ),
        (Block, "self.norm2(h)", "self.norm1(x)", "work side by side"),
    ],
)
def test_natural_mistakes_in_todays_block(build, old, new, said):
    found = build.judge(solved(old, new, build))
    assert not found.passed
    assert any(part in found.message for part in said.split("|")), found.message
    assert "Two things" not in found.message
    assert "the rate is 0" not in found.message
