"""Seconds that `import transformer_lib` and its modules take beyond torch's own."""

import subprocess
import sys

from measure import row

TIMED = """
import torch, time
began = time.process_time()
import {module}
print(time.process_time() - began)
"""


def seconds(module):
    code = TIMED.format(module=module)
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure():
    for module, aim in {
        "transformer_lib": "at most 0.15",
        "transformer_lib.transformer": "",
        "transformer_lib.training": "",
    }.items():
        times = [seconds(module) for _ in range(5)]
        yield row(f"import {module}: seconds beyond torch", times, aim)
