#!/usr/bin/env python3
"""Writes tiny random models of every architecture, byte by byte, and what they compute.

    python3 tests/testing/make_tiny_models.py [FOLDER]    (default: tests/golden/tiny)

Output: GGUF files, safetensors folders, and golden.json: a list of
  {file, covers, ids, argmax[n], gap[n], rows: {"position": [logits]}}
where gap is the distance between the best two logits. numpy only; the same bytes every time.
`--sensitivity` prints how far each golden moves when one part of the definition is got wrong: a
golden that a mistake does not move would test nothing.
"""
import dataclasses
import json
import os
import shutil
import struct
import sys

import numpy as np

import tiny_blocks
import tiny_tokenizers as tokenizers
from tiny_forward import Config, forward, inverse_frequencies, windowed

U32, I32, F32, BOOL, STR, ARR = 4, 5, 6, 7, 8, 9  # GGUF's value types
BYTE_LEVEL = ("qwen2", "qwen3")


# ------------------------------------------------------------------------------------ weights
class Weight:
    """Rows of bytes in a file's type, and the values they stand for. A vector is one row."""

    def __init__(self, kind, rows, shape):
        self.kind, self.rows, self.shape = kind, rows, shape

    def values(self):
        return tiny_blocks.dequantize(self.kind, self.rows).reshape(self.shape)


def vector(values, kind="F32"):
    """A vector; `kind` F16 or BF16 rounds it."""
    values = np.asarray(values, "<f4")
    if kind == "F16":
        values = values.astype("<f2")
    elif kind == "BF16":
        values = tiny_blocks.bf16_bits(values)
    return Weight(kind, values.view(np.uint8).reshape(1, -1), values.shape)


def make_weights(c, kinds, norm_kind, seed):
    """Random weights under GGUF's names; `kinds`: type of each matrix by the name's part."""
    rng = np.random.default_rng(seed)
    out = {}

    def matrix(name, part, rows, cols, gain=1.0):
        kind = kinds.get(part, kinds["*"])
        out[name] = Weight(kind, tiny_blocks.random_rows(rng, kind, rows, cols, gain / cols**0.5),
                           (rows, cols))

    def norm(name, n):
        out[name] = vector(1 + 0.25 * rng.standard_normal(n), norm_kind)

    matrix("token_embd.weight", "embd", c.rows, c.dim, c.dim**0.5 * 0.7)
    q_dim, kv_dim = c.n_heads * c.head_dim, c.n_kv_heads * c.head_dim
    for layer in range(c.n_layers):
        p = f"blk.{layer}."
        norm(p + "attn_norm.weight", c.dim)
        matrix(p + "attn_q.weight", "q", q_dim, c.dim, 1.4)
        matrix(p + "attn_k.weight", "k", kv_dim, c.dim, 1.4)
        matrix(p + "attn_v.weight", "v", kv_dim, c.dim)
        if c.arch == "qwen2":
            for part, n in (("q", q_dim), ("k", kv_dim), ("v", kv_dim)):
                out[p + f"attn_{part}.bias"] = vector(0.5 * rng.standard_normal(n), norm_kind)
        if c.arch in ("qwen3", "gemma3"):
            norm(p + "attn_q_norm.weight", c.head_dim)
            norm(p + "attn_k_norm.weight", c.head_dim)
        matrix(p + "attn_output.weight", "o", c.dim, q_dim)
        if c.arch == "gemma3":
            norm(p + "post_attention_norm.weight", c.dim)
        norm(p + "ffn_norm.weight", c.dim)
        matrix(p + "ffn_gate.weight", "gate", c.hidden, c.dim)
        matrix(p + "ffn_up.weight", "up", c.hidden, c.dim)
        matrix(p + "ffn_down.weight", "down", c.dim, c.hidden)
        if c.arch == "gemma3":
            norm(p + "post_ffw_norm.weight", c.dim)
    norm("output_norm.weight", c.dim)
    if not c.tied:
        matrix("output.weight", "output", c.rows, c.dim)
    return out


def plus_one(c, weights):
    """gemma3: what the safetensors file stores is w, and the gain is 1 + w (Gemma3RMSNorm)."""
    if c.arch != "gemma3":
        return weights
    out = {}
    for name, weight in weights.items():
        if name.endswith("norm.weight"):
            out[name] = vector(weight.values() - np.float32(1), weight.kind)
        else:
            out[name] = weight
    return out


# --------------------------------------------------------------------------------------- GGUF
def _text(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


_FORMATS = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}


def _value(kind, v):
    if kind == STR:
        return _text(v)
    if kind == ARR:
        element, values = v
        return struct.pack("<IQ", element, len(values)) + b"".join(_value(element, x) for x in values)
    return struct.pack(_FORMATS[kind], v)


def gguf_metadata(c, name):
    arch = {"mistral": "llama"}.get(c.arch, c.arch)
    meta = [("general.architecture", STR, arch), ("general.name", STR, name)]

    def add(key, kind, v):
        meta.append((f"{arch}.{key}", kind, v))

    add("context_length", U32, c.context)
    add("embedding_length", U32, c.dim)
    add("block_count", U32, c.n_layers)
    add("feed_forward_length", U32, c.hidden)
    add("attention.head_count", U32, c.n_heads)
    add("attention.head_count_kv", U32, c.n_kv_heads)
    add("attention.layer_norm_rms_epsilon", F32, c.eps)
    add("rope.freq_base", F32, c.base)
    if arch == "llama":
        add("rope.dimension_count", U32, c.head_dim)
        add("vocab_size", U32, c.rows)
    if c.head_dim * c.n_heads != c.dim:
        add("attention.key_length", U32, c.head_dim)
        add("attention.value_length", U32, c.head_dim)
    if arch == "gemma3":
        add("attention.sliding_window", U32, c.window)
    s = c.rope_scaling
    if s and s["rope_type"] in ("linear", "yarn"):
        add("rope.scaling.type", STR, s["rope_type"])
        add("rope.scaling.factor", F32, s["factor"])
    if s and s["rope_type"] == "yarn":
        add("rope.scaling.original_context_length", U32, s["original_max_position_embeddings"])
    return meta + gguf_tokenizer(c)


def gguf_tokenizer(c):
    if c.arch in BYTE_LEVEL:
        tokens = list(tokenizers.BPE_TOKENS)
        n_special = len(tokenizers.SPECIALS)
        types = [1] * (len(tokens) - n_special) + [3] * n_special
        end = len(tokens) - n_special
        # Rows past the tokenizer's ids are named and marked unused (5), as converters do.
        types += [5] * (c.rows - len(tokens))
        tokens += [f"[PAD{i}]" for i in range(len(tokens), c.rows)]
        return [("tokenizer.ggml.model", STR, "gpt2"), ("tokenizer.ggml.pre", STR, "qwen2"),
                ("tokenizer.ggml.tokens", ARR, (STR, tokens)),
                ("tokenizer.ggml.token_type", ARR, (I32, types)),
                ("tokenizer.ggml.merges", ARR, (STR, tokenizers.MERGES)),
                ("tokenizer.ggml.eos_token_id", U32, end + 2),
                ("tokenizer.ggml.padding_token_id", U32, end),
                ("tokenizer.ggml.add_bos_token", BOOL, False)]
    return [("tokenizer.ggml.model", STR, "llama"), ("tokenizer.ggml.pre", STR, "default"),
            ("tokenizer.ggml.tokens", ARR, (STR, tokenizers.SPM_TOKENS)),
            ("tokenizer.ggml.scores", ARR, (F32, tokenizers.SPM_SCORES)),
            ("tokenizer.ggml.token_type", ARR, (I32, tokenizers.SPM_TYPES)),
            ("tokenizer.ggml.bos_token_id", U32, 1), ("tokenizer.ggml.eos_token_id", U32, 2),
            ("tokenizer.ggml.unknown_token_id", U32, 0),
            ("tokenizer.ggml.add_bos_token", BOOL, True)]


def interleave(weight, n_heads):
    """Rows of q or k from half-split to neighbouring pairs: what GGUF's llama files hold (the
    permutation of LlamaModel.permute in convert_hf_to_gguf.py)."""
    rows = weight.rows
    heads = rows.reshape(n_heads, 2, rows.shape[0] // n_heads // 2, -1)
    return Weight(weight.kind, heads.swapaxes(1, 2).reshape(rows.shape), weight.shape)


def write_gguf(path, c, weights):
    tensors = dict(weights)
    if c.arch in ("llama", "mistral"):
        for name in weights:
            if name.endswith("attn_q.weight"):
                tensors[name] = interleave(weights[name], c.n_heads)
            elif name.endswith("attn_k.weight"):
                tensors[name] = interleave(weights[name], c.n_kv_heads)
    if c.rope_scaling and c.rope_scaling["rope_type"] == "llama3":
        plain, _ = inverse_frequencies(c, c.base, None)
        scaled, _ = inverse_frequencies(c, c.base, c.rope_scaling)
        tensors["rope_freqs.weight"] = vector(plain / scaled)
    meta = gguf_metadata(c, os.path.basename(path))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(meta))
    for key, kind, v in meta:
        head += _text(key) + struct.pack("<I", kind) + _value(kind, v)
    data = b""
    for name, weight in tensors.items():
        dims = list(reversed(weight.shape))
        head += _text(name) + struct.pack("<I", len(dims))
        head += b"".join(struct.pack("<Q", d) for d in dims)
        head += struct.pack("<IQ", tiny_blocks.TYPES[weight.kind][0], len(data))
        data += weight.rows.tobytes()
        data += b"\0" * (-len(data) % 32)
    head += b"\0" * (-len(head) % 32)
    with open(path, "wb") as f:
        f.write(head + data)


# -------------------------------------------------------------------------------- safetensors
_HF_CLASS = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM",
             "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM",
             "gemma3": "Gemma3ForCausalLM"}
_HF_PARTS = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj",
             "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
             "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm",
             "attn_k_norm": "self_attn.k_norm", "ffn_norm": "post_attention_layernorm",
             "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
_HF_PARTS_GEMMA = {"post_attention_norm": "post_attention_layernorm",
                   "ffn_norm": "pre_feedforward_layernorm",
                   "post_ffw_norm": "post_feedforward_layernorm"}


def hf_name(c, name):
    top = {"token_embd.weight": "model.embed_tokens.weight",
           "output_norm.weight": "model.norm.weight", "output.weight": "lm_head.weight"}
    if name in top:
        return top[name]
    _, layer, part, end = name.split(".")
    parts = dict(_HF_PARTS, **(_HF_PARTS_GEMMA if c.arch == "gemma3" else {}))
    return f"model.layers.{layer}.{parts[part]}.{end}"


def hf_config(c, dtype):
    config = {
        "architectures": [_HF_CLASS[c.arch]],
        "model_type": "gemma3_text" if c.arch == "gemma3" else c.arch,
        "hidden_size": c.dim, "intermediate_size": c.hidden, "num_hidden_layers": c.n_layers,
        "num_attention_heads": c.n_heads, "num_key_value_heads": c.n_kv_heads,
        "vocab_size": c.rows, "max_position_embeddings": c.context, "rope_theta": c.base,
        "rms_norm_eps": c.eps, "tie_word_embeddings": c.tied, "torch_dtype": dtype,
        "attention_dropout": 0.0, "initializer_range": 0.02, "use_cache": True,
        "rope_scaling": c.rope_scaling, "bos_token_id": 1, "eos_token_id": 2}
    if c.arch == "gemma3":
        config.update(hidden_activation="gelu_pytorch_tanh", sliding_window=c.window,
                      sliding_window_pattern=6, rope_local_base_freq=c.local_base,
                      query_pre_attn_scalar=c.query_scalar or c.head_dim,
                      attn_logit_softcapping=None, final_logit_softcapping=None,
                      attention_bias=False)
    else:
        config["hidden_act"] = "silu"
    if c.arch in ("gemma3", "qwen3") or c.head_dim * c.n_heads != c.dim:
        config["head_dim"] = c.head_dim
    if c.arch == "mistral":
        config["sliding_window"] = c.window or None
    if c.arch in BYTE_LEVEL:
        # Real qwen files name a window that is not in use.
        end = len(tokenizers.BPE_TOKENS) - len(tokenizers.SPECIALS)
        config.update(use_sliding_window=False, sliding_window=4, max_window_layers=1,
                      bos_token_id=end, eos_token_id=end + 2)
    if c.arch == "qwen3":
        config["attention_bias"] = False
    if c.arch == "llama":
        config.update(attention_bias=False, mlp_bias=False, pretraining_tp=1)
    return config


def safetensors_bytes(tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, weight in tensors.items():
        b = weight.rows.tobytes()
        header[name] = {"dtype": weight.kind, "shape": list(weight.shape),
                        "data_offsets": [len(data), len(data) + len(b)]}
        data += b
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write_safetensors(folder, c, weights, shards):
    os.makedirs(folder)
    tensors = {hf_name(c, name): weight for name, weight in weights.items()}

    def write(name, content):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    if shards == 1:
        write("model.safetensors", safetensors_bytes(tensors))
    else:
        names, where = list(tensors), {}
        for s in range(shards):
            file = f"model-{s + 1:05d}-of-{shards:05d}.safetensors"
            part = names[len(names) * s // shards:len(names) * (s + 1) // shards]
            where.update({name: file for name in part})
            write(file, safetensors_bytes({name: tensors[name] for name in part}))
        size = sum(w.rows.size for w in tensors.values())
        write("model.safetensors.index.json",
              json.dumps({"metadata": {"total_size": size}, "weight_map": where}, indent=1))
    dtype = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}
    kind = weights["token_embd.weight"].kind
    write("config.json", json.dumps(hf_config(c, dtype[kind]), indent=1))
    if c.arch in BYTE_LEVEL:
        write("tokenizer.json", tokenizers.tokenizer_json())
        special = {"bos_token": None, "eos_token": "<|im_end|>", "add_bos_token": False,
                   "tokenizer_class": "Qwen2Tokenizer"}
    else:
        write("tokenizer.model", tokenizers.sentencepiece_model())
        special = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
                   "add_bos_token": True, "add_eos_token": False,
                   "tokenizer_class": "LlamaTokenizer"}
    write("tokenizer_config.json", json.dumps(special, indent=1))


# ----------------------------------------------------------------------------------- the list
@dataclasses.dataclass
class Model:
    file: str  # *.gguf, or a folder of safetensors
    covers: str
    config: Config
    kinds: dict
    n_ids: int = 24
    shards: int = 1


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 128}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
YARN_SET = dict(YARN, attention_factor=1.3, beta_fast=1.5, beta_slow=0.25)
SMALL = Config(dim=24, n_heads=3, n_kv_heads=1, hidden=32)
ROPED = Config(dim=32, n_heads=2, n_kv_heads=1, head_dim=16, hidden=32, tied=True)
GEMMA = Config(arch="gemma3", dim=24, n_layers=7, n_heads=2, n_kv_heads=1, head_dim=16, hidden=32,
               base=1000000.0, eps=2e-3, tied=True, window=6)
QWEN2 = Config(arch="qwen2", hidden=40, base=1000000.0, eps=2e-3, rows=272)
QWEN3 = Config(arch="qwen3", hidden=40, head_dim=16, base=1000000.0, eps=2e-3, tied=True)
MISTRAL = Config(arch="mistral", window=6, tied=True)
WIDE = Config(dim=256, n_layers=1, n_heads=4, n_kv_heads=1, head_dim=32, hidden=256, tied=True)


def but(config, **changes):
    return dataclasses.replace(config, **changes)


def models():
    f16, bf16, f32 = {"*": "F16"}, {"*": "BF16"}, {"*": "F32"}
    legacy = {"*": "Q8_0", "q": "Q4_0", "k": "Q4_1", "v": "Q5_0", "o": "Q5_1", "up": "BF16",
              "down": "F16", "embd": "Q4_1", "output": "Q5_1"}
    k1 = {"*": "Q2_K", "q": "Q3_K", "k": "Q4_K", "v": "Q6_K", "o": "Q4_0", "gate": "Q3_K"}
    k2 = {"*": "Q2_K", "q": "Q6_K", "k": "Q5_K", "v": "Q4_K", "o": "Q5_0", "down": "Q3_K"}
    return [
        Model("llama-f32.gguf", "interleaved pairs, own output, 3 heads on 1", SMALL, f32),
        Model("llama-f16-wide-heads.gguf", "tied, head_dim * heads != dim",
              Config(head_dim=16, tied=True), f16),
        Model("llama-bf16.gguf", "as many key heads as heads", Config(n_kv_heads=4, tied=True), bf16),
        Model("llama-legacy-blocks.gguf", "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 F16 BF16 in one file",
              Config(dim=64, head_dim=16, hidden=96), legacy),
        Model("llama-k-quants-1.gguf", "Q2_K Q3_K Q4_K Q6_K", WIDE, k1),
        Model("llama-k-quants-2.gguf", "Q2_K Q3_K Q4_K Q5_K Q6_K", WIDE, k2),
        Model("llama-linear.gguf", "linear scaling",
              but(ROPED, rope_scaling={"rope_type": "linear", "factor": 4.0}), f16),
        Model("llama-rope-freqs.gguf", "llama3 scaling as rope_freqs.weight",
              but(ROPED, rope_scaling=LLAMA3, base=500.0), f16, 40),
        Model("llama-yarn.gguf", "yarn with its defaults, past the original context",
              but(ROPED, rope_scaling=YARN), f16, 80),
        Model("qwen2-f16.gguf", "bias, own output, more rows than tokens", QWEN2, f16),
        Model("qwen2-q8_0.gguf", "bias, tied", but(QWEN2, hidden=64, tied=True), {"*": "Q8_0"}),
        Model("qwen3-f16.gguf", "norm on q and k", QWEN3, f16),
        Model("gemma3-f16.gguf", "windows on 5 of 6 layers, two bases, sandwich norms", GEMMA, f16, 40),
        Model("gemma3-q4_0-linear.gguf", "linear scaling on the full layers alone",
              but(GEMMA, dim=32, rope_scaling={"rope_type": "linear", "factor": 8.0}),
              {"*": "Q4_0", "embd": "Q8_0"}, 40),
        Model("llama-f32", "half-split pairs, own output, 3 heads on 1", SMALL, f32),
        Model("llama-bf16-sharded", "three shards", Config(tied=True), bf16, shards=3),
        Model("llama-linear", "linear scaling, named by the older key",
              but(ROPED, rope_scaling={"type": "linear", "factor": 4.0}), f16),
        Model("llama-llama3", "llama3 scaling by its keys",
              but(ROPED, rope_scaling=LLAMA3, base=500.0), f16, 40),
        Model("llama-yarn", "yarn with its defaults", but(ROPED, rope_scaling=YARN), bf16, 80),
        Model("llama-yarn-set", "yarn with attention_factor and betas given",
              but(ROPED, rope_scaling=YARN_SET), f16, 80),
        Model("mistral-f16", "sliding window of 6 on every layer", MISTRAL, f16, 40),
        Model("mistral-bf16-sharded", "head_dim given, no window",
              but(MISTRAL, head_dim=16, window=0), bf16, 40, 2),
        Model("qwen2-bf16", "bias, a window named but not in use", QWEN2, bf16),
        Model("qwen2-f16-sharded", "tied", but(QWEN2, tied=True), f16, shards=2),
        Model("qwen3-bf16", "norm on q and k", QWEN3, bf16),
        Model("qwen3-f16-sharded", "own output", but(QWEN3, tied=False), f16, shards=2),
        Model("gemma3-f16", "norms without their one; query_pre_attn_scalar is not head_dim",
              but(GEMMA, query_scalar=24.0, local_base=5000.0), f16, 40),
        Model("gemma3-bf16-sharded", "linear scaling on the full layers alone",
              but(GEMMA, rope_scaling={"rope_type": "linear", "factor": 8.0}), bf16, 40, 2),
    ]


def prepare(model, seed):
    """(config with its rows set, weights as stored, gains as multiplied, ids)."""
    n_tokens = len(tokenizers.BPE_TOKENS if model.config.arch in BYTE_LEVEL else tokenizers.SPM_TOKENS)
    c = but(model.config, rows=model.config.rows or n_tokens)
    in_folder = not model.file.endswith(".gguf")
    kind = model.kinds["*"] if in_folder else "F32"
    weights = make_weights(c, model.kinds, kind, seed)
    stored = plus_one(c, weights) if in_folder else weights
    values = {name: w.values() for name, w in stored.items()}
    if in_folder and c.arch == "gemma3":
        values = {name: v.astype(np.float64) + 1 if name.endswith("norm.weight") else v
                  for name, v in values.items()}
    ids = np.random.default_rng(seed + 1000).integers(3, n_tokens - 3, model.n_ids)
    ids[0] = 1
    return c, stored, values, ids.tolist()


def make(folder):
    golden = []
    for seed, model in enumerate(models()):
        c, stored, values, ids = prepare(model, seed)
        path = os.path.join(folder, model.file)
        if model.file.endswith(".gguf"):
            write_gguf(path, c, stored)
        else:
            write_safetensors(path, c, stored, model.shards)
        logits = forward(c, values, ids)
        best = np.sort(logits, axis=1)
        wanted = (len(ids) // 2, len(ids) - 1)
        golden.append({
            "file": model.file, "covers": model.covers, "ids": ids,
            "argmax": logits.argmax(1).tolist(),
            "gap": [round(float(g), 5) for g in best[:, -1] - best[:, -2]],
            "rows": {str(r): [round(float(x), 5) for x in logits[r]] for r in wanted}})
        print(f"{model.file}: {model.covers}; logits deviate by {logits.std():.2f}")
    lines = ",\n".join(json.dumps(g, separators=(",", ":")) for g in golden)
    with open(os.path.join(folder, "golden.json"), "w") as f:
        f.write("[\n" + lines + "\n]\n")


def sensitivity():
    """Each mistake that a reader may make, and how far it moves the last row's logits."""
    mistakes = {
        "eps 10 times": lambda c: but(c, eps=c.eps * 10),
        "base": lambda c: but(c, base=c.base * 1.01),
        "no rope scaling": lambda c: but(c, rope_scaling=None),
        "window one more": lambda c: but(c, window=c.window + 1) if c.window else c,
        "no window": lambda c: but(c, window=1 << 20) if c.window else c,
        "local base": lambda c: but(c, local_base=c.local_base * 1.01),
        "scale of scores": lambda c: but(c, query_scalar=(c.query_scalar or c.head_dim) * 1.05),
        "silu for gelu": lambda c: c,
    }
    if_scaled = {"attention_factor": 1.0, "beta_fast": 4.0, "beta_slow": 1.2, "factor": 4.5}
    for seed, model in enumerate(models()):
        c, _, values, ids = prepare(model, seed)
        right = forward(c, values, ids)
        moved = {}
        for name, mistake in mistakes.items():
            moved[name] = np.abs(forward(mistake(c), values, ids) - right)[-1].max()
        for key, v in if_scaled.items():
            if c.rope_scaling:
                wrong = but(c, rope_scaling=dict(c.rope_scaling, **{key: v}))
                moved[key] = np.abs(forward(wrong, values, ids) - right)[-1].max()
        print(model.file, {k: float(f"{v:.2g}") for k, v in moved.items() if v})


def main():
    if "--sensitivity" in sys.argv:
        sensitivity()
        return
    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../golden/tiny")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    make(folder)


if __name__ == "__main__":
    main()
