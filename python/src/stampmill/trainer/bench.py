"""`bench`: the rate of the training step on full sequences of random ids."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from .corpus import Instance
from .train import Training

_WARM = 8


def run(options: Any) -> dict[str, Any]:
    """Tokens a second, of some windows of steps one after the other."""
    training = Training(options.folder, options)
    training.layout = replace(training.layout, step=options.batch * options.length, length=options.length)
    cuda = training.device.type == "cuda"
    wait = torch.cuda.synchronize if cuda else lambda: None
    random = np.random.default_rng(1)
    ids = random.integers(0, training.vocabulary, (4, options.batch, 2, options.length))
    drawn = [[Instance(read, said) for read, said in step] for step in ids]
    steps = [training.layout.batches(instances, training.micro) for instances in drawn]
    rates, began = [], time.monotonic()
    for step in range(_WARM + options.windows * options.steps):
        if step == _WARM:
            wait()
            warm, began = time.monotonic() - began, time.monotonic()
        training.step(step, steps[step % len(steps)])
        if step >= _WARM and (step + 1 - _WARM) % options.steps == 0:
            wait()
            now = time.monotonic()
            rates.append(options.batch * options.length * options.steps / (now - began))
            began = now
    return {
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "parameters": sum(w.numel() for _, w in training.model.weights()),
        "training_tokens_per_second": rates,
        "warm_up_seconds": warm,
        "memory_gib": torch.cuda.max_memory_allocated() / 2**30 if cuda else None,
    }
