"""One set of weights for two classes: copied by name, or said in words why they do not fit."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn


class Misfit(ValueError):
    """What keeps a class from taking the library's weights, in words for a student."""

    def __init__(self, sentence: str, *, attempted: bool = True):
        super().__init__(sentence)
        self.attempted = attempted


def randomised(make: Callable[..., nn.Module], sizes: tuple, options: Mapping) -> nn.Module:
    """A module with the same random weights each time; none is 0 or 1, biases and norms neither."""
    model = make(*sizes, **options)
    generator = torch.Generator().manual_seed(9)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(0.3 * noise if noise.dim() > 1 else 0.5 + 0.5 * noise)
    return model


def copy_weights(wanted: Mapping[str, Tensor], model: Any, about: str) -> None:
    """Give `model` the weights of a state_dict. Raises Misfit for the first thing in the way.

    `about` says in which use, if some weights are there in some uses only.
    """
    about = about and f" ({about})"
    name = type(model).__name__
    if not isinstance(model, nn.Module):
        raise Misfit(f"`{name}` holds no weights yet: write `class {name}(nn.Module):`.")
    gaps = [key for part in model.modules() for key, v in vars(part).items() if v is ...]
    if gaps:
        raise Misfit(f"Not attempted yet: `self.{gaps[0]}` is still `...`.", attempted=False)
    own = model.state_dict()
    missing = [key for key in wanted if key not in own]
    extra = [key for key in own if key not in wanted]
    if (missing or extra) and (counted := _counted(wanted, model, about)):
        raise Misfit(counted)
    if missing:
        raise Misfit(_missing(missing, extra, model, about))
    if extra:
        raise Misfit(_superfluous(extra, wanted, model, about))
    for key, tensor in wanted.items():
        if own[key].shape != tensor.shape:
            raise Misfit(
                f"`{key}` has the shape {tuple(own[key].shape)}; it should be {tuple(tensor.shape)}."
            )
    if twice := _one_for_two(wanted, own):
        raise Misfit(_tied(*twice, model, about))
    model.load_state_dict(wanted)


def _counted(wanted: Mapping[str, Tensor], model: nn.Module, about: str) -> str:
    """That a list of layers holds more or fewer than it should, "" where none does."""
    found = re.finditer(r"^(.*?)\.(\d+)\.", "\n".join(wanted), re.M)
    for name, last in {of[1]: int(of[2]) for of in found}.items():
        held = dict(model.named_modules()).get(name)
        if isinstance(held, nn.ModuleList | nn.Sequential) and len(held) != last + 1:
            layers = "layer" if len(held) == 1 else "layers"
            return (
                f"`{name}` holds {len(held)} {layers} in yours{about}, and should hold {last + 1}, as "
                "the config says."
            )
    return ""


def _tied(one: str, other: str, model: nn.Module, about: str) -> str:
    """That two weights are one: by the largest parts that are, if parts are."""
    parts = one, other
    whole = one.rpartition(".")[0], other.rpartition(".")[0]
    while (
        all(whole)
        and whole[0] != whole[1]
        and model.get_submodule(whole[0]) is model.get_submodule(whole[1])
    ):
        parts, whole = whole, tuple(name.rpartition(".")[0] for name in whole)
    if parts == (one, other):
        return (
            f"`{one}` and `{other}` are one parameter, and should be two{about}. Which line ties them, and when? "
            "(A text such as 'none' counts as True in an `if`.)"
        )
    return (
        f"`{parts[0]}` and `{parts[1]}` are one and the same, and should be two, each with weights of its own. Make "
        "each anew: `a = b` gives one a second name, and `[layer] * 2` holds one twice."
    )


def _one_for_two(wanted: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> tuple[str, str] | None:
    """Two names of one tensor that should hold different numbers, None without such names."""
    names: dict[int, str] = {}
    for key, tensor in own.items():
        first = names.setdefault(tensor.data_ptr(), key)
        if tensor.numel() and not torch.equal(wanted[first], wanted[key]):
            return first, key
    return None


def _missing(missing: list[str], extra: list[str], model: nn.Module, about: str) -> str:
    attributes = [item for part in model.modules() for item in vars(part).items()]
    for key, value in attributes:
        plain = isinstance(value, list | tuple | dict) and not key.startswith("_")
        if plain and any(_modules(value)):
            return (
                f"`self.{key}` is a plain {type(value).__name__}: its layers are not found, neither by "
                f"`parameters()` nor by an optimizer. Put them into an `nn.ModuleList`."
            )
    parts = {key.rpartition(".")[0] for key in missing}
    if all(key.endswith(".bias") for key in missing) and parts <= _owners(model.state_dict()):
        if all(isinstance(model.get_submodule(name), nn.RMSNorm) for name in parts):
            return (
                f"{_listed(parts)}: that is an RMSNorm, which takes off no mean and has no bias. Here a "
                "layer norm is wanted, `nn.LayerNorm`."
            )
        return f"{_listed(parts)} should have a bias: leave out `bias=False`."
    yours = _owners(extra)
    if not yours:
        return f"Weights are missing: {_listed(parts)}{about}. Are they made in `__init__`?"
    one = len(yours) == len(parts) == 1
    way = f"Should {_listed(yours)} be called so?" if one else f"Yours are called {_listed(yours)}."
    return (
        "The check copies the library's weights by name, and yours have none for "
        f"{_listed(parts)}{about}. {way}"
    )


def _superfluous(extra: list[str], wanted: Mapping, model: nn.Module, about: str) -> str:
    learned = dict(model.named_parameters(remove_duplicate=False))
    if stored := [key for key in extra if key not in learned]:
        owner = model.get_submodule(stored[0].rpartition(".")[0])
        if isinstance(owner, nn.modules.batchnorm._BatchNorm):
            return (
                f"`{stored[0].rpartition('.')[0]}` is a batch norm: its mean is taken over the tokens of a "
                "whole batch. A layer norm, `nn.LayerNorm`, takes it over the entries of one token."
            )
        return (
            f"`{stored[0]}` is not learned, yet would be stored with the weights: "
            "`self.register_buffer(..., persistent=False)` leaves it out."
        )
    if all(key.endswith(".bias") for key in extra):
        owners = _owners(extra)
        if all(isinstance(model.get_submodule(name), nn.LayerNorm) for name in owners):
            return (
                f"{_listed(owners)}: that is a LayerNorm, which has a bias and takes off the mean. Here an "
                "RMSNorm is wanted, `nn.RMSNorm`: it divides by the root mean square, and that is all."
            )
        return f"{_listed(owners)} should have no bias: `bias=False`."
    if own := [key for key in extra if key.rpartition(".")[0] in _owners(wanted)]:
        return (
            f"`{own[0]}` is a parameter, so it would be learned, and the library's class has none there. What "
            "is fixed is computed in `forward`, or kept by `self.register_buffer(..., persistent=False)`."
        )
    return f"{_listed(_owners(extra))} should not be there{about}: the library's class has no such weights."


def _owners(keys) -> set[str]:
    """The modules that these weights belong to; a parameter of the class stands for itself."""
    return {key.rpartition(".")[0] or key for key in keys}


def _modules(value: Any) -> list[bool]:
    values = value.values() if isinstance(value, dict) else value
    return [isinstance(item, nn.Module) for item in values]


def _listed(names) -> str:
    quoted = [f"`{name}`" for name in sorted(names)]
    more = f" and {len(quoted) - 4} more" if len(quoted) > 4 else ""
    return ", ".join(quoted[:4]) + more
