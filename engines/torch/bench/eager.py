"""PyTorch's eager speed on the model of a training folder: what `stampmill-torch bench` is held against.

usage: eager.py FOLDER [--batch 64] [--length 1024] [--steps 20] [--samples 1024] [--sampled 256]
Needs torch and transformers. Same rectangles of random ids, bf16 autocast, fused AdamW; sampling with a static
key/value cache, by eager calls and (where that works) by a CUDA graph of one step.
"""
import argparse, json, time
import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

parser = argparse.ArgumentParser()
parser.add_argument("folder")
for name, value in dict(batch=64, length=1024, steps=20, samples=1024, sampled=256).items():
    parser.add_argument(f"--{name}", type=int, default=value)
a = parser.parse_args()
device = "cuda" if torch.cuda.is_available() else "cpu"
wait = torch.cuda.synchronize if device == "cuda" else lambda: None
config = LlamaConfig.from_pretrained(a.folder, attn_implementation="sdpa")
model = LlamaForCausalLM(config).to(device)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, fused=device == "cuda")
ids = lambda rows, length: torch.randint(config.vocab_size, (rows, length), device=device)
for step in range(a.steps + 5):
    if step == 5:
        wait(); began = time.time()
    with torch.autocast(device, torch.bfloat16):
        logits = model(ids(a.batch, a.length), use_cache=False).logits
    loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), ids(a.batch, a.length).flatten())
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step(); optimiser.zero_grad(set_to_none=True)
wait()
result = {"device": device, "training_tokens_per_second": a.batch * a.length * a.steps / (time.time() - began)}
model = model.eval().to(torch.bfloat16 if device == "cuda" else torch.float32)
with torch.no_grad():
    cache = StaticCache(config=config, max_cache_len=a.sampled)
    token, place = ids(a.samples, 1), torch.zeros(1, dtype=torch.long, device=device)

    def step():
        logits = model(token, past_key_values=cache, cache_position=place, position_ids=place[None], use_cache=True).logits[:, -1].float()
        token.copy_((logits - torch.empty_like(logits).exponential_().log()).argmax(-1, keepdim=True))
        place.add_(1)

    for at in range(a.sampled):
        if at == 8:
            wait(); began = time.time()
        step()
    wait()
    result["sampling_tokens_per_second"] = (a.sampled - 8) * a.samples / (time.time() - began)
    if device == "cuda":
        try:
            cache.reset(); place.zero_()
            for _ in range(3):
                step()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                step()
            wait(); began = time.time()
            for _ in range(a.sampled - 8):
                graph.replay()
            wait()
            result["sampling_tokens_per_second_cuda_graph"] = (a.sampled - 8) * a.samples / (time.time() - began)
        except Exception as error:
            result["cuda_graph"] = str(error)[:200]
print(json.dumps(result))
