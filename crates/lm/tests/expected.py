"""What Hugging Face's transformers computes, for `torch.rs` to hold our engines against.

usage: expected.py OURS KERNEL OUT
OUT/ours.safetensors      tokens, the logits of the checkpoint OURS, and the ids its tokenizer gives the text in KERNEL
OUT/NAME/                 random Llama checkpoints, as `save_pretrained` writes them, with expected.safetensors beside
"""
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

ours, kernel, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
torch.manual_seed(1)


def expected(model, tokens):
    with torch.no_grad():
        return {"tokens": tokens, "logits": model(tokens).logits.contiguous()}


model = LlamaForCausalLM.from_pretrained(ours, dtype=torch.float32).eval()
tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{ours}/tokenizer.json")
ids = torch.tensor([tokenizer(kernel.read_text()).input_ids])
save_file({"ids": ids} | expected(model, ids[:, :256].clone()), out / "ours.safetensors")

small = dict(vocab_size=97, hidden_size=48, intermediate_size=80, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=128, initializer_range=0.15, tie_word_embeddings=False)
rope = dict(rope_type="default", rope_theta=10000.0)
kinds = {
    "grouped": {"rope_parameters": rope | {"rope_theta": 500000.0}},
    "tied": {"tie_word_embeddings": True, "num_key_value_heads": 4},
    "linear": {"rope_parameters": rope | {"rope_type": "linear", "factor": 4.0}},
    "llama3": {"rope_parameters": rope | {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                          "original_max_position_embeddings": 32}},
    "wide": {"head_dim": 16},
    "sharded": {},
}
for name, changes in kinds.items():
    model = LlamaForCausalLM(LlamaConfig(**(small | changes))).eval()
    model.save_pretrained(out / name, max_shard_size="50KB" if name == "sharded" else "1GB")
    tokens = torch.randint(small["vocab_size"], (1, 100))
    save_file(expected(model, tokens), out / name / "expected.safetensors")
