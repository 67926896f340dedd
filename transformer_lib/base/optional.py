"""Packages that one thing alone needs: imported there, and named where they are missing."""

import importlib
from types import ModuleType

REQUIREMENT = {"d2l": "d2l==0.17.0", "vl_convert": "vl-convert-python"}  # where it is not the name


def needed(package: str, what: str) -> ModuleType:
    """The package that `what` needs; where it is missing, an ImportError says what to install."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as missing:
        if missing.name != package:  # it is there, and lacks one of its own
            raise
        requirement = REQUIREMENT.get(package, package)
        raise ImportError(f"{what} needs {package}: pip install {requirement}") from None
