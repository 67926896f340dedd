"""The model that a student has trained, kept in `runs/mine` beside the lessons. Lessons 14 to 16.

The files are those of a checkpoint: numbers and text, never code. The student's class comes from
`mine.py`; where it cannot take the numbers, the library's does.
"""

import io
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.base.listening import Listened
from transformer_lib.base.views import eval_view
from transformer_lib.checkpoints import load_model, save_checkpoint
from transformer_lib.corpus import DATA
from transformer_lib.decoding import Recomputing
from transformer_lib.exercises.checking.weights import copy_weights
from transformer_lib.exercises.own.library import Unreadable, is_off, kept
from transformer_lib.masks import Mask
from transformer_lib.transformer import Transformer, TransformerConfig
from transformer_lib.translation import Translator

SHIPPED = DATA / "models" / "lessons"


def keep_trained(translator: Translator) -> None:
    """Write the translator's model and vocabularies to `runs/mine`, whole or not at all.

    A line says what was done. Nothing is written with `TRANSFORMER_LIB_MINE=off`. Never raises for
    what the disk may do.
    """
    if is_off():
        print("runs/mine: nothing is kept while TRANSFORMER_LIB_MINE is off.")
        return
    model = translator.model
    try:
        if model.config is None:
            raise ValueError("the model has no config: `with_steps(model, config)` takes it")
        same = _librarys(getattr(model, "model", model), model.config)
        save_checkpoint(trained_path(), same, translator.vocabularies, keep=1)
    except Exception as error:  # a full disk, a folder that may not be written
        print(f"runs/mine: not kept, {_in_words(error)}.")
        return
    print("runs/mine: your trained model is kept; `mine.translator()` gives it back.")


def translator() -> Translator:
    """A translator with the model of `runs/mine`, or the shipped one; a line says which.

    The model is of the student's class where that is kept and computes as the library's, else of
    the library's. With `TRANSFORMER_LIB_MINE=off` it is always the shipped one.
    """
    trouble = ""
    if not is_off() and trained_path().exists():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # a damaged file is passed over with a warning
                loaded = load_model(trained_path())
            if not isinstance(loaded.model, Transformer):
                raise ValueError(f"it holds a {type(loaded.model).__name__}, not a Transformer")
            model, whose = _own(loaded.model)
            print(f"translator: the model that you trained in lesson 14, {whose}.")
            return Translator(model, loaded.source_vocabulary, loaded.target_vocabulary)
        except Exception as error:  # whatever a damaged or foreign file may cause
            trouble = f" What stands in runs/mine cannot be used: {_in_words(error)}."
    print(f"translator: the one that comes with the course.{trouble}")
    return Translator(*load_model(SHIPPED)[:3])


def trained_path() -> Path:
    """Where the trained model stands: in the folder that the lesson runs in."""
    return Path.cwd() / "runs" / "mine"


class Own(Recomputing):
    """A student's Transformer as a translator needs it: with steps, and maps that can be heard.

    While somebody listens, the library's Transformer runs on the same parameters: that it computes
    the same was tested, and its attention can be heard.
    """

    def __init__(self, model: nn.Module, config: TransformerConfig):
        super().__init__(model, config)
        self._library = [_librarys(model, config)]  # in a list: its parameters count once

    def forward(
        self,
        src: Int[Tensor, "batch source"],
        tgt_in: Int[Tensor, "batch target"],
        src_mask: Mask | None = None,
    ) -> Float[Tensor, "..."]:
        (library,) = self._library
        if not any(attention.is_heard for attention in self.attentions().values()):
            return super().forward(src, tgt_in, src_mask)
        return (library if self.training else eval_view(library))(src, tgt_in, src_mask)

    def attentions(self) -> dict[tuple[str, int], Listened]:
        """Every attention, by its kind (encoder, decoder or cross) and its layer."""
        return self._library[0].attentions()


def _own(library: Transformer) -> tuple[nn.Module, str]:
    """The student's model with these numbers, and whose it is; the library's where it differs."""
    try:
        with redirect_stdout(io.StringIO()):  # whose its parts are is no news here
            make = kept("Transformer")
            if make is None:
                return library, "of the library's class"
            model = make(library.config)
            copy_weights(library.state_dict(), model, "as it was trained")
            if _differ(model.eval(), library.eval()):
                raise ValueError("it computes something else than when its check passed")
            return Own(model, library.config).eval(), f"of your own class {make.__name__}"
    except (Exception, Unreadable) as error:
        return library, f"of the library's class, since yours fails: {_in_words(error)}"


@torch.inference_mode()
def _differ(one: nn.Module, other: Transformer) -> bool:
    """Whether two models give different logits for some ids, one of which is padding."""
    config = other.config
    words = min(config.src_vocab_size, config.tgt_vocab_size)
    src, tgt_in = torch.arange(1, 13).view(2, 6) % words, torch.arange(1, 11).view(2, 5) % words
    mask = torch.ones(2, 1, 1, 6, dtype=torch.bool)
    mask[1, ..., 4:] = False
    return not torch.allclose(one(src, tgt_in, mask), other(src, tgt_in, mask), atol=1e-3)


def _librarys(model: nn.Module, config: TransformerConfig) -> Transformer:
    """The library's Transformer on the very parameters of a model with the same names."""
    library = Transformer(config)
    library.load_state_dict(model.state_dict(keep_vars=True), assign=True)
    return library


def _in_words(error: BaseException) -> str:
    """What an error says, on one line and without its full stop."""
    return (" ".join(str(error).split())[:200] or type(error).__name__).rstrip(".")
