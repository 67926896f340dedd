"""Packages that one thing alone needs: imported there, and named where they are missing."""

import importlib
from types import ModuleType

REQUIREMENT = {  # where it is not the name; an extra of this project installs all that goes together
    "d2l": "d2l==0.17.0",
    "vl_convert": "vl-convert-python",
    "ctranslate2": "'.[ctranslate2]' in the project's folder",
    **dict.fromkeys(("onnx", "onnxscript", "onnxruntime"), "'.[onnx]' in the project's folder"),
    "transformers": "'.[transformers]' in the project's folder",
}


def needed(package: str, what: str) -> ModuleType:
    """The package that `what` needs; where it is missing, an ImportError says what to install."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as missing:
        if missing.name != package:  # it is there, and lacks one of its own
            raise
        requirement = REQUIREMENT.get(package, package)
        raise ImportError(f"{what} needs {package}: pip install {requirement}") from None
