"""The trainer, as far as it needs neither torch nor a model."""

from __future__ import annotations

import pytest
from stampmill.trainer.settings import is_half


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_an_lstm_is_trained_in_numbers_of_32_bits_on_every_device(device: str) -> None:
    assert not is_half("lstm", device, None)


@pytest.mark.parametrize("kind", ["hole", "infill"])
def test_transformers_are_trained_in_numbers_of_16_bits_on_a_gpu(kind: str) -> None:
    assert is_half(kind, "cuda", None) and not is_half(kind, "cpu", None)


@pytest.mark.parametrize("kind", ["lstm", "hole", "infill"])
def test_a_precision_that_is_named_is_kept(kind: str) -> None:
    for device in ("cpu", "cuda"):
        assert is_half(kind, device, "bf16") and not is_half(kind, device, "f32")
