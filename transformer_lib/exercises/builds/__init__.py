"""The builds whose answer is a class: multi-head attention, layers, the Transformer, a block."""

from transformer_lib.exercises.builds.decoder_layer import DecoderLayer
from transformer_lib.exercises.builds.encoder_layer import EncoderLayer
from transformer_lib.exercises.builds.multi_head import MultiHeadAttention
from transformer_lib.exercises.builds.rotary_block import RotaryBlock
from transformer_lib.exercises.builds.whole import Transformer

__all__ = ["DecoderLayer", "EncoderLayer", "MultiHeadAttention", "RotaryBlock", "Transformer"]
