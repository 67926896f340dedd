"""Schematic drawings: one vocabulary, one layout that grows from lesson 01 to lesson 18.

A function for each drawing gives a `Scene`, which is data. `Drawing(scene)` shows it as a picture,
`stepped(scene)` as a chart with a slider, `to_json(scene)` writes it for other pages.
"""

from transformer_lib.show.drawings.asking import moving_window, query_before_or_after
from transformer_lib.show.drawings.broadcasting import broadcasting
from transformer_lib.show.drawings.calls import class_tree
from transformer_lib.show.drawings.decoding_steps import (
    bahdanau_step,
    cross_attention_step,
    luong_step,
    one_vector,
)
from transformer_lib.show.drawings.desk import desk
from transformer_lib.show.drawings.families import families
from transformer_lib.show.drawings.fetching import what_is_fetched
from transformer_lib.show.drawings.gated import gate
from transformer_lib.show.drawings.gates import gru_cell
from transformer_lib.show.drawings.guessing import accepted_and_redrawn, round_of_guesses
from transformer_lib.show.drawings.heads import multi_head_attention, reshapes, sum_of_heads
from transformer_lib.show.drawings.judging import sentence_to_score, shared_letters
from transformer_lib.show.drawings.layers import decoder_layer, encoder_layer, transformer
from transformer_lib.show.drawings.lookups import pooling, scaled_attention, scoring, soft_lookup
from transformer_lib.show.drawings.many_heads import five_steps, in_memory, round_table
from transformer_lib.show.drawings.masking import additive_path, mask_grids
from transformer_lib.show.drawings.processes import shared_update
from transformer_lib.show.drawings.render import (
    Drawing,
    frames,
    is_stepped,
    sheet,
    stepped,
    svg,
    to_json,
)
from transformer_lib.show.drawings.road import road_map
from transformer_lib.show.drawings.route import route
from transformer_lib.show.drawings.routing import router
from transformer_lib.show.drawings.scene import Scene, Step, beside
from transformer_lib.show.drawings.sequences import (
    added_positions,
    clock_hands,
    self_attention,
    three_layers,
)
from transformer_lib.show.drawings.sharing import bytes_kept, shared_keys
from transformer_lib.show.drawings.stream import looks_and_writes, norms_on_the_stream
from transformer_lib.show.drawings.today import today_beside_2017
from transformer_lib.show.drawings.training import faults, training_loop
from transformer_lib.show.drawings.turning import turned_arrows, two_layouts, word_beside_code
from transformer_lib.show.drawings.twice import asked_twice
from transformer_lib.show.drawings.two_lives import two_lives
from transformer_lib.show.drawings.waiting import what_waits
from transformer_lib.show.drawings.who_asks import circle_of_three, two_layers_ask
from transformer_lib.show.drawings.writing import beam_tree, growing_cache, search_tree

__all__ = [
    "Drawing",
    "Scene",
    "Step",
    "accepted_and_redrawn",
    "added_positions",
    "additive_path",
    "asked_twice",
    "bahdanau_step",
    "beam_tree",
    "beside",
    "broadcasting",
    "bytes_kept",
    "circle_of_three",
    "class_tree",
    "clock_hands",
    "cross_attention_step",
    "decoder_layer",
    "desk",
    "encoder_layer",
    "families",
    "faults",
    "five_steps",
    "frames",
    "gate",
    "growing_cache",
    "gru_cell",
    "in_memory",
    "is_stepped",
    "looks_and_writes",
    "luong_step",
    "mask_grids",
    "moving_window",
    "multi_head_attention",
    "norms_on_the_stream",
    "one_vector",
    "pooling",
    "query_before_or_after",
    "reshapes",
    "road_map",
    "round_of_guesses",
    "round_table",
    "route",
    "router",
    "scaled_attention",
    "scoring",
    "search_tree",
    "self_attention",
    "sentence_to_score",
    "shared_keys",
    "shared_letters",
    "shared_update",
    "sheet",
    "soft_lookup",
    "stepped",
    "sum_of_heads",
    "svg",
    "three_layers",
    "to_json",
    "today_beside_2017",
    "training_loop",
    "transformer",
    "turned_arrows",
    "two_layers_ask",
    "two_layouts",
    "two_lives",
    "what_is_fetched",
    "what_waits",
    "word_beside_code",
]
