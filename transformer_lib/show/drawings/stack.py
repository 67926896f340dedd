"""A residual stream, a straight line upwards, and the modules that stand on it and beside it.

A sublayer stands left of the stream, reads it by the lower line and adds to it by the upper one.
The norm stands on the stream (post) or on the line that reads it (pre).
"""

from contextlib import ExitStack
from dataclasses import replace

import torch
from jaxtyping import Shaped
from torch import Tensor, nn

from transformer_lib.show.drawings.scene import Box, Number, Part, arrow, fork, operation, straight

WIDE, HIGH = 226, 54  # of a sublayer's box
BESIDE = 112  # from a box to its stream
QKV = (("query", "right", 1), ("key", "right", 10), ("value", "right", 19))
MEMORY = (("key", "left", -13), ("value", "left", 13), ("query", "right", 14))
SUBLAYERS = {  # of its name: its lesson, its role, what enters it
    "self_attn": ("09", "attention", QKV),
    "cross_attn": ("12", "attention", MEMORY),
    "feed_forward": ("11", "feed-forward", ()),
}


def hear_shapes(module: nn.Module, *inputs: Shaped[Tensor, "..."]) -> dict[str, str]:
    """Run a module once; the shape of what every part of it puts out, by the part's name."""
    shapes = {}

    def hear(name):
        def hook(_, __, output):
            if isinstance(output, Tensor):
                shapes[name] = shape_of(output)

        return hook

    with ExitStack() as stack, torch.no_grad(), torch.random.fork_rng():
        for name, part in module.named_modules():
            stack.callback(part.register_forward_hook(hear(name)).remove)
        module(*inputs)
    return shapes


def shape_of(tensor: Shaped[Tensor, "..."]) -> str:
    """(1, 4, 128): a shape as people write it."""
    return f"({', '.join(map(str, tensor.shape))})"


def inside(*names: str) -> str:
    """The name of a part inside others, as the module tree has it."""
    return ".".join(filter(None, names))


class Stack:
    """A stream that grows upwards from `bottom`, and its parts in the order of the data."""

    def __init__(self, x: Number, bottom: Number, shapes: dict[str, str]):
        self.x, self.y, self.shapes = x, bottom, shapes
        self.parts: list[Part] = []
        self.top: Part | None = None

    def climb(self, part: Part) -> Part:
        """Set a part on the stream, above what stands there."""
        if self.top is not None:
            head = isinstance(part, Box) and part.height > 30
            self.parts.append(straight(self.top, part, "top", role="stream", head=head))
        self.parts.append(part)
        self.top = part
        return part

    def module(self, name: str, text: str, role: str, lesson: str) -> Part:
        """A module on the stream itself."""
        self.y -= HIGH + 14
        shape = self.shapes.get(name, "")
        y = self.y + 14 + HIGH / 2
        return self.climb(Box(name, self.x, y, 190, HIGH, text, role, shape, lesson, mixes=False))

    def norm(self, name: str) -> Part:
        """A norm on the stream: post-norm, or the one that ends a stack."""
        self.y -= 32
        return self.climb(Box(name, self.x, self.y + 19, 72, 26, "norm", "norm"))

    def added(self, name: str, text: str, lesson: str) -> Part:
        """A module whose codes are added to the stream without reading it."""
        self.y -= 40
        left = self.x - BESIDE - WIDE / 2
        shape = self.shapes.get(name, "")
        box = Box(name, left, self.y + 14, WIDE, HIGH, text, "embedding", shape, lesson, False)
        self.parts.append(box)
        add = self.climb(operation(f"{name}.add", self.x, self.y + 14, "+"))
        self.parts.append(straight(box, add, "right"))
        return box

    def sublayer(self, layer: nn.Module, prefix: str, name: str, norm: str) -> Box:
        """A sublayer beside the stream, with its residual connection and its norm."""
        lesson, role, ports = SUBLAYERS[name]
        full, norm_name = inside(prefix, name), inside(prefix, norm, "norm")
        here = self.climb(fork(f"{full}.in", self.x, self.y - 14))
        middle = self.x - BESIDE - WIDE / 2, self.y - 28
        causal = " causal" if name == "self_attn" and hasattr(layer, "cross_attn") else ""
        box = Box(
            *(full, *middle, WIDE, HIGH, name, role, f"{self.shapes.get(full, '')}{causal}"),
            *("12" if causal else lesson, role == "attention", ports),
        )
        first = getattr(layer, norm).norm_first
        self.read(here, box, norm_name if first else "")
        self.parts.append(box)
        add = self.climb(operation(f"{full}.add", self.x, self.y - 42, "+"))
        self.parts.append(straight(box, add, "right"))
        self.y -= 66
        if not first:
            self.norm(norm_name)
        return box

    def boxes(self, name: str) -> list[Box]:
        """The sublayers of this name, from the lowest to the highest layer."""
        boxes = (part for part in self.parts if isinstance(part, Box))
        return [box for box in boxes if box.name.split(".")[-1] == name]

    def read(self, here: Part, box: Box, norm: str) -> None:
        """The line from the stream to a box, with the norm on it where it comes first."""
        last = here
        if norm:
            last = Box(norm, self.x - BESIDE / 2 + 4, here.y, 58, 24, "norm", "norm")
            self.parts += [straight(here, last, "left", head=False), last]
        own = [(role, shift) for role, side, shift in box.ports if side == "right"]
        if len(own) < 2:
            role = own[0][0] if own else "flow"
            self.parts.append(straight(last, box, "left", head=not own, role=role))
            return
        split = fork(f"{box.name}.split", box.on("right")[0] + 18, here.y)
        self.parts += [straight(last, split, "left", head=False), split]
        for role, shift in own:
            x, y = box.on("right", shift)
            if abs(y - split.y) <= 4:
                way = split.on("left", y - split.y), (x, y)
            else:
                way = split.on("top" if y < split.y else "bottom"), (split.x, y), (x, y)
            line = arrow(split, box, *way, head=False, role=role)
            self.parts.append(replace(line, name=f"{split.name}.{role}>{box.name}"))
