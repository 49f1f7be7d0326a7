"""Builds a Gemma 3 of two layers with random weights, and saves it as a checkpoint that a local backend loads.

Only the sizes are small: the model, the processor, the tokenizer and the files are those of a published checkpoint, so
that nothing of the path from a folder to a reply is replaced.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import Gemma3ForConditionalGeneration, Gemma3Processor, GemmaTokenizer

PICTURE_SIDE, PATCH, PICTURE_TOKENS = 32, 8, 4  # 16 patches, pooled to 4 tokens of the text model
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "<start_of_turn>{{ 'model' if message['role'] == 'assistant' else message['role'] }}\n"
    "{% for part in message['content'] %}"
    "{{ '<start_of_image>' if part['type'] == 'image' else part['text'] }}"
    "{% endfor %}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
SPECIAL = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")
TURNS = ("<start_of_turn>", "<end_of_turn>")
PICTURES = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}


def save(folder: Path, seed: int = 0) -> Path:
    """Save model and processor (under 1 MB); the same seed gives the same weights.

    Args:
        folder: Where to; made when absent.
        seed: Of the weights.

    Returns:
        The folder, for ``pretrained=``.
    """
    processor = _processor()
    processor.save_pretrained(folder)
    _model(processor.tokenizer, seed).save_pretrained(folder)
    return folder


def _processor() -> Gemma3Processor:
    from transformers import Gemma3Processor, GemmaTokenizer
    from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil

    # Printable ASCII, a character a token, so that a random reply is text; anything else in a prompt is unknown to it.
    pieces = [*SPECIAL, *TURNS, *PICTURES.values(), "▁", "\n", *map(chr, range(33, 127))]
    tokenizer = GemmaTokenizer(
        vocab={piece: index for index, piece in enumerate(pieces)},
        additional_special_tokens=list(TURNS),
        extra_special_tokens=PICTURES,
    )
    pictures = Gemma3ImageProcessorPil(size={"height": PICTURE_SIDE, "width": PICTURE_SIDE})
    return Gemma3Processor(pictures, tokenizer, chat_template=CHAT_TEMPLATE, image_seq_length=PICTURE_TOKENS)


def _model(tokenizer: GemmaTokenizer, seed: int) -> Gemma3ForConditionalGeneration:
    import torch
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration

    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "layer_types": ["sliding_attention", "full_attention"],
        "sliding_window": 512,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "query_pre_attn_scalar": 16,
    }
    vision = {
        "model_type": "siglip_vision_model",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": PICTURE_SIDE,
        "patch_size": PATCH,
        "vision_use_head": False,
    }
    config = Gemma3Config(
        text_config=text,
        vision_config=vision,
        mm_tokens_per_image=PICTURE_TOKENS,
        boi_token_index=tokenizer.convert_tokens_to_ids(PICTURES["boi_token"]),
        eoi_token_index=tokenizer.convert_tokens_to_ids(PICTURES["eoi_token"]),
        image_token_index=tokenizer.convert_tokens_to_ids(PICTURES["image_token"]),
        tie_word_embeddings=False,  # tied, it would repeat the last token of every prompt
    )
    torch.manual_seed(seed)
    return Gemma3ForConditionalGeneration(config)
