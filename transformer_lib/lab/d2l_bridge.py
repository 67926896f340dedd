"""d2l 0.17 on a current stack: the contrast and cross-check of the lessons.

This is the only place that imports it.
"""

import importlib
import sys
from types import ModuleType

from transformer_lib.base.optional import needed


def load_d2l() -> ModuleType:
    """The module `d2l.torch`, importable without torchvision and with today's IPython.

    IPython dropped a function that d2l calls; it is put back. d2l needs torchvision only for image
    data, so an empty module stands in for it while d2l is imported. Its version 0.17.0 is the last
    one that does not pin old libraries.
    """
    needed("d2l", "the book's code")
    from IPython import display
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    if not hasattr(display, "set_matplotlib_formats"):
        display.set_matplotlib_formats = set_matplotlib_formats
    try:
        importlib.import_module("torchvision")
        stand_ins = {}
    except (ImportError, RuntimeError, OSError):  # absent, or built for another torch
        vision, transforms = ModuleType("torchvision"), ModuleType("torchvision.transforms")
        vision.transforms = transforms
        stand_ins = {"torchvision": vision, "torchvision.transforms": transforms}
    sys.modules.update(stand_ins)
    try:
        return importlib.import_module("d2l.torch")
    finally:
        for name in stand_ins:
            del sys.modules[name]
