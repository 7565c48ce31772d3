"""The command line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .failure import Failure


def arguments() -> argparse.ArgumentParser:
    """What can be asked."""
    parser = argparse.ArgumentParser(prog="stampmill-trainer", description="Trains Stampmill's language models, and draws from them.")
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="train in a folder that `stampmill train --prepare-only` made")
    bench = commands.add_parser("bench", help="measure the speed of training")
    for command in (train, bench):
        command.add_argument("folder", type=Path, help="the training folder")
        command.add_argument("--device", default="auto", help="cpu, cuda, or auto for CUDA where there is one")
        command.add_argument("--precision", choices=["bf16", "f32"], help="unless given bf16 on a GPU, and f32 on a CPU and for `lstm`")
        command.add_argument("--micro-tokens", type=int, help="places of one pass through the model; a step's gradient is summed")
        command.add_argument("--compile", action=argparse.BooleanOptionalAction, help="compile however short the run is, or not at all")
        command.add_argument("--packed", action=argparse.BooleanOptionalAction, help="pack instances into rows of one size; on a GPU unless said")
    train.add_argument("--seconds", type=float, help="stop after this time, as if the budget were used up")
    train.add_argument("--steps", type=int, default=sys.maxsize, help="stop after this many steps in all")
    train.add_argument("--resume", action="store_true", help="go on where a stopped run was")
    train.add_argument("--no-state", action="store_true", help="do not keep what is needed to resume")
    bench.add_argument("--batch", type=int, default=64, help="sequences of a step")
    bench.add_argument("--length", type=int, default=1024, help="tokens of a sequence")
    bench.add_argument("--steps", type=int, default=20, help="steps of a timed window, after eight that are not timed")
    bench.add_argument("--windows", type=int, default=3, help="timed windows")
    sample = commands.add_parser("sample", help="draw ids from a checkpoint, without a constraint")
    sample.add_argument("folder", type=Path, help="a checkpoint, or a folder that was trained in")
    sample.add_argument("--n", type=int, default=1000, help="how many rows")
    sample.add_argument("--prompt-ids", type=_ids, default=[], help="ids that each row begins with, behind the one that begins a text")
    sample.add_argument("--length", type=int, default=512, help="most new ids of a row")
    sample.add_argument("--temperature", type=float, default=1.0, help="divides the logits; 0 takes the largest")
    sample.add_argument("--seed", type=int, default=0, help="the same seed draws the same on one device")
    sample.add_argument("--batch", type=int, default=1024, help="rows side by side")
    sample.add_argument("--device", default="auto", help="cpu, cuda, or auto for CUDA where there is one")
    sample.add_argument("--precision", choices=["bf16", "f32"], help="unless given bf16 on a GPU, and f32 on a CPU and for `lstm`")
    sample.add_argument("--out", type=Path, required=True, help="the file to write: a JSON list of new ids a line")
    devices = commands.add_parser("devices", help="say what there is to train on")
    devices.add_argument("--device", default="auto", help="fail, saying why, where this one cannot be used")
    return parser


def _ids(text: str) -> list[int]:
    """Ids with commas between them."""
    return [int(id) for id in text.split(",") if id]


def main() -> int:
    """Run a command; answers the exit status."""
    options = arguments().parse_args()
    try:
        from . import train

        if options.command == "devices":
            print(json.dumps({"device": str(train.choose(options.device))}))
        elif options.command == "bench":
            from . import bench

            print(json.dumps(bench.run(options)))
        elif options.command == "sample":
            from . import sample

            print(json.dumps(sample.run(options)))
        else:
            training = train.Training(options.folder, options)
            if options.resume:
                training.restore()
            training.run(options.steps, options.seconds, not options.no_state)
    except Failure as failure:
        print(f"stampmill-trainer: {failure}", file=sys.stderr)
        return 2
    except ImportError as error:
        print(f"stampmill-trainer: {error}: it needs torch, transformers, safetensors and numpy", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
