"""The training engine beside what else one would train and draw with, in one run: tokens a second and their ratios.

usage: bench-training.py [--python PYTHON] [--engine stampmill-torch] [--device cuda|cpu] [--only 10M,30M,100M] [--out FILE]
                         [--batch 64] [--length 1024] [--steps 20] [--samples 1024] [--sampled 256]

PYTHON has torch and transformers (default: this one). Models of the Llama family with 10, 30 and 100 million weights and the
vocabulary of models/infill, rectangles of random ids, bf16 on a GPU, no dropout. Each row is a process of its own:
  ours      `python3 -m stampmill.trainer bench`: the step that `stampmill train` makes
  compile   `torch.compile` of transformers' LlamaForCausalLM under autocast, fused AdamW
  eager     the same without a compiler
  tch       `stampmill-torch bench`, where an engine is given and it trains
Drawing of tokens with a cache is timed on the smallest model: stampmill-torch, and transformers with a static cache, eager
and compiled, and both as a CUDA graph of one step. A figure is the median of three windows; the spread is (largest - smallest) / median.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Layers, width, inner width, heads, key and value heads.
SIZES = {"10M": (6, 384, 1024, 6, 2), "30M": (10, 512, 1408, 8, 2), "100M": (16, 768, 2048, 12, 4)}
WARM, WINDOWS = 8, 3


def windows(step, tokens, steps, wait):
    """Tokens a second of each window, and the seconds of what went before."""
    began, rates = time.monotonic(), []
    for _ in range(WARM):
        step()
    wait()
    warm = time.monotonic() - began
    for _ in range(WINDOWS):
        began = time.monotonic()
        for _ in range(steps):
            step()
        wait()
        rates.append(tokens * steps / (time.monotonic() - began))
    return rates, warm


def peer(folder, compiled, a):
    """Training with transformers as it is."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_float32_matmul_precision("high")
    cuda = a.device == "cuda"
    config = LlamaConfig.from_pretrained(folder, attn_implementation="sdpa")
    model = LlamaForCausalLM(config).to(a.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, fused=True)

    def loss_of(x, y):
        with torch.autocast(a.device, torch.bfloat16, enabled=cuda):
            logits = model(x, use_cache=False).logits
        return torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), y.flatten())

    if compiled:
        loss_of = torch.compile(loss_of, dynamic=False)
    for batch in (a.batch, a.batch // 2, a.batch // 4):
        ids = lambda: torch.randint(config.vocab_size, (batch, a.length), device=a.device)  # noqa: B023, E731

        def step():
            loss_of(ids(), ids()).backward()  # noqa: B023
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        try:
            rates, warm = windows(step, batch * a.length, a.steps, torch.cuda.synchronize if cuda else lambda: None)
        except torch.OutOfMemoryError:
            optimizer.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
            continue
        memory = torch.cuda.max_memory_allocated() / 2**30 if cuda else None
        return {"training_tokens_per_second": rates, "warm_up_seconds": warm, "memory_gib": memory, "batch": batch}
    return {}


def decoding(folder, a):
    """Drawing with transformers' static cache: one step eager and compiled, and each as a CUDA graph."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

    cuda = a.device == "cuda"
    wait = torch.cuda.synchronize if cuda else lambda: None
    config = LlamaConfig.from_pretrained(folder, attn_implementation="sdpa")
    model = LlamaForCausalLM(config).to(a.device, torch.bfloat16 if cuda else torch.float32).eval()
    found = {}
    for compiled in (False, True):
        net = torch.compile(model, dynamic=False) if compiled else model
        cache = StaticCache(config=config, max_cache_len=a.sampled)
        token = torch.randint(config.vocab_size, (a.samples, 1), device=a.device)
        place = torch.zeros(1, dtype=torch.long, device=a.device)

        def step():
            logits = net(token, past_key_values=cache, position_ids=place[None], use_cache=True).logits[:, -1].float()  # noqa: B023
            noisy = logits - torch.empty_like(logits).exponential_().log()
            token.copy_(noisy.argmax(-1, keepdim=True))  # noqa: B023
            place.add_(1)  # noqa: B023

        def timed(step):
            """Windows of all places but the first eight."""
            rates = []
            for _ in range(WINDOWS):
                cache.reset()  # noqa: B023
                place.zero_()  # noqa: B023
                for at in range(a.sampled):
                    if at == 8:
                        wait()
                        began = time.monotonic()
                    step()
                wait()
                rates.append((a.sampled - 8) * a.samples / (time.monotonic() - began))
            return rates

        name = "compile" if compiled else "eager"
        with torch.no_grad():
            step()
            found[name] = timed(step)
            if cuda:
                try:
                    cache.reset()
                    place.zero_()
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        step()
                    found[f"{name}, CUDA graph"] = timed(graph.replay)
                except Exception as error:  # noqa: BLE001
                    print(f"{name}: no CUDA graph: {str(error)[:200]}", file=sys.stderr)
    return found


def shape(size):
    """What `config.json` says of a model of this size."""
    layers, width, inner, heads, kv_heads = SIZES[size]
    return {
        "num_hidden_layers": layers, "hidden_size": width, "intermediate_size": inner, "num_attention_heads": heads,
        "num_key_value_heads": kv_heads, "head_dim": width // heads,
    }  # fmt: skip


def folder(root, size):
    """A training folder without a corpus."""
    shipped = ROOT / "models/infill"
    config, training = (json.loads((shipped / name).read_text()) for name in ("config.json", "training.json"))
    config.update(shape(size))
    config["stampmill"] = config.pop("benchstone", config.get("stampmill"))
    target = root / size
    target.mkdir()
    (target / "config.json").write_text(json.dumps(config))
    (target / "training.json").write_text(json.dumps({**training, "dropout": 0.0, "task": "kernels"}))
    return target


def answer(command, a_row=180, **more):
    """The last line of what a command prints; nothing where it fails, which is said."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=a_row, **more)
    except subprocess.TimeoutExpired:
        print(f"{command[:6]} took more than {a_row} s", file=sys.stderr)
        return {}
    if done.returncode:
        print(f"{command[:6]} failed: {done.stderr[-600:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    numbers = {"batch": 64, "length": 1024, "steps": 20, "samples": 1024, "sampled": 256}
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--engine")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default=",".join(SIZES))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--peer", nargs=2, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.peer:
        what, where = a.peer
        print(json.dumps(decoding(where, a) if what == "decode" else peer(where, what == "compile", a)))
        return
    given = [word for name in numbers for word in (f"--{name}", str(getattr(a, name)))]
    here = [a.python, str(Path(__file__).resolve()), "--device", a.device, *given]
    ours = [a.python, "-m", "trainer", "bench", "--compile", "--device", a.device]
    result = {"training": {}, "sampling": {}}
    with tempfile.TemporaryDirectory() as work:
        for size in a.only.split(","):
            where = folder(Path(work), size)
            rows = result["training"][size] = {}
            sizes = ["--batch", str(a.batch), "--length", str(a.length), "--steps", str(a.steps)]
            rows["ours"] = answer([*ours, *sizes, str(where)], cwd=ROOT / "python/src/stampmill")
            result["device"] = rows["ours"].get("device")
            for what in ("compile", "eager"):
                rows[what] = answer([*here, "--peer", what, str(where)])
            if a.engine:
                old = answer([a.engine, "bench", str(where), "--device", a.device, *given])
                rows["tch"] = {"training_tokens_per_second": [old[key]] if (key := "training_tokens_per_second") in old else []}
                result["sampling"].setdefault(size, {})["stampmill-torch"] = [old[key]] if (key := "sampling_tokens_per_second") in old else []
            print(json.dumps({size: rows}), flush=True)
        first = a.only.split(",")[0]
        result["sampling"].setdefault(first, {}).update(answer([*here, "--peer", "decode", str(Path(work) / first)]))
    print(f"\n{result['device']}, {os.cpu_count()} processors; tokens/s, ratio: ours / that row's")
    for size, rows in result["training"].items():
        own = rows["ours"].get("training_tokens_per_second")
        for name, row in rows.items():
            rates = row.get("training_tokens_per_second") or []
            print(line(f"{size} {name}", rates, own), f"warm-up {row.get('warm_up_seconds') or 0:.0f} s, {row.get('memory_gib') or 0:.1f} GiB")
    for size, rows in result["sampling"].items():
        for name, rates in rows.items():
            print(line(f"{size} sampling, {name}", rates, rows.get("stampmill-torch")))
    if a.out:
        a.out.write_text(json.dumps(result, indent=1) + "\n")


def line(name, rates, own):
    """A row of the table."""
    if not rates:
        return f"{name:34} none"
    middle = statistics.median(rates)
    ratio = f"{statistics.median(own) / middle:5.2f}" if own else "     "
    return f"{name:34} {middle:12,.0f} {ratio}  spread {(max(rates) - min(rates)) / middle:.1%}"


if __name__ == "__main__":
    main()
