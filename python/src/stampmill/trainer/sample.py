"""`sample`: token ids drawn from a checkpoint, many rows side by side, with nothing that constrains them.

A row is written as a JSON list of its new ids, the one that ends it included, as `stampmill evaluate --drawn` reads it. What is
read of a Llama is kept in a cache, and of an LSTM in its state. A model that fills holes reads all of a row anew for each token.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from .failure import Failure
from .model import Language, configuration
from .settings import Settings, is_half
from .train import choose, put

# Steps between looks at which rows have ended.
_LOOK = 16


class _Llama:
    """A causal transformer; all rows have read equally much."""

    def __init__(self, net: Any, rows: int, most: int) -> None:
        config, weight = net.config, net.lm_head.weight
        self._net, self._width, self._read = net, config.head_dim, 0
        places = torch.arange(most, device=weight.device)[None]
        self._turns = [x[0] for x in net.model.rotary_emb(torch.zeros(1, device=weight.device), places)]
        shape = rows, config.num_key_value_heads, most, config.head_dim
        self._cache = [(weight.new_zeros(shape), weight.new_zeros(shape)) for _ in net.model.layers]

    def step(self, read: torch.Tensor) -> torch.Tensor:
        """The logits behind `read`, `[rows, new]`; more than one at a time only at first."""
        net, begin = self._net.model, self._read
        self._read = end = begin + read.shape[1]
        cos, sin = (x[begin:end] for x in self._turns)
        x = net.embed_tokens(read)
        for layer, (keys, values) in zip(net.layers, self._cache):
            own, y = layer.self_attn, layer.input_layernorm(x)
            parts = (project(y).unflatten(-1, (-1, self._width)).transpose(1, 2) for project in (own.q_proj, own.k_proj, own.v_proj))
            query, key, value = parts
            keys[:, :, begin:end], values[:, :, begin:end] = _turned(key, cos, sin), value
            query = _turned(query, cos, sin).to(value.dtype)
            y = F.scaled_dot_product_attention(
                query, keys[:, :, :end], values[:, :, :end], is_causal=end - begin > 1, enable_gqa=True
            )
            x = x + own.o_proj(y.transpose(1, 2).flatten(2))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        logits: torch.Tensor = self._net.lm_head(net.norm(x[:, -1]))
        return logits

    def keep(self, rows: torch.Tensor) -> None:
        """Forget all rows but these."""
        for at, (keys, values) in enumerate(self._cache):
            self._cache[at] = keys[rows], values[rows]


class _Lstm:
    """Stacked LSTM layers."""

    def __init__(self, net: Any) -> None:
        self._net = net
        self._state: Any = None

    def step(self, read: torch.Tensor) -> torch.Tensor:
        """The logits behind `read`."""
        y, self._state = self._net.lstm(self._net.embedding(read), self._state)
        logits: torch.Tensor = self._net.head(y[:, -1])
        return logits

    def keep(self, rows: torch.Tensor) -> None:
        """Forget all rows but these."""
        self._state = tuple(part[:, rows].contiguous() for part in self._state)


class _Hole:
    """A bidirectional encoder: the hole stands behind what was drawn, and nothing behind the hole."""

    def __init__(self, net: Any, special: Any, rows: int) -> None:
        self._net = net
        device = net.cls.predictions.bias.device
        self._left = torch.zeros((rows, 0), dtype=torch.int64, device=device)
        self._right = torch.tensor([[special.hole, special.end]], device=device)

    def step(self, read: torch.Tensor) -> torch.Tensor:
        """The logits of what comes first in the hole."""
        self._left = torch.cat((self._left, read), 1)
        whole = torch.cat((self._left, self._right.expand(len(read), -1)), 1)
        hidden = self._net.bert(whole, use_cache=False).last_hidden_state
        logits: torch.Tensor = self._net.cls(hidden[:, self._left.shape[1]])
        return logits

    def keep(self, rows: torch.Tensor) -> None:
        """Forget all rows but these."""
        self._left = self._left[rows]


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotary places (Su et al. 2021), the halves of a head turned against each other."""
    low, high = x.chunk(2, -1)
    return x * cos + torch.cat((-high, low), -1) * sin


def _next(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """A token of each row: the largest logit where the temperature is 0, else a draw."""
    if temperature <= 0.0:
        return logits.argmax(-1)
    # Minus the logarithm of an exponential draw is Gumbel's noise: the largest noisy logit is a draw.
    logits = logits.float() / temperature
    return (logits - torch.empty_like(logits).exponential_().log_()).argmax(-1)


class Sampler:
    """A checkpoint to draw from."""

    def __init__(self, folder: Path, device: str = "auto", precision: str | None = None) -> None:
        self.settings, self.device = Settings.read(folder), choose(device)
        # Adapters are in the weights already.
        self.settings.lora = None
        config = configuration(folder)
        self.vocabulary, self.places = config["vocab_size"], config.get("max_position_embeddings")
        self.model = Language(config, self.settings, False)
        self.model.read(folder)
        self.model.to(self.device).eval()
        if is_half(self.model.kind, self.device.type, precision):
            # Weights alone: the angles of places want more digits.
            for weight in self.model.parameters():
                weight.data = weight.data.to(torch.bfloat16)
        if self.model.kind == "lstm":
            self.model.net.lstm.flatten_parameters()

    def _room(self, given: int) -> int | None:
        """Most tokens that can be drawn behind so many; None where there is no limit."""
        if self.places is None:
            return None
        room: int = self.places - given - (2 if self.model.kind == "hole" else 0)
        if room < 1:
            raise Failure(f"a prompt of {given} tokens leaves no room in {self.places}: give a shorter one")
        return room

    @torch.no_grad()
    def draw(self, rows: int, prompt: list[int], length: int, temperature: float) -> list[list[int]]:
        """So many rows of at most `length` new ids behind the token that begins a text and `prompt`."""
        special, kind = self.settings.special, self.model.kind
        given = [special.start, *prompt]
        if wrong := [id for id in given if not 0 <= id < self.vocabulary]:
            raise Failure(f"{wrong[0]} is no id of this model: it has {self.vocabulary}")
        room = self._room(len(given))
        length = length if room is None else min(length, room)
        decoder: Any = (
            _Lstm(self.model.net)
            if kind == "lstm"
            else _Hole(self.model.net, special, rows)
            if kind == "hole"
            else _Llama(self.model.net, rows, len(given) + length)
        )
        end = special.hole_end if kind == "hole" else special.end
        read = torch.tensor([given], device=self.device).expand(rows, -1)
        ended = torch.zeros(rows, dtype=torch.bool, device=self.device)
        drawn: list[list[int]] = [[] for _ in range(rows)]
        still, columns = list(range(rows)), list[torch.Tensor]()
        for at in range(1, length + 1):
            logits = decoder.step(read)
            # What fills rectangles is no text.
            logits[:, special.pad] = -torch.inf
            token = _next(logits, temperature)
            ended |= token == end
            columns.append(token)
            read = token[:, None]
            if at % _LOOK and at < length:
                continue
            for row, ids in zip(still, torch.stack(columns, 1).tolist()):
                drawn[row] += ids[: ids.index(end) + 1] if end in ids else ids
            columns = []
            left = torch.nonzero(~ended).flatten()
            if not len(left):
                break
            if len(left) < len(still):
                still = [still[place] for place in left.tolist()]
                read, ended = read[left], ended[left]
                decoder.keep(left)
        return drawn

    def write(
        self, out: Path, count: int, prompt: list[int], length: int, temperature: float, seed: int, batch: int = 1024
    ) -> dict[str, Any]:
        """Write `count` rows to a file; answers how many tokens and seconds that were, and how many rows came to an end."""
        torch.manual_seed(seed)
        began, all_rows = time.monotonic(), list[list[int]]()
        while len(all_rows) < count:
            all_rows += self.draw(min(batch, count - len(all_rows)), prompt, length, temperature)
        seconds = time.monotonic() - began
        put(out, "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in all_rows))
        special, tokens = self.settings.special, sum(map(len, all_rows))
        end = special.hole_end if self.model.kind == "hole" else special.end
        return {
            "samples": count, "tokens": tokens, "ended": sum(row[-1:] == [end] for row in all_rows), "seconds": seconds,
            "tokens_per_second": tokens / seconds, "samples_per_second": count / seconds,
        }  # fmt: skip


def run(options: Any) -> dict[str, Any]:
    """What the command line asks for."""
    sampler = Sampler(options.folder, options.device, options.precision)
    return sampler.write(
        options.out, options.n, options.prompt_ids, options.length, options.temperature, options.seed, options.batch
    )
