"""The run-time check of the library's annotations under pytest: beartype, with an int allowed where
a float is asked for.

Of each test the first `CHECKS` checks are made, one of a call's arguments and one of its result.
Later calls, the hundredth update of a training, have the shapes of the first, and to check them
takes as long as to train.
"""

import contextlib
import functools

import jaxtyping
from beartype import BeartypeConf, beartype

CHECKS = 1000
_strict = beartype(conf=BeartypeConf(is_pep484_tower=True))
_left = CHECKS


def start():
    """Check from now on, `CHECKS` times."""
    global _left
    _left = CHECKS
    jaxtyping.config.update("jaxtyping_disable", False)


@contextlib.contextmanager
def unchecked():
    """No check inside the block."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        jaxtyping.config.update("jaxtyping_disable", before)


def checked(function):
    """The decorator that `--jaxtyping-packages` puts around every annotated function."""
    function = _strict(function)

    @functools.wraps(function)
    def counted(*args, **kwargs):
        global _left
        _left -= 1
        if _left <= 0:
            jaxtyping.config.update("jaxtyping_disable", True)
        return function(*args, **kwargs)

    return counted
