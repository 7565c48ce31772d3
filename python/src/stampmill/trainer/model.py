"""The model kinds: `transformers`' Llama and BERT, and torch's LSTM, under the names of weights that they have there.

What differs from `transformers`: attention of packed instances, dropout of what each block adds (as in BERT, and as the models that
ship were trained), adapters, and a loss over the places that are learned from.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn

from .batches import Batch
from .corpus import IGNORED
from .failure import Failure
from .settings import Settings, read_json

_KINDS = {"llama": "infill", "bert": "hole", "stampmill-lstm": "lstm", "benchstone-lstm": "lstm"}
# What adapters stand beside, and which of these add to what goes through all layers.
_ADAPTED = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_ADDING = ("o_proj", "down_proj")


def configuration(folder: Path) -> dict[str, Any]:
    """The `config.json` of a folder."""
    config: dict[str, Any] = read_json(folder / "config.json")
    if config.get("model_type") not in _KINDS:
        kinds = ", ".join(sorted(_KINDS))
        raise Failure(f"config.json: no model_type {config.get('model_type')!r}; there are {kinds}")
    return config


def _attend(module: nn.Module, query: Any, key: Any, value: Any, mask: Any, scaling: Any = None, **more: Any) -> Any:
    """Attention within instances: `[rows, heads, length, width]` to `[rows, length, heads, width]`."""
    offsets, keep, length = more.get("offsets"), more.get("keep"), more.get("longest", 0)
    causal = bool(module.is_causal)
    query, key = query.to(value.dtype), key.to(value.dtype)
    if offsets is None:
        grouped = query.shape[1] != key.shape[1]
        y = F.scaled_dot_product_attention(
            query, key, value, attn_mask=keep, is_causal=causal and keep is None, scale=scaling, enable_gqa=grouped
        )
        return y.transpose(1, 2), None
    query, key, value = (x.transpose(1, 2).flatten(0, 1) for x in (query, key, value))
    if query.is_cuda:
        from torch.nn.attention.varlen import varlen_attn

        window = (-1, 0) if causal else (-1, -1)
        y = varlen_attn(query, key, value, offsets, offsets, length, length, scale=scaling, window_size=window)
    else:
        y = _one_by_one(query, key, value, offsets, scaling, causal)
    return y.unsqueeze(0), None


def _one_by_one(query: Any, key: Any, value: Any, offsets: Any, scaling: Any, causal: bool) -> Any:
    """Attention of packed instances where nothing does it at once: on the CPU, to test what is packed."""
    sizes = offsets.diff().tolist()
    parts = zip(*(x.transpose(0, 1).split(sizes, 1) for x in (query, key, value)))
    return torch.cat(
        [F.scaled_dot_product_attention(*part, is_causal=causal, scale=scaling, enable_gqa=True) for part in parts], 1
    ).transpose(0, 1)


class Language(nn.Module):
    """A model of one of the kinds; computes the summed loss of a batch."""

    def __init__(self, config: dict[str, Any], settings: Settings, half: bool) -> None:
        super().__init__()
        self.kind = _KINDS[config["model_type"]]
        self.half, self.length, self.pad = half, settings.length, settings.special.pad
        dropout = settings.dropout
        self.net = {"infill": _llama, "hole": _bert, "lstm": _Lstm}[self.kind](config, dropout).float()
        self.adapters: dict[str, nn.Linear] = {}
        if self.kind == "infill":
            llama = self.net.model
            if half:
                # What goes through all layers is in bf16, as all else that a GPU keeps for the way back.
                llama.embed_tokens.register_forward_hook(lambda module, read, y: y.to(torch.bfloat16))
            if settings.lora:
                self._adapt(settings.lora, dropout)
            if dropout > 0.0:
                adding = [m for name, m in llama.named_modules() if name.rpartition(".")[2] in _ADDING]
                for module in [llama.embed_tokens, *adding]:
                    module.register_forward_hook(lambda module, read, y: F.dropout(y, dropout, module.training))
        elif settings.lora:
            raise Failure("adapters are for models of the Llama family")

    def forward(self, input: Any, target: Any, places: Any = None, positions: Any = None, offsets: Any = None) -> Any:
        kind = torch.bfloat16 if self.half else torch.float32
        with torch.autocast(input.device.type, kind, enabled=self.half):
            hidden = self._hidden(input, positions, offsets).flatten(0, 1)
            if places is not None:
                hidden = hidden.index_select(0, places)
            logits = self._head(hidden)
        return F.cross_entropy(logits.float(), target.flatten(), reduction="sum", ignore_index=IGNORED)

    def loss(self, batch: Batch) -> torch.Tensor:
        """The summed loss."""
        loss: torch.Tensor = self(batch.input, batch.target, batch.places, batch.positions, batch.offsets)
        return loss

    def _hidden(self, input: Any, positions: Any, offsets: Any) -> Any:
        if self.kind == "lstm":
            return self.net(input)
        keep = None
        if self.kind == "hole" and offsets is None:
            keep = (input != self.pad)[:, None, None, :].expand(-1, 1, input.shape[1], -1)
        more = {"position_ids": positions, "offsets": offsets, "keep": keep, "longest": self.length}
        inner = self.net.model if self.kind == "infill" else self.net.bert
        return inner(input, use_cache=False, **more).last_hidden_state

    def _head(self, hidden: Any) -> Any:
        if self.kind == "hole":
            return self.net.cls(hidden)
        return (self.net.lm_head if self.kind == "infill" else self.net.head)(hidden)

    def weights(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The weights of a checkpoint by name, in the order in which they are drawn."""
        own = [(name, weight) for name, weight in self.net.named_parameters() if ".lora_" not in name]
        yield from sorted(own, key=lambda named: named[0].startswith("bert.encoder"))

    def trained(self) -> dict[str, nn.Parameter]:
        """The weights that training changes: all of them, or adapters."""
        return {name: weight for name, weight in self.net.named_parameters() if weight.requires_grad}

    def draw(self, seed: int) -> None:
        """Fresh weights, from `seed` alone: the same on every device."""
        torch.manual_seed(seed)
        with torch.no_grad():
            for name, weight in self.weights():
                weight.copy_(self._begin(name, weight.shape))

    def _begin(self, name: str, shape: torch.Size) -> torch.Tensor:
        if self.kind == "lstm":
            if name == "head.bias":
                return torch.zeros(shape)
            if name == "embedding.weight":
                return torch.randn(shape) * 0.1
            return (torch.rand(shape) * 2.0 - 1.0) / math.sqrt(self.net.head.in_features)
        if len(shape) == 1:
            return torch.ones(shape) if name.endswith(("norm.weight", "LayerNorm.weight")) else torch.zeros(shape)
        deviation = 0.02
        if name.rpartition(".")[0].endswith(_ADDING):
            # Outputs into what goes through all layers begin smaller, the more there are (Radford et al. 2019).
            deviation /= math.sqrt(2.0 * len(self.net.model.layers))
        return torch.randn(shape) * deviation

    def read(self, folder: Path) -> None:
        """The weights of a checkpoint's folder."""
        index = folder / "model.safetensors.index.json"
        names = ["model.safetensors"]
        if not (folder / names[0]).is_file() and index.is_file():
            names = sorted(set(read_json(index)["weight_map"].values()))
        held: dict[str, torch.Tensor] = {}
        for name in names:
            held.update(read_tensors(folder / name))
        with torch.no_grad():
            for name, weight in self.weights():
                if name not in held:
                    raise Failure(f"{folder} lacks the tensor {name}")
                if held[name].shape != weight.shape:
                    shapes = f"has shape {list(held[name].shape)}, config.json asks for {list(weight.shape)}"
                    raise Failure(f"{folder}: {name} {shapes}")
                weight.copy_(held[name])

    def _adapt(self, lora: dict[str, Any], dropout: float) -> None:
        """Adapters of low rank (Hu et al. 2022): beside each projection `W` of a layer, `W + alpha / rank · B A` is computed.
        `B` begins with zeros, so that training begins where the base model is."""
        rank, self.lora = lora["rank"], lora
        scale = lora["alpha"] / rank
        for weight in self.net.parameters():
            weight.requires_grad_(False)
        found = {name: module for name, module in self.net.named_modules() if name.rpartition(".")[2] in _ADAPTED}
        most = min(min(module.weight.shape) for module in found.values())
        if not 1 <= rank <= most:
            raise Failure(f"a rank of {rank} makes no adapters; this model takes 1 to {most}")
        for name, module in found.items():
            module.lora_A = nn.Linear(module.in_features, rank, bias=False)
            module.lora_B = nn.Linear(rank, module.out_features, bias=False)

            def add(module: Any, read: Any, y: Any) -> Any:
                low = module.lora_A(F.dropout(read[0], dropout, module.training))
                return y + module.lora_B(low) * scale

            module.register_forward_hook(add)
            self.adapters[name] = module

    def draw_adapters(self, seed: int) -> None:
        """Fresh adapters, from `seed` alone."""
        torch.manual_seed(seed)
        with torch.no_grad():
            for module in self.adapters.values():
                drawn = torch.rand(module.lora_A.weight.shape) * 2.0 - 1.0
                module.lora_A.weight.copy_(drawn / math.sqrt(module.in_features))
                module.lora_B.weight.zero_()

    def save(self, folder: Path) -> None:
        """Write the weights in bf16 to `model.safetensors` of a folder, adapters added to those that they adapt, and adapters to
        its folder `adapter` as the library `peft` reads them."""
        tensors = {name: weight.detach() for name, weight in self.weights()}
        own = {}
        for name, module in self.adapters.items():
            down, up = module.lora_A.weight.detach(), module.lora_B.weight.detach()
            tensors[f"{name}.weight"] = module.weight.detach() + up @ down * (self.lora["alpha"] / self.lora["rank"])
            own[f"base_model.model.{name}.lora_A.weight"], own[f"base_model.model.{name}.lora_B.weight"] = down, up
        if own:
            target = folder / "adapter"
            target.mkdir(exist_ok=True)
            write_tensors(target / "adapter_model.safetensors", own)
            config = {
                "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": self.lora["rank"], "lora_alpha": self.lora["alpha"],
                "lora_dropout": 0.0, "bias": "none", "fan_in_fan_out": False, "inference_mode": True,
                "init_lora_weights": True, "target_modules": list(_ADAPTED),
            }  # fmt: skip
            (target / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
        write_tensors(folder / "model.safetensors", {name: t.to(torch.bfloat16) for name, t in tensors.items()})


def _llama(config: dict[str, Any], dropout: float) -> nn.Module:
    from transformers import AttentionInterface, LlamaConfig, LlamaForCausalLM

    AttentionInterface.register("stampmill", _attend)
    return LlamaForCausalLM(LlamaConfig.from_dict(config, attn_implementation="stampmill"))


def _bert(config: dict[str, Any], dropout: float) -> nn.Module:
    from transformers import AttentionInterface, BertConfig, BertForMaskedLM

    AttentionInterface.register("stampmill", _attend)
    own = {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": 0.0, "tie_word_embeddings": False}
    net = BertForMaskedLM(BertConfig.from_dict({**config, **own}, attn_implementation="stampmill"))
    # There are no token types, and one bias.
    net.bert.embeddings.token_type_embeddings = _Nothing()
    net.cls.predictions.decoder.bias = net.cls.predictions.bias
    return net


class _Nothing(nn.Module):
    def forward(self, read: Any) -> float:
        return 0.0


class _Lstm(nn.Module):
    """CLgen's model (Cummins et al., CGO'17, section 4.2): stacked LSTM layers over characters."""

    def __init__(self, config: dict[str, Any], dropout: float) -> None:
        super().__init__()
        width, layers = config["hidden_size"], config["num_hidden_layers"]
        self.embedding = nn.Embedding(config["vocab_size"], width)
        self.lstm = nn.LSTM(width, width, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)
        self.head = nn.Linear(width, config["vocab_size"])

    def forward(self, read: Any) -> Any:
        return self.lstm(self.embedding(read))[0]


def read_tensors(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file."""
    try:
        tensors: dict[str, torch.Tensor] = load_file(path)
    except OSError as error:
        raise Failure(f"cannot read {path}: {error}") from None
    except Exception as error:
        raise Failure(f"{path} is no safetensors file, or is cut short: {error}") from None
    return tensors


def write_tensors(path: Path, tensors: dict[str, torch.Tensor], **metadata: str) -> None:
    """Write tensors under a temporary name, then rename: nothing half-written is left."""
    temporary = path.with_suffix(".new")
    held = {name: tensor.detach().to("cpu").contiguous() for name, tensor in tensors.items()}
    save_file(held, temporary, {"format": "pt", **metadata})
    temporary.replace(path)
