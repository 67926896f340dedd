"""Shared set-up: one thread (or the environment's TRANSFORMER_LIB_THREADS), no progress bars, and two
repairs of nbval 0.11 that the lessons need.

Of a drawing nbval compares the words alone: what it draws, and where, is for tests of its own.
"""

import os
import time
from pathlib import Path
from queue import Empty

os.environ["OMP_NUM_THREADS"] = os.environ.get("TRANSFORMER_LIB_THREADS") or "1"  # kernels hear it
os.environ["TQDM_DISABLE"] = "1"
os.environ["TRANSFORMER_LIB_MINE"] = "off"  # no student's own library is read or written
# Not the user's matplotlibrc, nor a list of fonts that an installation since removed has left there.
os.environ["MPLCONFIGDIR"] = str(Path(__file__).parents[1] / "build" / "matplotlib")

import checked
import pytest
import torch
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _shapes_are_checked():
    checked.start()
    yield
    checked.start()  # for the fixtures of the next module


@pytest.fixture(
    params=[
        "cpu",
        pytest.param(
            "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
        ),
    ]
)
def device(request):
    return torch.device(request.param)


def _execute(self, source, allow_stdin=None):
    """nbval runs cells without history, so `;` does not hide output and Out[1] is missing;
    JupyterLab does neither.
    """
    return self.kc.execute(source, store_history=True, allow_stdin=allow_stdin, stop_on_error=False)


def _await_reply(self, msg_id, timeout=None):
    """As nbval's, but a kernel that died is noticed at once instead of after the whole cell
    timeout.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        try:
            reply = self.get_message(stream="shell", timeout=1.0)
        except Empty:
            if not self.is_alive():
                raise RuntimeError("the kernel died while running this cell") from None
            if deadline is not None and time.monotonic() > deadline:
                raise
            continue
        if reply["parent_header"].get("msg_id") == msg_id:
            if reply["content"]["status"] == "aborted":
                raise RuntimeError("the kernel aborted this cell")
            return


def _setup(self, setup=IPyNbFile.setup):
    setup(self)
    self.skip_compare += ("image/svg+xml",)


IPyNbFile.setup = _setup
RunningKernel.execute_cell_input = _execute
RunningKernel.await_reply = _await_reply


def pytest_collection_modifyitems(items):
    for item in items:
        if isinstance(item, IPyNbCell):
            item.output_timeout = 60  # nbval's 5 s are short on a busy machine
