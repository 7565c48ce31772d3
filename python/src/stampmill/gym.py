"""Gymnasium environments: `SteerEnv`, where edits of a kernel, chosen one by one, lead it to a point of a feature space,
and `PassEnv`, where passes of LLVM, chosen one by one, make a program small.

    from stampmill.gym import SteerEnv

    env = SteerEnv(targets=["kernel void near(global int* x, int y) { x[get_global_id(0)] = x[0] + y; }"])
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(0)

Needs `gymnasium`: `pip install 'stampmill[gym]'`. `import stampmill` alone does not load this module.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
except ImportError:
    raise ImportError("stampmill.gym needs Gymnasium: pip install 'stampmill[gym]'") from None

from . import _stages
from ._dataset import Dataset
from ._texts import SUFFIXES, Inputs, Language, Programs, labelled

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["PASSES", "START", "PassEnv", "SteerEnv"]

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
        self._first = _vectors(described, space)[0]
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
            points = _vectors(_stages.features(targets, space=[self.space], quiet=True), self.space)  # type: ignore[arg-type]
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


_FUNCTION = (
    "adce aggressive-instcombine bdce correlated-propagation dce div-rem-pairs dse early-cse early-cse<memssa> float2int gvn gvn-hoist "
    "gvn-sink instcombine instsimplify jump-threading mem2reg memcpyopt mergeicmps newgvn reassociate sccp simplifycfg sink slsr "
    "speculative-execution sroa tailcallelim"
)
_LOOP = "indvars loop-deletion loop-idiom loop-instsimplify loop-rotate loop-simplifycfg"
_MODULE = "argpromotion called-value-propagation deadargelim function-attrs globaldce globalopt inline ipsccp mergefunc"
_GROUP = {"argpromotion", "function-attrs", "inline"}

PASSES = (
    *(f"function({name})" for name in _FUNCTION.split()),
    *(f"function(loop({name}))" for name in _LOOP.split()),
    "function(loop-mssa(licm))",
    "function(loop-unroll)",
    *(f"cgscc({name})" if name in _GROUP else name for name in _MODULE.split()),
)
"""Passes that `PassEnv` offers, unless told otherwise; each stands alone in a list of `opt -passes`."""


class PassEnv(gymnasium.Env[Observation, np.int64]):
    """A program before any optimization, and passes of LLVM that are chosen one after the other.

    The action is the place of a pass in `passes`. The whole list of the episode's passes is applied to the program anew.

    Observation, a dictionary of arrays of floats:
        vector: the module's as it is now, one value for each dimension of the space.
        passes: how often each pass was chosen.

    Reward: instructions that the pass took away / instructions that clang's -Oz takes away of the program (at least 1),
    so that an episode's sum is above 1 where it beats -Oz. A pass may make a module larger.
    An episode is truncated after `steps`, and terminated where a pass breaks the module or crashes (reward 0, `info`
    has the verdict). `info` has `passes`, `instructions`, `oz`, `program` and `verdict`.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(
        self,
        programs: Union[Programs, Sequence[str]],
        *,
        language: Language = "c",
        passes: Sequence[str] = PASSES,
        space: str = "autophase",
        steps: int = 24,
        render_mode: Optional[str] = None,
    ) -> None:
        """Take the programs.

        Args:
            programs: texts in memory, or files; an episode draws one.
            language: of texts in memory: `"c"`, `"c++"`, `"rust"`, `"llvm"` or `"opencl"`.
            passes: what is offered, as `opt -passes` takes it.
            space: the feature space that describes the module: one of IR.
            steps: passes of an episode at most.
            render_mode: `"ansi"`: `render()` gives the list of passes.

        Raises:
            ValueError: there is no program or no pass, or a program does not compile; of the others this is found when
                an episode of it begins.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"no render mode {render_mode!r}: there is 'ansi'")
        if steps < 1 or not passes:
            raise ValueError(f"{steps} steps, {len(passes)} passes: both must be 1 or more")
        self.render_mode = render_mode
        self.space = space
        self.passes = list(passes)
        self._steps = steps
        self._folder = Path(tempfile.mkdtemp(prefix="stampmill-"))
        self._removed = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._programs = self._files(programs, language)
        self._bounds: dict[int, int] = {}
        self._begin(0)
        wide = len(self._vector)
        self.observation_space = spaces.Dict(
            {
                "vector": spaces.Box(0.0, np.inf, (wide,), np.float64),
                "passes": spaces.Box(0.0, np.inf, (len(self.passes),), np.float64),
            }
        )
        self.action_space = spaces.Discrete(len(self.passes))

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; `options={"program": 3}` says of which program."""
        super().reset(seed=seed)
        asked = (options or {}).get("program")
        self._begin(int(self.np_random.integers(len(self._programs))) if asked is None else int(asked))
        return self._seen(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        before = self._instructions
        self._chosen.append(int(action))
        whole = self._apply()
        gained = (before - self._instructions) / max(1, self._first - self._oz()) if whole else 0.0
        return self._seen(), gained, not whole, whole and len(self._chosen) >= self._steps, self._info()

    def render(self) -> Optional[str]:
        return ",".join(self.passes[place] for place in self._chosen) if self.render_mode == "ansi" else None

    def close(self) -> None:
        self._removed()

    def module(self) -> bytes:
        """The module as it is now, as bitcode."""
        return (self._folder / "module.bc").read_bytes()

    def _begin(self, program: int) -> None:
        """The program as it is before any pass."""
        self._at = program
        self._chosen: list[int] = []
        if not self._apply():
            raise ValueError(f"program {program} cannot be optimized: {self._verdict}: {self._detail}")
        self._first = self._instructions

    def _apply(self) -> bool:
        """Apply the passes to the program; whether the module is whole."""
        pipeline = ",".join(self.passes[place] for place in self._chosen) or "verify"
        listed, module = (self._folder / name for name in ("passes.txt", "module.bc"))
        # The command compares pipelines, two or more.
        listed.write_text(f"one - {pipeline}\ntwo - {pipeline}\n")
        told = _stages.opt(self._programs[self._at], pipelines=listed, out=module, force=True, quiet=True)
        self._verdict, self._detail = str(told.get("verdict", "accepted")), str(told.get("detail", ""))
        if self._verdict != "accepted":
            return False
        self._instructions = int(told["instructions"])
        described = _stages.features(module, space=[self.space], quiet=True)
        self._vector = _vectors(described, self.space)[0]
        return True

    def _oz(self) -> int:
        """Instructions that -Oz leaves of the program."""
        if self._at not in self._bounds:
            self._bounds[self._at] = int(_stages.opt(self._programs[self._at], quiet=True)["oz"])
        return self._bounds[self._at]

    def _seen(self) -> Observation:
        counts = np.bincount(self._chosen, minlength=len(self.passes)).astype(np.float64)
        return {"vector": self._vector.copy(), "passes": counts}

    def _info(self) -> dict[str, Any]:
        chosen = [self.passes[place] for place in self._chosen]
        return {"passes": chosen, "instructions": self._instructions, "oz": self._oz(), "program": self._at, "verdict": self._verdict}

    def _files(self, programs: object, language: Language) -> list[Path]:
        if isinstance(programs, (str, Path)):
            found = [Path(programs)] if Path(programs).is_file() else sorted(path for path in Path(programs).iterdir() if path.is_file())
        else:
            found = []
            for place, text in enumerate(labelled(programs).texts):
                file = self._folder / f"program-{place:08}.{SUFFIXES[language]}"
                file.write_text(text, encoding="utf-8", errors="surrogateescape")
                found.append(file)
        if not found:
            raise ValueError("no programs: give texts in a list, or a file or folder of programs")
        return found


def _vectors(described: Dataset, space: str) -> list[npt.NDArray[np.float64]]:
    rows = described.to_arrow(raw=True).column(space).to_pylist()
    values = [list(row.values()) if isinstance(row, Mapping) else row for row in rows if row is not None]
    return [np.asarray(row, dtype=np.float64) for row in values]


gymnasium.register("stampmill/Steer-v0", entry_point="stampmill.gym:SteerEnv")
gymnasium.register("stampmill/Pass-v0", entry_point="stampmill.gym:PassEnv")
