from dataclasses import dataclass, fields

import pytest
import torch
from checked import unchecked

from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.corpus import SPLITS, Corpus, SentencePair, load_corpus
from transformer_lib.models import MODELS
from transformer_lib.run import runs
from transformer_lib.run.options import COUNT, POSITIVE, TrainSettings, _option
from transformer_lib.training import History, fit
from transformer_lib.transformer import Transformer

TINY = {"num_layers": 1, "d_model": 12, "num_heads": 3, "d_ff": 20}


@pytest.fixture(scope="module")
def corpus():
    whole = load_corpus("grammar")
    cut = {split: getattr(whole, split)[:10] for split in SPLITS[1:]}
    return Corpus("cut", whole.languages, train=whole.train[:60], **cut)


def test_a_run_is_what_its_settings_say(corpus):
    settings = TrainSettings(**TINY, dropout=0.2, positions="rotary", max_len=40, seed=5)
    run = runs.start_run(settings, corpus=corpus)
    config = run.translator.model.config
    assert {name: getattr(config, name) for name in TINY} == TINY
    assert (config.dropout, config.positions, config.max_len) == (0.2, "rotary", 40)
    torch.manual_seed(5)
    vocabularies = corpus.vocabularies()
    assert [len(v) for v in vocabularies] == [config.src_vocab_size, config.tgt_vocab_size]
    theirs = Transformer(config).state_dict()
    assert all(torch.equal(theirs[n], t) for n, t in run.translator.model.state_dict().items())


def test_every_setting_of_the_training_reaches_it(corpus, monkeypatch):
    seen = {}
    monkeypatch.setattr(runs, "fit", lambda *_, **how: seen.update(how) or History())
    numbers = {"steps": 7, "accumulate": 3, "evaluate_every": 5}
    shares = {"label_smoothing": 0.05, "weight_decay": 0.02}
    settings = TrainSettings(
        **TINY, **numbers, **shares, precision="bf16", learning_rate=0.5, warmup=2
    )
    runs.start_run(settings, corpus=corpus).fit(minutes=4)
    rate = seen.pop("learning_rate")
    assert [rate(step) for step in (1, 2, 7)] == pytest.approx([0.25, 0.5, 0])
    wanted = {**numbers, **shares, "save_every": 5, "precision": "bf16", "minutes": 4}
    assert seen == {**wanted, "resume": None}


def test_a_run_trains_as_a_plain_call_of_fit_does(corpus):
    settings = TrainSettings(**TINY, steps=3, max_tokens=128)
    ours = runs.start_run(settings, corpus=corpus).fit(progress=False).frame.loss
    run = runs.start_run(settings, corpus=corpus)
    encode = [vocabulary.encode for vocabulary in corpus.vocabularies()]
    batches = TokenBatches(encode_pairs(corpus.train, *encode, 256), 128, seed=0)
    theirs = fit(
        run.translator.model, batches, steps=3, learning_rate=settings.rate, progress=False
    )
    assert ours.tolist() == theirs.frame.loss.tolist()


def test_pairs_longer_than_the_longest_sentence_are_named_and_left_out(corpus):
    lengths = [max(len(p.source.split()), len(p.target.split())) for p in corpus.train]
    run = runs.start_run(TrainSettings(**TINY, max_len=10), corpus=corpus)
    with pytest.warns(UserWarning, match="pairs of train have over 10 tokens and are left out"):
        batches = run.batches()
    assert len(batches.examples) < len(lengths)
    assert max(max(map(len, example)) for example in batches.examples) <= 10


def test_where_no_pair_is_short_enough_the_limit_is_named(corpus):
    run = runs.start_run(TrainSettings(**TINY, max_len=2), corpus=corpus)
    with pytest.raises(ValueError, match="no pair of valid has at most max_len=2 tokens"):
        run.batches("valid")
    assert runs.error_of_head(run.translator, corpus.test, (0, 0)) is None


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_be_a_run(name, corpus):
    run = runs.start_run(TrainSettings(model=name, steps=1, max_tokens=256), corpus=corpus)
    assert len(run.fit(progress=False).frame) == 1


def test_the_best_head_is_that_of_the_lowest_rate(corpus, monkeypatch):
    translator = runs.start_run(TrainSettings(**TINY), corpus=corpus).translator
    rates = {(0, 0): 0.4, (0, 1): 0.2, (0, 2): 0.9}
    monkeypatch.setattr(type(translator), "alignment_error_rates", lambda self, pairs: rates)
    assert runs.best_head(translator, corpus.valid) == (0, 1)
    assert runs.error_of_head(translator, corpus.test, (0, 1)) == 0.2


def test_without_attention_links_or_words_there_is_no_best_head(corpus):
    gru = runs.start_run(TrainSettings(model="gru"), corpus=corpus).translator
    assert runs.best_head(gru, corpus.valid) is None
    assert runs.error_of_head(gru, corpus.test, None) is None
    plain = [SentencePair("Go.", "Va !")]
    model = runs.start_run(TrainSettings(**TINY), corpus=corpus).translator
    assert runs.best_head(model, plain) is None
    assert runs.error_of_head(model, plain, (0, 0)) is None
    pieces = runs.start_run(TrainSettings(**TINY, tokens="200"), corpus=corpus).translator
    assert runs.best_head(pieces, corpus.valid) is None


def another(option, value):
    """A value that the option takes, and is not this one."""
    rule = option.metadata["rule"]
    if rule.choices:
        return next(choice for choice in rule.choices if choice != value)
    if option.metadata["many"]:
        return ("x",)
    if rule.kind is int:
        return (value or 1) + 1
    if rule.kind is float:
        return (value or 0.2) / 2
    return "500" if option.name == "tokens" else "de-en"


def handed_on(settings, corpus):
    """All that a run of these settings asks of others, as text."""
    heard = []

    def ear(name, gives):
        return lambda *args, **how: heard.append((name, args, sorted(how.items()))) or gives

    with unchecked(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "load_corpus", ear("corpus", corpus))
        patch.setattr(runs, "seed_everything", ear("seed", None))
        for name in ("make_model", "create_model"):
            patch.setattr(runs, name, ear(name, torch.nn.Linear(1, 1)))
        for kind in ("build", "build_joint"):
            made = corpus.vocabularies()
            patch.setattr(
                runs.Subwords, kind, ear(kind, made if kind == "build_joint" else made[0])
            )
        patch.setattr(runs, "TokenBatches", ear("batches", []))
        patch.setattr(runs, "fit", lambda model, batches, **how: heard.append(how))
        runs.start_run(settings).fit()
    rate = heard[-1].pop("learning_rate")
    return repr([heard, [rate(step) for step in range(1, 9)]])


def unheard(kind, corpus):
    """The options that may say what they want: the run is the same."""
    base = {"steps": 8, "warmup": 3, "max_len": 40}
    before = handed_on(kind(**base), corpus)
    found = set()
    for option in fields(kind):
        given = {**base, option.name: another(option, getattr(kind(**base), option.name))}
        given |= {"tokens": "500"} if given.get("tie") == "all" else {}
        found |= {option.name} if handed_on(kind(**given), corpus) == before else set()
    return found


def test_every_option_is_heard_by_whom_it_is_for(corpus):
    assert unheard(TrainSettings, corpus) == set()


@pytest.mark.parametrize("to", ["run", "corpus"])
def test_an_option_that_nobody_reads_is_noticed(corpus, to):
    @dataclass(frozen=True)
    class More(TrainSettings):
        clip: float = _option(1.0, POSITIVE, "where the gradient's norm is cut", to=to)

    assert unheard(More, corpus) == ({"clip"} if to == "run" else set())


@pytest.mark.parametrize("to", ["corpus", "model", "training"])
def test_an_option_that_whom_it_is_for_does_not_know_is_refused(to):
    @dataclass(frozen=True)
    class More(TrainSettings):
        unknown: int = _option(1, COUNT, "what nobody takes", to=to)

    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        runs.start_run(More(**TINY, steps=1)).fit(progress=False)
