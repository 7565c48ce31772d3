"""`corpus.safetensors`, and the instances that are made of it on the fly: what a model reads and what it is to say."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file

from .chacha import Stream
from .failure import Failure
from .settings import Settings

# A place that is not learned from.
IGNORED = -100
# A condition that a kernel has no value for.
_ABSENT = 0xFFFF
# Share of a kernel that a hole may hide (BenchPress, PACT'22, section 3.2).
_LARGEST_HOLE = 0.9
# Sides of the split: to train on, to validate on, to pre-train on.
_TRAINING, _PRETRAINING = 0, 2


class Instance(NamedTuple):
    """What is read and, of the same length, what is to be said at each place."""

    input: np.ndarray
    target: np.ndarray


class _Drawn:
    """Rows that are drawn by their weights."""

    def __init__(self, rows: np.ndarray, weights: np.ndarray) -> None:
        self.rows = rows
        self._sums = np.cumsum(weights[rows])

    def at(self, share: float) -> int:
        """The row that `share` (0 to 1) of the weight falls on."""
        at = int(np.searchsorted(self._sums, share * self._sums[-1], side="right"))
        return int(self.rows[min(at, len(self.rows) - 1)])


class Corpus:
    """Tokenised kernels with what each may be conditioned on, or questions with their answers."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        path = folder / "corpus.safetensors"
        try:
            held = load_file(path)
        except OSError as error:
            raise Failure(f"cannot read {path}: {error}") from None
        except Exception as error:
            raise Failure(f"{path} is no safetensors file, or is cut short: {error}") from None
        self._settings = settings
        try:
            self._tokens, self._offsets = held["tokens"].astype(np.int64), held["offsets"].tolist()
            split, weights = held["split"], held["weight"].astype(np.float64)
            # Answers to questions have neither conditions nor specifications.
            self._answers = held["answers"].tolist() if "answers" in held else None
            if self._answers is None:
                self._conditions = held["conditions"].astype(np.int64)
                self._specifications = held["specifications"].astype(np.int64)
                self._specification_offsets = held["specification_offsets"].tolist()
        except KeyError as error:
            raise Failure(f"{path} holds no tensor {error}") from None
        self._training = _Drawn(np.flatnonzero(split == _TRAINING), weights)
        self._functions = _Drawn(np.flatnonzero(split == _PRETRAINING), weights)
        self._validation = np.flatnonzero((split != _TRAINING) & (split != _PRETRAINING))
        if not len(self._training.rows):
            raise Failure(f"{path} holds nothing to train on")

    def counts(self) -> tuple[int, int, int]:
        """Texts to train on, to pre-train on and to validate on."""
        return len(self._training.rows), len(self._functions.rows), len(self._validation)

    def step(self, step: int) -> list[Instance]:
        """The instances of a step, the short ones first: the same for the same seed, whatever was done before."""
        random = Stream(self._settings.seed, step + 1)
        share = self._settings.functions(step) if len(self._functions.rows) else 0.0
        instances, tokens = [], 0
        while tokens < self._settings.batch_tokens:
            instances.append(self._draw(share, random))
            tokens += len(instances[-1].input)
        return sorted(instances, key=lambda instance: len(instance.input))

    def validation(self) -> list[Instance]:
        """The instances that validation looks at: always the same."""
        random, times = Stream(self._settings.seed ^ 0x5EED), range(self._settings.validation_times)
        instances = [self._instance(int(at), random) for _ in times for at in self._validation]
        return sorted(instances, key=lambda instance: len(instance.input))

    def _text(self, at: int) -> np.ndarray:
        text: np.ndarray = self._tokens[self._offsets[at] : self._offsets[at + 1]]
        return text

    def _choose(self, share: float, random: Stream) -> int:
        """A kernel or, with a chance of `share`, a function."""
        # Where there are no functions, nothing is drawn to decide.
        if share > 0.0 and random.chance(share):
            return self._functions.at(random.share())
        return self._training.at(random.share())

    def _draw(self, share: float, random: Stream) -> Instance:
        at = self._choose(share, random)
        if self._settings.kind != "lstm" or self._settings.task == "edits":
            return self._instance(at, random)
        # Whole kernels one after the other until the window is full.
        kernels = [self._text(at)]
        length = len(kernels[0])
        while length < self._settings.length:
            kernels.append(self._text(self._choose(share, random)))
            length += len(kernels[-1])
        return self._window(kernels)

    def _instance(self, at: int, random: Stream) -> Instance:
        if self._settings.task == "edits":
            # A question and its answer; the answer alone is to be said.
            assert self._answers is not None
            return self._next_token(self._text(at), self._answers[at])
        if self._settings.kind == "lstm":
            return self._window([self._text(at)])
        if self._settings.kind == "hole":
            return self._hole(self._text(at), random)
        return self._infill(at, random)

    def _window(self, kernels: list[np.ndarray]) -> Instance:
        """`start kernel end` for each kernel, cut to the window; the next token is to be said everywhere."""
        special = self._settings.special
        return self._next_token(_join(*(part for kernel in kernels for part in (special.start, kernel, special.end))), 0)

    def _next_token(self, tokens: np.ndarray, first: int) -> Instance:
        """Say the next token, but nothing before place `first`."""
        tokens = tokens[: self._settings.length + 1]
        target = tokens[1:].copy()
        target[: max(first - 1, 0)] = IGNORED
        return Instance(tokens[:-1], target)

    def _hole(self, kernel: np.ndarray, random: Stream) -> Instance:
        """BenchPress: one hole; at its place the first hidden token is to be said, or that none is."""
        special = self._settings.special
        kernel, share = kernel[: self._settings.length - 3], self._settings.open_share
        # Where there is no such share, nothing is drawn to decide.
        if share > 0.0 and random.chance(share):
            begin, end = random.number(0, len(kernel)), len(kernel)
        else:
            begin, end = _cut(len(kernel), random)
        read = _join(special.start, kernel[:begin], special.hole, kernel[end:], special.end)
        target = np.full(len(read), IGNORED)
        target[begin + 1] = kernel[begin] if begin < end else special.hole_end
        return Instance(read, target)

    def _infill(self, at: int, random: Stream) -> Instance:
        """`start conditions arguments` and then the kernel, straight or as prefix, suffix, middle (Bavarian et al. 2022);
        conditions and arguments are dropped at random."""
        settings = self._settings
        special, kernel = settings.special, self._text(at)
        given: list[Any] = [special.start]
        if not random.chance(settings.condition_dropout):
            held = (token for token in self._conditions[at].tolist() if token != _ABSENT)
            given += [token for token in held if not random.chance(settings.condition_dropout)]
        specification = self._specifications[self._specification_offsets[at] : self._specification_offsets[at + 1]]
        if len(specification) and not random.chance(settings.arguments_dropout):
            given += [special.arguments, *specification.tolist(), special.arguments_end]
        fits = len(given) + len(kernel) + 4 <= settings.length
        said: list[Any] = [kernel]
        if fits and random.chance(settings.infill_share):
            begin, end = _cut(len(kernel), random)
            said = [special.prefix, kernel[:begin], special.suffix, kernel[end:], special.middle, kernel[begin:end]]
        return self._next_token(_join(given, *said, special.end), len(given))


def _join(*parts: Any) -> np.ndarray:
    return np.concatenate([np.atleast_1d(np.asarray(part, dtype=np.int64)) for part in parts])


def _cut(length: int, random: Stream) -> tuple[int, int]:
    """Where a hole begins and ends: a random place, a random length up to nine tenths of the kernel."""
    hidden = random.number(0, int(length * _LARGEST_HOLE))
    begin = random.number(0, length - hidden)
    return begin, begin + hidden
