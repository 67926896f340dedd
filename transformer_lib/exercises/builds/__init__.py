"""The builds whose answer is a class, and the warm-ups in front of them."""

from transformer_lib.exercises.builds.block import Block, block_for_one
from transformer_lib.exercises.builds.decoder_layer import DecoderLayer, decoder_layer_for_one
from transformer_lib.exercises.builds.encoder_layer import EncoderLayer, encoder_layer_for_one
from transformer_lib.exercises.builds.grouped_attention import GroupedAttention
from transformer_lib.exercises.builds.multi_head import (
    MultiHeadAttention,
    multi_head_attention_for_one,
)
from transformer_lib.exercises.builds.swiglu import SwiGLU
from transformer_lib.exercises.builds.whole import (
    Decoder,
    Encoder,
    Transformer,
    transformer_for_one,
)

__all__ = [
    "Block",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "GroupedAttention",
    "MultiHeadAttention",
    "SwiGLU",
    "Transformer",
    "block_for_one",
    "decoder_layer_for_one",
    "encoder_layer_for_one",
    "multi_head_attention_for_one",
    "transformer_for_one",
]
