"""Two small valid vocabularies for tiny models: SentencePiece (BPE with byte fallback) and
byte-level BPE, in the forms that GGUF files and Hugging Face folders have."""
import json
import struct

SPACE = "\u2581"
_LETTERS = [SPACE] + [chr(c) for c in range(ord("a"), ord("z") + 1)]
_PIECES = [SPACE + "t", "he", "in", "er", "an", SPACE + "the", SPACE + "a", "on"]
SPM_TOKENS = (["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + _PIECES + _LETTERS)
# SentencePiece's kinds, also GGUF's: 1 normal, 2 unknown, 3 control, 6 byte.
SPM_TYPES = [2, 3, 3] + [6] * 256 + [1] * (len(_PIECES) + len(_LETTERS))
SPM_SCORES = [0.0] * 259 + [-float(i) for i in range(len(_PIECES) + len(_LETTERS))]


def byte_symbols():
    """GPT-2's bytes_to_unicode: printable bytes stand for themselves, the rest from U+0100 on."""
    kept = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    others = [b for b in range(256) if b not in kept]
    return [chr(b) if b in kept else chr(256 + others.index(b)) for b in range(256)]


MERGES = ["\u0120 t", "h e", "i n", "e r", "\u0120t he", "a n", "\u0120 a", "o n"]
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
BPE_TOKENS = byte_symbols() + [m.replace(" ", "") for m in MERGES] + SPECIALS


def _varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def _number(field, n):
    return _varint(field << 3) + _varint(n)


def _bytes(field, b):
    return _varint(field << 3 | 2) + _varint(len(b)) + b


def sentencepiece_model():
    """A ModelProto (sentencepiece_model.proto): pieces, trainer_spec, normalizer_spec."""
    out = b""
    for token, score, kind in zip(SPM_TOKENS, SPM_SCORES, SPM_TYPES):
        piece = _bytes(1, token.encode()) + _varint(2 << 3 | 5) + struct.pack("<f", score)
        out += _bytes(1, piece + _number(3, kind))
    # model_type BPE, vocab_size, byte_fallback, unk_id, bos_id, eos_id
    trainer = (_number(3, 2) + _number(4, len(SPM_TOKENS)) + _number(35, 1) + _number(40, 0) +
               _number(41, 1) + _number(42, 2))
    # name, add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces
    normalizer = _bytes(1, b"identity") + _number(3, 1) + _number(4, 0) + _number(5, 1)
    return out + _bytes(2, trainer) + _bytes(3, normalizer)


def tokenizer_json():
    pattern = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+"
               r"[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False,
                  "use_regex": False}
    first = len(BPE_TOKENS) - len(SPECIALS)
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [
            {"id": first + i, "content": s, "single_word": False, "lstrip": False, "rstrip": False,
             "normalized": False, "special": True} for i, s in enumerate(SPECIALS)],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
             "invert": False}, byte_level]},
        "post_processor": byte_level, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None,
                  "continuing_subword_prefix": "", "end_of_word_suffix": "", "fuse_unk": False,
                  "byte_fallback": False, "vocab": {t: i for i, t in enumerate(BPE_TOKENS[:first])},
                  "merges": MERGES}}, ensure_ascii=True)
