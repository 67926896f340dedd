"""A model to be read: its own parameters, but flags apart, so that reading never writes to it.

Decoding, scoring and recording read a view. Two threads may read one model while a third trains it.
"""

from types import MethodType
from typing import TypeVar

from torch import nn

Model = TypeVar("Model", bound=nn.Module)
_EVERY_MODULES = frozenset(vars(nn.Module()))  # the attributes that torch gives to each module


def eval_view(model: Model) -> Model:
    """The model in eval(), made of the very same parameters, buffers and hooks; it stays as it is.

    The view's modules are new and shallow: what is set on one of them is not set on the model's.
    Whoever trains the model trains its views. Like `model.eval()` it reaches registered modules
    alone. A model that was compiled runs as it is written.
    """
    views = {part: object.__new__(type(part)) for part in model.modules()}
    for part, view in views.items():
        own = vars(view)
        own.update(vars(part))
        own["training"] = False
        own["_parameters"], own["_buffers"] = part._parameters.copy(), part._buffers.copy()
        own["_modules"] = {name: views.get(child) for name, child in part._modules.items()}
        own["_compiled_call_impl"] = None
        for name in own.keys() - _EVERY_MODULES:
            method = own[name]  # one that was set on the module itself goes on within the view
            if isinstance(method, MethodType) and method.__self__ in views:
                own[name] = MethodType(method.__func__, views[method.__self__])
    return views[model]
