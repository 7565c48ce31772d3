"""`training.json`: how to train, written by `stampmill train`. The command describes and checks each setting."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .failure import Failure


def read_json(path: Path, hint: str = "") -> Any:
    """A JSON file."""
    try:
        text = path.read_text()
    except OSError as error:
        raise Failure(f"cannot read {path}: {error.strerror}{hint}") from None
    try:
        return json.loads(text)
    except ValueError as error:
        raise Failure(f"{path} is broken: {error}") from None


def is_half(kind: str, device: str, precision: str | None) -> bool:
    """Whether products are made in numbers of 16 bits: as `precision` says, or else on a GPU, but for an `lstm`, which waits for
    its steps and not for its products, and whose small gradients would be lost."""
    if precision is not None:
        return precision == "bf16"
    return device == "cuda" and kind != "lstm"


class Settings(SimpleNamespace):
    """The settings by their names in the file, `special` with the ids of special tokens, `lora` or None.

    Two are not the command's, and 1 and 0 where the file has none: `validation_times`, how many instances validation makes of
    each text, and `open_share`, the share of holes with nothing behind them, as behind a prompt (kind `hole`).
    """

    @staticmethod
    def read(folder: Path) -> Settings:
        path = folder / "training.json"
        given = read_json(path, ": is this a folder of `stampmill train --prepare-only`?")
        own = {"validation_times": 1, "open_share": 0.0}
        settings = Settings(**{"task": "kernels", "pretrain_share": 0.0, "function_share": 0.0, "lora": None, **own, **given})
        try:
            settings.special = SimpleNamespace(**settings.special)
            settings.steps = max(settings.budget_tokens // max(settings.batch_tokens, 1), 1)
            settings.rate(0)
        except (AttributeError, TypeError) as error:
            raise Failure(f"{path} is broken: {error}") from None
        return settings

    def functions(self, step: int) -> float:
        """The probability that what is drawn in a step is a function to pre-train on."""
        pretrains = step < self.pretrain_share * self.steps
        return min(max(self.function_share, 0.0), 1.0) if pretrains else 0.0

    def rate(self, step: int) -> float:
        """The learning rate of a step."""
        warm = min(float(self.warmup_steps), self.steps / 2.0)
        if step < warm:
            return float(self.learning_rate * (step + 1.0) / warm)
        gone = (step - warm) / max(self.steps - warm, 1.0)
        factors = {
            "cosine": 0.1 + 0.45 * (1.0 + math.cos(math.pi * gone)),
            "linear": 1.0 - gone,
            "halving": 0.5 ** math.floor(gone * 10.0),
        }
        return float(self.learning_rate * factors[self.schedule])
