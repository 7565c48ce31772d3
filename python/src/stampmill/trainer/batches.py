"""Instances as tensors that a model reads at a time, in one of two layouts.

*Rectangles*: rows of about the same length, padded. *Packed*: instances one behind another in one row of a fixed number
of places, so that one compiled program reads all; offsets say where each begins, and none looks into another.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import torch

from .corpus import IGNORED, Instance

# Kernels of matrix products want sizes that this divides.
_EVEN = 128


@dataclass
class Batch:
    """Instances in a layout."""

    input: torch.Tensor
    """Ids, `[rows, length]`."""
    target: torch.Tensor
    """What is to be said at each place that is learned from, `IGNORED` elsewhere; flat where `places` are given."""
    places: torch.Tensor | None
    """Flat indices of the places that are learned from, where they are few."""
    positions: torch.Tensor | None
    """Packed: the place of each token in its instance, `[1, length]`."""
    offsets: torch.Tensor | None
    """Packed: where instances begin and the last one ends."""
    count: int
    """Number of places that are learned from."""
    tokens: int
    """Places that are read, padding left out."""

    def to(self, device: torch.device) -> Batch:
        """The same on a device, where it comes while other work is done."""
        tensors = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{name: t.to(device, non_blocking=True) for name, t in tensors.items() if isinstance(t, torch.Tensor)})

    def pin_memory(self) -> Batch:
        """The same in memory that a GPU reads by itself."""
        tensors = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(self, **{name: t.pin_memory() for name, t in tensors.items() if isinstance(t, torch.Tensor)})


@dataclass(frozen=True)
class Layout:
    """How instances are laid out."""

    packed: bool
    few: bool
    """Whether few places are learned from: the others go no further than the last layer."""
    pad: int
    length: int
    """Longest instance."""
    step: int
    """Most places of all instances of a step."""

    def batches(self, instances: list[Instance], most: int) -> list[Batch]:
        """Instances, sorted by length, in batches of at most `most` places, padding included."""
        if self.packed:
            return self._rows(instances, most)
        groups: list[list[Instance]] = []
        for instance in instances:
            if groups and len(instance.input) * (len(groups[-1]) + 1) <= most:
                groups[-1].append(instance)
            else:
                groups.append([instance])
        return [self._rectangle(group) for group in groups]

    def places(self, most: int) -> int:
        """Places of a packed row: all of a step where they are at most `most`."""
        places = min(max(most, self.length), self.step)
        return -(-places // _EVEN) * _EVEN

    def _batch(self, read: np.ndarray, target: np.ndarray, tokens: int) -> Batch:
        said = np.flatnonzero(target != IGNORED)
        return Batch(
            input=torch.from_numpy(read),
            target=torch.from_numpy(target.ravel()[said] if self.few else target),
            places=torch.from_numpy(said) if self.few else None,
            positions=None,
            offsets=None,
            count=len(said),
            tokens=tokens,
        )

    def _rectangle(self, instances: list[Instance]) -> Batch:
        shape = len(instances), max(len(instance.input) for instance in instances)
        read, target = np.full(shape, self.pad), np.full(shape, IGNORED)
        for row, instance in enumerate(instances):
            read[row, : len(instance.input)], target[row, : len(instance.input)] = instance
        return self._batch(read, target, sum(len(instance.input) for instance in instances))

    def _rows(self, instances: list[Instance], most: int) -> list[Batch]:
        size = self.places(most)
        batches, row, used = [], list[Instance](), 0
        for instance in instances:
            if used + len(instance.input) > size:
                batches.append(self._row(row, size))
                row, used = [], 0
            row.append(instance)
            used += len(instance.input)
        return [*batches, self._row(row, size)]

    def _row(self, instances: list[Instance], size: int) -> Batch:
        lengths = [len(instance.input) for instance in instances]
        tokens = sum(lengths)
        # What is left is read as well, in pieces that are no longer than an instance.
        lengths += [min(self.length, size - at) for at in range(tokens, size, self.length)]
        read, target = np.full((1, size), self.pad), np.full((1, size), IGNORED)
        offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
        np.cumsum(lengths, out=offsets[1:])
        for begin, instance in zip(offsets.tolist(), instances):
            read[0, begin : begin + len(instance.input)], target[0, begin : begin + len(instance.input)] = instance
        positions = np.arange(size) - np.repeat(offsets[:-1], lengths)
        batch = self._batch(read, target, tokens)
        return replace(batch, positions=torch.from_numpy(positions[None]), offsets=torch.from_numpy(offsets))
