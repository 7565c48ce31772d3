"""Steering as a Gymnasium environment: edits of a kernel, chosen one by one, lead it to a point of a feature space.

    from stampmill.gym import SteerEnv

    env = SteerEnv(targets=["kernel void near(global int* x, int y) { x[get_global_id(0)] = x[0] + y; }"])
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(0)

Needs `gymnasium`: `pip install 'stampmill[gym]'`. `import stampmill` alone does not load this module.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
except ImportError:
    raise ImportError("stampmill.gym needs Gymnasium: pip install 'stampmill[gym]'") from None

from . import _stages
from ._dataset import Dataset
from ._texts import Inputs, Programs

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["START", "SteerEnv"]

START = "__kernel void A(__global int* p0, __global float* p1, int p2) {\n  p0[get_global_id(0)] = p2;\n}\n"
"""Where an episode begins, unless told otherwise."""

EDITED = 48
"""Kernels that are edited anew at a step; those on offer are drawn of them."""

Vector = Union[Mapping[str, float], Sequence[float]]
"""A point: values by dimension (what is not named is 0), or all values in the space's order."""

Observation = dict[str, Any]


class SteerEnv(gymnasium.Env[Observation, np.int64]):
    """A kernel, a point where it is wanted, and edited kernels among which one is chosen.

    Each step offers up to `choices` kernels that edits made of the present one, no two with one vector, drawn and in an
    order that says nothing. The action is the place of one of them, which becomes the present kernel; a place without
    a kernel keeps the present one.

    Observation, a dictionary of arrays of floats:
        vector: the present kernel's, one value for each dimension.
        target: the point.
        candidates: the vectors of the kernels on offer, `(choices, dimensions)`; zeros where there is none.
        mask: 1 where there is a kernel, else 0 (`action_masks()` has the same as booleans).

    Reward: the proximity gained, where proximity is 1 − Euclidean distance / norm of the target, as in `steer`.
    An episode is terminated at the target, and truncated after `steps`. `info` has `text`, `proximity` and `target`,
    the number of the target.

    The same seed and actions give the same episode. A step starts a process, which takes about a second.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(
        self,
        targets: Union[Programs, Sequence[Vector]],
        *,
        space: str = "instcount",
        start: str = START,
        choices: int = 16,
        steps: int = 32,
        proposers: Sequence[str] = ("guided", "mutate"),
        temperature: float = 10.0,
        render_mode: Optional[str] = None,
    ) -> None:
        """Describe the targets and the kernel to begin with.

        Args:
            targets: points, or programs at whose points kernels are wanted; an episode draws one.
            space: the feature space.
            start: the kernel that an episode begins with.
            choices: kernels on offer at each step.
            steps: steps of an episode at most.
            proposers: who edits: those of `steer` that start from a kernel.
            temperature: how freely `guided` chooses edits; near 0 only what leads to the target is offered.
            render_mode: `"ansi"`: `render()` gives the present kernel.

        Raises:
            ValueError: a target is no point of the space, or no program of `targets` has a vector. A target that no
                program can have is found when an episode of it begins.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"no render mode {render_mode!r}: there is 'ansi'")
        if choices < 1 or steps < 1:
            raise ValueError(f"{choices} choices, {steps} steps: both must be 1 or more")
        self.render_mode = render_mode
        self.space = space
        self._start = start
        self._choices = choices
        self._steps = steps
        self._proposers = ["nearest", *proposers]
        self._temperature = temperature
        described = _stages.features([start], space=[space], quiet=True)
        self.dimensions: list[str] = described.manifest["configuration"]["spaces"][space]
        self._first = self._vectors(described)[0]
        self._targets = self._points(targets)
        wide = len(self.dimensions)
        self.observation_space = spaces.Dict(
            {
                "vector": spaces.Box(0.0, np.inf, (wide,), np.float64),
                "target": spaces.Box(0.0, np.inf, (wide,), np.float64),
                "candidates": spaces.Box(0.0, np.inf, (choices, wide), np.float64),
                "mask": spaces.MultiBinary(choices),
            }
        )
        self.action_space = spaces.Discrete(choices)
        self._offered: list[tuple[str, npt.NDArray[np.float64]]] = []

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; `options={"target": 3}` says which target."""
        super().reset(seed=seed)
        asked = (options or {}).get("target")
        self._at = int(self.np_random.integers(len(self._targets))) if asked is None else int(asked)
        self._target = self._targets[self._at]
        self._text, self._vector = self._start, self._first
        self._left = self._steps
        self._offer()
        return self._seen(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        before = self.proximity(self._vector)
        if 0 <= int(action) < len(self._offered):
            self._text, self._vector = self._offered[int(action)]
        self._left -= 1
        terminated = bool(np.array_equal(self._vector, self._target))
        truncated = self._left <= 0 and not terminated
        if terminated or truncated:
            self._offered = []
        else:
            self._offer()
        return self._seen(), self.proximity(self._vector) - before, terminated, truncated, self._info()

    def render(self) -> Optional[str]:
        return self._text if self.render_mode == "ansi" else None

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which actions choose a kernel."""
        return np.arange(self._choices) < len(self._offered)

    def proximity(self, vector: npt.NDArray[np.float64]) -> float:
        """1 at the target, less with the distance; as `steer` has it."""
        return 1.0 - float(np.linalg.norm(vector - self._target)) / (float(np.linalg.norm(self._target)) or 1.0)

    def _offer(self) -> None:
        """Have the present kernel edited."""
        seed = int(self.np_random.integers(2**31))
        with Inputs() as inputs:
            file = inputs.folder() / "target.jsonl"
            file.write_text(json.dumps({"target": "point", self.space: self._target.tolist()}) + "\n")
            made = _stages.steer(
                space=self.space,
                targets=file,
                seeds=[self._text],
                proposers=self._proposers,
                generation=EDITED,
                # The first generation is the present kernel alone.
                budget=2 * EDITED,
                n=EDITED + 1,
                temperature=self._temperature,
                seed=seed,
                quiet=True,
            )
        if made.manifest["verdicts"].get("impossible"):
            raise ValueError(f"target {self._at} is impossible: {made.to_arrow(raw=True).column('detail')[0]}")
        rows = made.to_arrow(raw=True).select(["text", "vector", "verdict"]).to_pylist()
        found = {tuple(row["vector"]): row["text"] for row in rows if row["verdict"] == "accepted"}
        found.pop(tuple(self._vector.tolist()), None)
        others = sorted(found.items())
        drawn = self.np_random.permutation(len(others))[: self._choices]
        self._offered = [(others[place][1], np.asarray(others[place][0], dtype=np.float64)) for place in drawn]

    def _seen(self) -> Observation:
        candidates = np.zeros((self._choices, len(self.dimensions)))
        for place, (_, vector) in enumerate(self._offered):
            candidates[place] = vector
        mask = self.action_masks().astype(np.int8)
        return {"vector": self._vector.copy(), "target": self._target.copy(), "candidates": candidates, "mask": mask}

    def _info(self) -> dict[str, Any]:
        return {"text": self._text, "proximity": self.proximity(self._vector), "target": self._at}

    def _points(self, targets: object) -> list[npt.NDArray[np.float64]]:
        if isinstance(targets, Sequence) and targets and not isinstance(targets, str) and not isinstance(targets[0], str):
            points = [self._point(target) for target in targets]
        else:
            points = self._vectors(_stages.features(targets, space=[self.space], quiet=True))  # type: ignore[arg-type]
        if not points:
            raise ValueError("no targets: no program among them has a vector")
        return points

    def _point(self, target: Vector) -> npt.NDArray[np.float64]:
        if isinstance(target, Mapping):
            if unknown := set(target) - set(self.dimensions):
                raise ValueError(f"{self.space} has no dimension {min(unknown)}: there are {', '.join(self.dimensions)}")
            target = [target.get(dimension, 0.0) for dimension in self.dimensions]
        point = np.asarray(target, dtype=np.float64)
        if point.shape != (len(self.dimensions),):
            raise ValueError(f"a point of {self.space} has {len(self.dimensions)} values, not {len(point)}")
        return point

    def _vectors(self, described: Dataset) -> list[npt.NDArray[np.float64]]:
        rows = described.to_arrow(raw=True).column(self.space).to_pylist()
        values = [list(row.values()) if isinstance(row, Mapping) else row for row in rows if row is not None]
        return [np.asarray(row, dtype=np.float64) for row in values]


gymnasium.register("stampmill/Steer-v0", entry_point="stampmill.gym:SteerEnv")
