"""The wheel's platform, where it holds binaries: `scripts/wheel.sh` names it in STAMPMILL_WHEEL_TAG."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Platform(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        tag = os.environ.get("STAMPMILL_WHEEL_TAG")
        if tag:
            build_data["tag"] = tag
            build_data["pure_python"] = False
