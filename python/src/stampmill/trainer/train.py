"""`train`: the loop."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from safetensors import safe_open
from torch.utils.data import DataLoader, Dataset

from .batches import Batch, Layout
from .corpus import Corpus, Instance
from .failure import Failure
from .model import Language, configuration, read_tensors, write_tensors
from .settings import Settings, is_half

_BETAS, _EPSILON, _MOMENTUM = (0.9, 0.98), 1e-8, 0.9
# Runs of fewer steps end before a compiler has paid off.
_WORTH_COMPILING = 200
# Seconds between two lines about a step that is not done.
_BETWEEN = 2.0
# Processes that make instances while a GPU reads others.
_MAKERS = 4


def choose(name: str) -> torch.device:
    """The device called `name`: `cpu`, `cuda`, or `auto` for CUDA where there is one."""
    there = torch.cuda.is_available()
    if name not in ("cpu", "cuda", "auto"):
        raise Failure(f"no device `{name}`; there are cpu, cuda and auto")
    if name == "cuda" and not there:
        built = "no CUDA device: is a GPU there and its driver loaded (`nvidia-smi`)?"
        why = built if torch.version.cuda and torch.backends.cuda.is_built() else "this torch is built without CUDA"
        raise Failure(f"{why}; `--device cpu` needs neither")
    return torch.device("cuda" if there and name != "cpu" else "cpu")


def put(path: Path, text: str) -> None:
    """Write a text under a temporary name, then rename."""
    temporary = path.with_suffix(".new")
    temporary.write_text(text)
    temporary.replace(path)


class _Steps(Dataset[Any]):
    """The batches of each step."""

    def __init__(self, corpus: Corpus, layout: Layout, most: int) -> None:
        self._corpus, self._layout, self._most = corpus, layout, most

    def __getitem__(self, step: int) -> list[Batch]:
        return self._layout.batches(self._corpus.step(step), self._most)


def _same(batches: list[Batch]) -> list[Batch]:
    return batches


class Training:
    """A model, its optimizer and how far they are."""

    def __init__(self, folder: Path, options: Any) -> None:
        self.folder, self.settings = folder, Settings.read(folder)
        self.device = choose(options.device)
        settings, cuda = self.settings, self.device.type == "cuda"
        self.half = is_half(settings.kind, self.device.type, options.precision)
        config = configuration(folder)
        self.vocabulary = config["vocab_size"]
        self.model = Language(config, settings, self.half)
        base = folder / "base"
        if base.is_dir():
            self.model.read(base)
        else:
            self.model.draw(settings.seed)
        self.model.draw_adapters(settings.seed)
        self.model.to(self.device)
        if options.packed and settings.kind == "lstm":
            raise Failure("an lstm goes on from one instance to the next: it reads rectangles")
        edits = settings.task == "edits"
        self.layout = Layout(
            packed=cuda and self.half and settings.kind != "lstm" if options.packed is None else options.packed,
            few=edits or settings.kind == "hole" or not cuda,
            pad=settings.special.pad,
            length=settings.length,
            step=settings.batch_tokens + settings.length - 1,
        )
        self.asked = self.micro = options.micro_tokens or (1 << 16 if cuda else 1 << 12)
        self.optimizer = self._optimizer()
        self.state = SimpleNamespace(step=0, tokens=0, seconds=0.0, best=None, bad_looks=0, loss=0.0)
        self.metrics: list[str] = []
        self._began, self._parts = time.monotonic(), (0, 0)
        self._limit: float | None = None
        self._loss = self._compiled(options.compile) if cuda or self.settings.kind != "lstm" else self.model.loss

    def _optimizer(self) -> torch.optim.Optimizer:
        settings, trained = self.settings, list(self.model.trained().values())
        if settings.method == "sgd":
            return torch.optim.SGD(trained, lr=0.0, momentum=_MOMENTUM)
        # Norms and biases do not decay.
        groups: list[dict[str, Any]] = [
            {"params": [w for w in trained if w.dim() > 1], "weight_decay": settings.weight_decay},
            {"params": [w for w in trained if w.dim() <= 1], "weight_decay": 0.0},
        ]
        groups = [group for group in groups if group["params"]]
        return torch.optim.AdamW(groups, lr=0.0, betas=_BETAS, eps=_EPSILON, fused=True)

    def _compiled(self, wanted: bool | None) -> Any:
        """The loss of a batch, compiled where that pays and can be done."""
        if wanted is False or self.settings.kind == "lstm" or (wanted is None and self.settings.steps < _WORTH_COMPILING):
            return self.model.loss
        if self.device.type == "cpu" and (why := _lacks_compiler()):
            print(f"not compiled, and slower for it: {why}", file=sys.stderr)
            return self.model.loss
        # Packed rows have one size; rectangles have many.
        self.model.compile(dynamic=None if self.layout.packed else True)
        return self._dynamic if self.layout.packed else self.model.loss

    def _dynamic(self, batch: Batch) -> torch.Tensor:
        for tensor in (batch.offsets, batch.places, batch.target if batch.places is not None else None):
            if tensor is not None:
                torch._dynamo.mark_dynamic(tensor, 0)
        return self.model.loss(batch)

    def steps(self, first: int, last: int, corpus: Corpus) -> Iterator[list[Batch]]:
        """The batches of steps, made ahead where a GPU would wait for them."""
        steps, cuda = _Steps(corpus, self.layout, self.micro), self.device.type == "cuda"
        makers: dict[str, Any] = {"num_workers": _MAKERS, "prefetch_factor": 4, "pin_memory": True} if cuda else {}
        return iter(DataLoader(steps, batch_size=None, sampler=range(first, last), collate_fn=_same, **makers))

    def step(self, step: int, batches: list[Batch]) -> tuple[torch.Tensor, torch.Tensor] | None:
        """One step: the mean loss of its instances, and the gradient's norm before it was cut; nothing where time ran out."""
        self.model.train()
        torch.manual_seed((self.settings.seed ^ (step + 1) * 0x9E37_79B9) & 0x7FFF_FFFF_FFFF_FFFF)
        whole, loss = sum(batch.count for batch in batches), torch.zeros((), device=self.device)
        self.optimizer.zero_grad(set_to_none=True)
        began = spoke = time.monotonic()
        for done, batch in enumerate(batches):
            self._parts, now = (done, len(batches)), time.monotonic()
            if done and self.is_late():
                self.optimizer.zero_grad(set_to_none=True)
                return None
            if done and now - spoke >= _BETWEEN and self.device.type == "cpu":
                spoke = now
                self._tell_part(step + 1, done, len(batches), now - began)
            part = self._loss(batch.to(self.device)) / whole
            part.backward()
            loss += part.detach()
        weights = list(self.model.trained().values())
        norm = torch.nn.utils.get_total_norm([w.grad for w in weights if w.grad is not None])
        if self.settings.clip > 0.0:
            torch.nn.utils.clip_grads_with_norm_(weights, self.settings.clip, norm)
        rate = self.settings.rate(step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if self.settings.method == "sgd" and self.settings.weight_decay > 0.0:
            with torch.no_grad():
                torch._foreach_mul_([w for w in weights if w.dim() > 1], 1.0 - rate * self.settings.weight_decay)
        self.optimizer.step()
        return loss, norm

    def is_late(self) -> bool:
        """Whether the time that there is was used up."""
        return self._limit is not None and time.monotonic() - self._began >= self._limit

    def _give_up(self) -> None:
        """End, where the time is used up and no step is done: what computes cannot be interrupted, and has nothing to keep."""
        if self.state.step > 0:
            return
        print(f"stampmill-trainer: {self._no_step()}", file=sys.stderr, flush=True)
        os._exit(2)

    def _no_step(self) -> str:
        (done, parts), settings = self._parts, self.settings
        whole = sum(w.numel() for _, w in self.model.weights())
        return (
            f"the limit of {self._limit:g} s ended before the first step was done ({done} of its {max(parts, 1)} parts were): "
            f"a step has {settings.batch_tokens} tokens, and the model {whole / 1e6:.1f} million weights on {self.device.type}; "
            "a recipe with a smaller `batch_tokens`, `width` or `layers` has shorter steps, or give it more time"
        )

    @torch.no_grad()
    def look(self, batches: list[Batch]) -> float:
        """The mean loss over the validation instances."""
        self.model.eval()
        total = float(sum(self._loss(batch).item() for batch in batches)) / max(sum(batch.count for batch in batches), 1)
        if not math.isfinite(total):
            raise Failure(f"the validation loss is {total} after step {self.state.step}")
        return total

    def run(self, last: int, limit: float | None, keep: bool) -> None:
        """Train until step `last` or for `limit` seconds."""
        self._began, self._limit = time.monotonic(), limit
        watch = threading.Timer(limit or 0.0, self._give_up)
        watch.daemon = True
        if limit is not None and self.state.step == 0:
            watch.start()
        corpus, settings, state = Corpus(self.folder, self.settings), self.settings, self.state
        texts, functions, held = corpus.counts()
        trained = sum(w.numel() for w in self.model.trained().values())
        whole = sum(w.numel() for _, w in self.model.weights())
        print(
            f"{texts} texts to train on, {functions} to pre-train on, {held} to validate, {trained} of {whole} weights to train, "
            f"{settings.steps} steps of {settings.batch_tokens} tokens on {self.device}",
            file=sys.stderr,
        )
        last = min(last, settings.steps)
        instances = corpus.validation()
        looks = self._looks(instances)
        began, before, tokens_before = time.monotonic(), state.seconds, state.tokens
        stopped, batches = "budget", self.steps(state.step, last, corpus)
        told: tuple[int, torch.Tensor, torch.Tensor] | None = None
        while state.step < last:
            made = next(batches)
            try:
                came = self.step(state.step, made)
            except RuntimeError as error:
                self._halve(error)
                looks, batches = self._looks(instances), self.steps(state.step, last, corpus)
                continue
            if came is None and state.step == 0:
                raise Failure(self._no_step())
            # A GPU is asked for the next step before it is asked what came of this one.
            if told and came is not None:
                self._tell(*told, None, before, began, tokens_before)
            if came is not None:
                state.step += 1
                watch.cancel()
                state.tokens += sum(batch.tokens for batch in made)
                told = state.step, *came
            out_of_time = came is None or self.is_late()
            if told is None:
                # The last step that is done has been looked at.
                stopped = "time"
                break
            if not (state.step == last or out_of_time or state.step % settings.validate_every == 0):
                continue
            self._finite(told[0], told[1])
            seen = self.look(looks) if looks and not self._is_long(looks, out_of_time) else None
            self._tell(*told, seen, before, began, tokens_before)
            told = None
            better = seen is not None and (state.best is None or seen < state.best)
            if better:
                state.best, state.bad_looks = seen, 0
            elif seen is not None:
                state.bad_looks += 1
            if better or state.best is None:
                self.model.save(self.folder)
            if keep:
                self._keep()
            stuck = settings.patience > 0 and state.bad_looks >= settings.patience
            if out_of_time or stuck:
                stopped = "no better validation loss" if stuck else "time"
                break
        self._write_metrics()
        spent = max(state.seconds - before, 1e-9)
        device = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "cpu"
        summary = {
            "done": True, "steps": state.step, "tokens": state.tokens, "seconds": state.seconds, "loss": state.loss,
            "validation_loss": state.best, "tokens_per_second": (state.tokens - tokens_before) / spent,
            "parameters": whole, "device": device, "stopped": stopped,
            "fitted": self.micro if self.micro < self.asked else None,
        }  # fmt: skip
        put(self.folder / "summary.json", json.dumps(summary))
        print(json.dumps(summary), flush=True)

    def _is_long(self, looks: list[Batch], out_of_time: bool) -> bool:
        """Whether a first look would take longer than a step, and there is no time for it."""
        return out_of_time and self.state.best is None and sum(batch.tokens for batch in looks) > self.settings.batch_tokens

    def _looks(self, instances: list[Instance]) -> list[Batch]:
        return [batch.to(self.device) for batch in self.layout.batches(instances, self.micro)] if instances else []

    def _halve(self, error: RuntimeError) -> None:
        """Go on in smaller pieces, if memory ran out."""
        if not any(words in str(error) for words in ("out of memory", "can't allocate memory")):
            raise error
        if self.micro // 2 < self.settings.length:
            raise Failure(
                f"out of memory even with {self.micro} tokens at a time: a smaller model or a shorter `length` fits"
            ) from None
        self.micro //= 2
        self.optimizer.zero_grad(set_to_none=True)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        print(f"out of memory: going on with --micro-tokens {self.micro}", file=sys.stderr)

    def _finite(self, step: int, loss: torch.Tensor) -> float:
        number = float(loss)
        if not math.isfinite(number):
            raise Failure(
                f"the loss is {number} in step {step}: nothing was learned from it; model.safetensors holds the best weights "
                "before (a lower learning_rate helps most often)"
            )
        return number

    def _tell(
        self, step: int, loss: Any, norm: Any, seen: float | None, before: float, began: float, tokens_before: int
    ) -> None:
        state = self.state
        state.loss, length = self._finite(step, loss), float(norm)
        state.seconds = before + time.monotonic() - began
        line = json.dumps({
            "step": step, "tokens": state.tokens, "seconds": state.seconds, "loss": state.loss, "validation_loss": seen,
            "learning_rate": self.settings.rate(step - 1), "gradient_norm": length if math.isfinite(length) else None,
            "tokens_per_second": (state.tokens - tokens_before) / max(state.seconds - before, 1e-9),
        })  # fmt: skip
        # A reader that has gone away is no reason to stop training.
        with contextlib.suppress(BrokenPipeError):
            print(line, flush=True)
        self.metrics.append(line)
        if seen is not None:
            self._write_metrics()

    def _tell_part(self, step: int, done: int, parts: int, seconds: float) -> None:
        line = json.dumps({"step": step, "parts_done": done, "parts": parts, "step_seconds": seconds * parts / done})
        with contextlib.suppress(BrokenPipeError):
            print(line, flush=True)

    def _write_metrics(self) -> None:
        put(self.folder / "metrics.jsonl", "\n".join(self.metrics) + "\n")

    def _keep(self) -> None:
        """Write what is needed to resume."""
        self._write_metrics()
        tensors = {}
        for name, weight in self.model.trained().items():
            tensors[f"weight.{name}"] = weight
            moments = self.optimizer.state.get(weight, {})
            tensors |= {f"{key}.{name}": value for key, value in moments.items() if torch.is_tensor(value)}
        write_tensors(self.folder / "state.safetensors", tensors, state=json.dumps(vars(self.state)))

    def restore(self) -> None:
        """Go on where a stopped run was."""
        path = self.folder / "state.safetensors"
        if not path.exists():
            print(f"nothing to resume in {self.folder}: starting afresh", file=sys.stderr)
            return
        tensors = read_tensors(path)
        with safe_open(path, "pt") as file:
            state = (file.metadata() or {}).get("state")
        if state is None:
            raise Failure(f"{path} is no training state")
        with torch.no_grad():
            for name, weight in self.model.trained().items():
                held = {key.partition(".")[0]: tensors[key] for key in tensors if key.partition(".")[2] == name}
                if "weight" not in held or held["weight"].shape != weight.shape:
                    raise Failure(f"{path} is of another model: {name}")
                weight.copy_(held.pop("weight"))
                self.optimizer.state[weight] = {key: value.to(self.device) for key, value in held.items()}
        self.state = SimpleNamespace(**json.loads(state))
        with contextlib.suppress(FileNotFoundError):
            self.metrics = (self.folder / "metrics.jsonl").read_text().splitlines()[: self.state.step]
        print(f"going on after step {self.state.step}", file=sys.stderr)


def _lacks_compiler() -> str:
    """Why nothing can be compiled for the processor; empty where it can."""
    from torch._inductor import exc
    from torch._inductor.cpp_builder import get_cpp_compiler

    try:
        get_cpp_compiler()
    except exc.InvalidCxxCompiler:
        return "torch.compile finds no C++ compiler (g++ or clang++)"
    return ""
