"""Reading a model, decoding, scoring, recording, writes nothing into it, whoever else uses it."""

import copy
import threading

import pytest
import torch
from torch import nn
from torch.nn.utils import prune
from torch.testing import assert_close

from transformer_lib.attention import record_attention
from transformer_lib.base.views import eval_view
from transformer_lib.batching import make_batch
from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import DATA
from transformer_lib.decoding import Recomputing, beam_search, greedy, sample
from transformer_lib.lab.toys import share_right, toy_examples
from transformer_lib.models import MODELS, create_model
from transformer_lib.training import fit, validation_loss
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 20, "dropout": 0.5}


def build(**options):
    return make_model(17, 17, **{**SIZES, "tie_weights": "all", **options})


def batch():
    return make_batch(toy_examples("copy", 6, seed=0, lengths=(2, 7)))


def state(model):
    """All that a reader must leave as it is: identities, ties, flags, strides, values."""
    parameters = dict(model.named_parameters(remove_duplicate=False))
    return (
        {name: (id(p), p.requires_grad, p.stride(), p._version) for name, p in parameters.items()},
        {name: (id(part), part.training) for name, part in model.named_modules()},
        [(id(part), sorted(vars(part))) for part in model.modules()],
    )


READERS = {
    "greedy": lambda model, b: greedy(model, b.src, b.src_mask, max_len=5),
    "sample": lambda model, b: sample(model, b.src, b.src_mask, max_len=5),
    "beam_search": lambda model, b: beam_search(model, b.src, b.src_mask, max_len=5),
    "validation_loss": lambda model, b: validation_loss(model, [b]),
    "share_right": lambda model, b: share_right(model, toy_examples("copy", 5, seed=1)),
}


@pytest.mark.parametrize("fails", [False, True], ids=["whole", "failing"])
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_reader_leaves_the_model_as_it_is_also_where_it_fails(read, fails):
    """Among it the mode of each part: one that is in eval() within a model in train() stays so."""
    model = build().train()
    model.encoder.eval()
    before = state(model)
    if fails:
        model.decoder.layers[1].cross_attn.attend = broken
        with pytest.raises(MemoryError):
            read(model, batch())
        del model.decoder.layers[1].cross_attn.attend
    else:
        read(model, batch())
    assert state(model) == before
    fit(model, [batch()], steps=1, progress=False)  # not "Inference tensors cannot be saved"


def broken(*_, **__):
    raise MemoryError


@pytest.mark.parametrize("kind", MODELS)
def test_a_view_computes_as_the_model_in_eval_and_shares_its_parameters(kind):
    model, b = create_model(kind, 17, 17, dropout=0.5), batch()
    view = eval_view(model)
    assert model.training
    assert not any(part.training for part in view.modules())
    pairs = zip(view.parameters(), model.parameters(), strict=True)
    assert all(one is other for one, other in pairs)
    read = view(b.src, b.tgt_in, b.src_mask)
    assert torch.equal(read, copy.deepcopy(model).eval()(b.src, b.tgt_in, b.src_mask))
    with torch.no_grad():
        next(model.parameters()).add_(1.0)
    assert not torch.equal(view(b.src, b.tgt_in, b.src_mask), read)


def test_what_is_set_on_a_view_is_not_set_on_the_model():
    model = build()
    view = eval_view(model)
    view.encoder.embedding, view.decoder.noted = nn.Embedding(2, 3), True
    view.generator.weight = nn.Parameter(torch.zeros(2, 3))
    assert model.encoder.embedding.weight is model.generator.weight
    assert not hasattr(model.decoder, "noted")


def test_parts_that_are_shared_stay_shared_in_a_view():
    view = eval_view(build(positions="rotary"))
    one, other = (layer.self_attn.relative for layer in view.encoder.layers)
    assert one is other


def test_a_method_set_on_a_part_goes_on_within_the_view():
    model = build()
    model.step = model.step  # bound, as a lesson or a test may do
    first = greedy(model.train(), batch().src, max_len=6)
    assert torch.equal(first, greedy(model, batch().src, max_len=6)), "dropout was on"


def test_a_pruned_model_decodes_and_computes_as_before():
    model, b = build(), batch()
    prune.l1_unstructured(model.encoder.layers[0].feed_forward.up_proj, "weight", 0.5)
    before = model.eval()(b.src, b.tgt_in)
    greedy(model, b.src, max_len=4)
    assert torch.equal(model(b.src, b.tgt_in), before)


def test_a_model_that_was_compiled_in_place_is_read_as_it_is_written():
    model, b = build(), batch()
    expected = greedy(model, b.src, max_len=5)
    model.compile(backend="eager")
    assert torch.equal(greedy(Recomputing(model), b.src, max_len=5), expected)


def test_wide_matrices_are_laid_out_in_the_view_alone():
    model, strides = make_model(9, 4096, d_model=64, num_heads=2, d_ff=8, num_layers=1), []
    model.generator.register_forward_pre_hook(lambda part, _: strides.append(part.weight.stride()))
    greedy(model, torch.ones(1, 3, dtype=torch.long), max_len=2, eos_id=-1)
    assert strides == [(1, 4096)] * 2
    assert model.generator.weight.stride() == (64, 1)


def in_threads(*runs):
    """Everything at once; what each returned, or the first error that one of them raised."""
    results, errors = [None] * len(runs), []
    together = threading.Barrier(len(runs))

    def call(i, run):
        try:
            together.wait(timeout=60)
            results[i] = run()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=pair) for pair in enumerate(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


@pytest.fixture(scope="module")
def translator():
    return Translator(*load_model(DATA / "models" / "lessons")[:3])


SENTENCES = ["I'm home.", "He's calm.", "I lost.", "Go.", "We are happy."]


def meeting(model):
    """The first two that read the encoder wait for each other: they are at work at once."""
    both, seen = threading.Barrier(2), []

    def wait(*_):
        seen.append(None)
        if len(seen) <= 2:
            both.wait(timeout=60)

    return model.encoder.register_forward_pre_hook(wait)


def test_four_threads_translate_as_one_after_the_other(translator):
    model = translator.model.train()
    model.encoder.eval()
    before, alone = state(model), [translator.translate([s]) for s in SENTENCES]
    hook = meeting(model)
    found = in_threads(*[lambda: [translator.translate([s]) for s in SENTENCES]] * 4)
    hook.remove()
    assert found == [alone] * 4
    assert state(model) == before


def test_who_records_hears_nothing_of_who_translates(translator):
    model = translator.model
    before = state(model)

    def maps():
        return [m.weights for _ in range(6) for m in translator.attention_maps("I'm home.")]

    alone, said = maps(), translator.translate(SENTENCES * 6)
    found = in_threads(maps, lambda: translator.translate(SENTENCES * 6), maps)
    assert found[1] == said
    for heard in (found[0], found[2]):
        for ours, theirs in zip(heard, alone, strict=True):
            assert_close(torch.as_tensor(ours), torch.as_tensor(theirs))
    assert state(model) == before


def test_one_thread_trains_while_others_translate(translator):
    model = build()
    b, before = batch(), state(model)
    stop = threading.Event()

    def train():
        try:
            fit(model, [b], steps=30, progress=False)
        finally:
            stop.set()

    def read():
        while not stop.is_set():
            greedy(model, b.src, b.src_mask, max_len=6)
            with record_attention(model) as maps, torch.no_grad():
                eval_view(model)(b.src, b.tgt_in, b.src_mask)
            assert {len(heard) for heard in maps.values()} == {1}

    in_threads(train, read, read)
    after = state(model)
    unversioned = [{name: p[:3] for name, p in seen[0].items()} for seen in (before, after)]
    assert unversioned[0] == unversioned[1]
    assert after[2] == before[2]
    fit(model, [b], steps=1, progress=False)
