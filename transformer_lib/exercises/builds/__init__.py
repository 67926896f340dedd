"""The builds whose answer is a class, and the warm-ups in front of them."""

from transformer_lib.exercises.builds.decoder_layer import DecoderLayer, decoder_layer_for_one
from transformer_lib.exercises.builds.encoder_layer import EncoderLayer, encoder_layer_for_one
from transformer_lib.exercises.builds.multi_head import (
    MultiHeadAttention,
    multi_head_attention_for_one,
)
from transformer_lib.exercises.builds.rotary_block import RotaryBlock, rotary_block_for_one
from transformer_lib.exercises.builds.whole import (
    Decoder,
    Encoder,
    Transformer,
    transformer_for_one,
)

__all__ = [
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "MultiHeadAttention",
    "RotaryBlock",
    "Transformer",
    "decoder_layer_for_one",
    "encoder_layer_for_one",
    "multi_head_attention_for_one",
    "rotary_block_for_one",
    "transformer_for_one",
]
