"""A plain float64 forward pass of the decoder models that adjudge reads. numpy only.

The definitions are those of Hugging Face transformers (4.5x), named beside each formula; rotary
pairs are half-split as there, whatever the file's layout. Nothing here is fast.
"""
import dataclasses
import math
import typing

import numpy as np


@dataclasses.dataclass
class Config:
    arch: str = "llama"
    dim: int = 32
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: int = 2
    head_dim: int = 8
    hidden: int = 48
    rows: int = 0  # of the output matrix; 0 = the tokenizer's size
    context: int = 256
    base: float = 10000.0
    eps: float = 2e-3  # large, so that a wrong one is seen
    tied: bool = False
    rope_scaling: typing.Optional[dict] = None  # as in config.json
    window: int = 0  # mistral: all layers; gemma3: five of six
    local_base: float = 10000.0  # gemma3
    query_scalar: float = 0.0  # gemma3: query_pre_attn_scalar; 0 = head_dim


def inverse_frequencies(c, base, scaling):
    """(inverse frequencies [head_dim / 2], factor of cos and sin). modeling_rope_utils.py."""
    half = np.arange(0, c.head_dim, 2) / c.head_dim
    inverse = 1.0 / base**half
    kind = (scaling or {}).get("rope_type", (scaling or {}).get("type", "default"))
    if kind == "default":  # _compute_default_rope_parameters
        return inverse, 1.0
    factor = scaling["factor"]
    if kind == "linear":  # _compute_linear_scaling_rope_parameters
        return inverse / factor, 1.0
    original = scaling["original_max_position_embeddings"]
    if kind == "llama3":  # _compute_llama3_parameters
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        length = 2 * math.pi / inverse
        smooth = (original / length - low) / (high - low)
        blended = (1 - smooth) * inverse / factor + smooth * inverse
        out = np.where(length > original / low, inverse / factor, inverse)
        medium = ~(length < original / high) & ~(length > original / low)
        return np.where(medium, blended, out), 1.0
    assert kind == "yarn", kind  # _compute_yarn_parameters
    attention = scaling.get("attention_factor")
    if attention is None:  # get_mscale
        attention = 0.1 * math.log(factor) + 1.0 if factor > 1 else 1.0

    def correction_dim(rotations):
        return (c.head_dim * math.log(original / (rotations * 2 * math.pi))) / (2 * math.log(base))

    low = max(math.floor(correction_dim(scaling.get("beta_fast", 32))), 0)
    high = min(math.ceil(correction_dim(scaling.get("beta_slow", 1))), c.head_dim - 1)
    if low == high:
        high += 0.001
    ramp = np.clip((np.arange(c.head_dim // 2) - low) / (high - low), 0, 1)
    return inverse / factor * ramp + inverse * (1 - ramp), attention


def windowed(c, layer):
    if c.arch == "gemma3":  # Gemma3TextConfig: layer_types from sliding_window_pattern = 6
        return (layer + 1) % 6 != 0
    return c.window > 0


def rms_norm(x, gain, eps):  # LlamaRMSNorm; Gemma3RMSNorm with gain = 1 + weight
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * gain


def rotate(x, cos, sin):  # apply_rotary_pos_emb: halves, x: [n, heads, head_dim]
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos[:, None] - b * sin[:, None], b * cos[:, None] + a * sin[:, None]],
                          axis=-1)


def attention(c, layer, q, k, v):
    n = q.shape[0]
    scale = (c.query_scalar or c.head_dim) ** -0.5
    i = np.arange(n)
    visible = i[None, :] <= i[:, None]
    if windowed(c, layer):  # masking_utils.sliding_window_overlay: kv > q - window
        visible &= i[None, :] > i[:, None] - c.window
    out = np.zeros((n, c.n_heads, c.head_dim))
    for h in range(c.n_heads):
        g = h // (c.n_heads // c.n_kv_heads)
        scores = np.where(visible, q[:, h] @ k[:, g].T * scale, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        out[:, h] = (e / e.sum(-1, keepdims=True)) @ v[:, g]
    return out.reshape(n, -1)


def activation(c, x):
    if c.arch == "gemma3":  # gelu_pytorch_tanh
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x / (1 + np.exp(-x))  # silu


def forward(c, weights, ids):
    """Logits [n, rows]. `weights`: GGUF's names, half-split rotary, norm gains as multiplied."""
    w = {name: values.astype(np.float64) for name, values in weights.items()}
    n = len(ids)
    gemma = c.arch == "gemma3"
    x = w["token_embd.weight"][ids] * (math.sqrt(c.dim) if gemma else 1.0)
    tables = {}
    for local in (False, True):
        # Gemma3TextModel: the windowed layers have their own base and no scaling.
        base, scaling = (c.local_base, None) if gemma and local else (c.base, c.rope_scaling)
        inverse, factor = inverse_frequencies(c, base, scaling)
        angles = np.arange(n)[:, None] * inverse[None]
        tables[local] = np.cos(angles) * factor, np.sin(angles) * factor
    for layer in range(c.n_layers):
        p = f"blk.{layer}."
        y = rms_norm(x, w[p + "attn_norm.weight"], c.eps)
        heads = {}
        for part, count in (("q", c.n_heads), ("k", c.n_kv_heads), ("v", c.n_kv_heads)):
            t = y @ w[p + f"attn_{part}.weight"].T + w.get(p + f"attn_{part}.bias", 0.0)
            t = t.reshape(n, count, c.head_dim)
            if part != "v":
                if p + f"attn_{part}_norm.weight" in w:
                    t = rms_norm(t, w[p + f"attn_{part}_norm.weight"], c.eps)
                t = rotate(t, *tables[windowed(c, layer)])
            heads[part] = t
        y = attention(c, layer, **heads) @ w[p + "attn_output.weight"].T
        if gemma:
            y = rms_norm(y, w[p + "post_attention_norm.weight"], c.eps)
        x = x + y
        y = rms_norm(x, w[p + "ffn_norm.weight"], c.eps)
        y = activation(c, y @ w[p + "ffn_gate.weight"].T) * (y @ w[p + "ffn_up.weight"].T)
        y = y @ w[p + "ffn_down.weight"].T
        if gemma:
            y = rms_norm(y, w[p + "post_ffw_norm.weight"], c.eps)
        x = x + y
    x = rms_norm(x, w["output_norm.weight"], c.eps)
    return x @ w.get("output.weight", w["token_embd.weight"]).T
