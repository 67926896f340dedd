"""Schematic drawings: one vocabulary, one layout that grows from lesson 01 to lesson 13.

A function for each drawing gives a `Scene`, which is data. `Drawing(scene)` shows it as a picture,
`stepped(scene)` as a chart with a slider, `to_json(scene)` writes it for other pages.
"""

from transformer_lib.drawings.architectures import decoder_layer, encoder_layer, transformer
from transformer_lib.drawings.heads import multi_head_attention, reshapes, sum_of_heads
from transformer_lib.drawings.lookups import pooling, scaled_attention, scoring, soft_lookup
from transformer_lib.drawings.render import Drawing, stepped, svg, to_json
from transformer_lib.drawings.scene import Scene, Step, beside

__all__ = [
    "Drawing",
    "Scene",
    "Step",
    "beside",
    "decoder_layer",
    "encoder_layer",
    "multi_head_attention",
    "pooling",
    "reshapes",
    "scaled_attention",
    "scoring",
    "soft_lookup",
    "stepped",
    "sum_of_heads",
    "svg",
    "to_json",
    "transformer",
]
