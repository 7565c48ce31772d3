"""Steering as an environment."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
import stampmill
from gymnasium.utils.env_checker import check_env
from stampmill.gym import PASSES, START, PassEnv, SteerEnv

NEAR = "kernel void near(global int* p0, global float* p1, int p2) { p0[get_global_id(0)] = p2 + p0[1]; }"


@pytest.fixture
def env() -> SteerEnv:
    return SteerEnv([NEAR], choices=8, steps=4)


def test_the_checker_of_gymnasium_is_content(env: SteerEnv) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A count has no upper bound.
        warnings.filterwarnings("ignore", message=".*(infinity|precision lowered).*")
        check_env(env, skip_render_check=True)


def test_it_can_be_made_by_name() -> None:
    made = gymnasium.make("stampmill/Steer-v0", targets=[NEAR], choices=4, steps=2)
    observation, _ = made.reset(seed=0)
    assert made.observation_space.contains(observation)


def test_kernels_on_offer_are_others_and_lie_where_they_say(env: SteerEnv) -> None:
    observation, info = env.reset(seed=3)
    assert info["text"] == START and observation["mask"].sum() > 1
    offered = [text for text, _ in env._offered]
    assert START not in offered
    described = stampmill.features(offered, space="instcount").to_arrow(raw=True).column("instcount").to_pylist()
    assert described == [row.tolist() for row in observation["candidates"][: len(offered)]]


def test_the_reward_is_the_proximity_gained(env: SteerEnv) -> None:
    observation, info = env.reset(seed=3)
    gains = [env.proximity(row) - info["proximity"] for row in observation["candidates"][observation["mask"] == 1]]
    best = int(np.argmax(gains))
    after, reward, _, _, later = env.step(np.int64(best))
    assert reward == pytest.approx(gains[best]) and later["proximity"] == pytest.approx(info["proximity"] + reward)
    assert (after["vector"] == observation["candidates"][best]).all()


def test_the_nearest_choice_leads_to_the_target() -> None:
    env = SteerEnv([NEAR], choices=24, steps=16)
    observation, _ = env.reset(seed=1)
    terminated = truncated = False
    total = 0.0
    while not (terminated or truncated):
        far = np.linalg.norm(observation["candidates"] - observation["target"], axis=1)
        far[observation["mask"] == 0] = np.inf
        observation, reward, terminated, truncated, info = env.step(np.int64(far.argmin()))
        total += reward
    assert terminated and info["proximity"] == 1.0 and total > 0


def test_a_place_without_a_kernel_keeps_the_present_one(env: SteerEnv) -> None:
    env.reset(seed=3)
    env._offered = env._offered[:2]
    _, reward, terminated, _, info = env.step(np.int64(7))
    assert reward == 0 and not terminated and info["text"] == START


def test_an_episode_ends_after_its_steps(env: SteerEnv) -> None:
    env.reset(seed=0)
    env._offered = []
    ends = [env.step(np.int64(7))[3] for _ in range(3)]
    assert ends == [False, False, False] and env.step(np.int64(7))[3]


def test_a_target_that_no_program_can_have_is_named() -> None:
    with pytest.raises(ValueError, match="target 0 is impossible: .*every kernel has at least one"):
        SteerEnv([{"Load": 1}]).reset(seed=0)


@pytest.mark.parametrize(
    ("targets", "message"),
    [([{"Laod": 1}], "no dimension Laod"), ([[1.0, 2.0]], "has 70 values, not 2"), (["kernel void broken("], "no targets")],
)
def test_targets_that_are_none_are_refused(targets: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SteerEnv(targets)  # type: ignore[arg-type]


LOOP = "int sum(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * 2; return s; }"


def test_the_checker_is_content_with_the_environment_of_passes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(infinity|precision lowered).*")
        check_env(PassEnv([LOOP], steps=3), skip_render_check=True)


def test_every_pass_is_known_and_leaves_a_whole_module() -> None:
    env = PassEnv([LOOP], steps=len(PASSES))
    env.reset(seed=0)
    for action in range(len(PASSES)):
        _, _, terminated, _, info = env.step(np.int64(action))
        assert not terminated, f"{PASSES[action]}: {info['verdict']}"


def test_the_reward_is_a_share_of_what_oz_takes_away() -> None:
    env = PassEnv([LOOP], passes=["default<Oz>", "verify"], render_mode="ansi")
    observation, info = env.reset(seed=0)
    first = info["instructions"]
    after, reward, terminated, truncated, info = env.step(np.int64(0))
    assert reward == pytest.approx((first - info["instructions"]) / (first - info["oz"])) and reward > 0.5
    assert not terminated and not truncated and env.render() == "default<Oz>"
    assert env.module()[:2] == b"BC" and after["passes"].tolist() == [1.0, 0.0]
    assert env.step(np.int64(1))[1] == 0.0


def test_a_program_that_does_not_compile_is_an_error() -> None:
    with pytest.raises(ValueError, match="program 0 cannot be optimized: does-not-compile: expected"):
        PassEnv(["int broken( {"])
