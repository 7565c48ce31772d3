"""Answers pip in place of a package's build system: name and version of a source distribution are in its PKG-INFO.

pip asks a build system in a process of its own, and names it in the environment; Python reads this file first in every process. Nothing
of the package runs, and what it needs for building need not be fetched."""
import os
import sys
import types


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    from email.parser import HeaderParser

    with open("PKG-INFO", encoding="utf-8", errors="replace") as file:
        told = HeaderParser().parse(file, headersonly=True)
    name, version = told["Name"].strip(), told["Version"].strip()
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    os.makedirs(os.path.join(metadata_directory, folder))
    with open(os.path.join(metadata_directory, folder, "METADATA"), "w", encoding="utf-8") as file:
        file.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return folder


# The names of pip 23.1 and later, and those before.
for prefix in ("_PYPROJECT_HOOKS_", "PEP517_"):
    module, _, inner = os.environ.get(prefix + "BUILD_BACKEND", "").partition(":")
    parts = module.split(".") if module else []
    for depth in range(1, len(parts) + 1):
        answer = types.ModuleType(".".join(parts[:depth]))
        answer.__path__ = []
        # A build system that travels in the package must lie where the package says.
        answer.__file__ = os.path.join(os.environ.get(prefix + "BACKEND_PATH", "").split(os.pathsep)[0], "metadata.py")
        answer.prepare_metadata_for_build_wheel = prepare_metadata_for_build_wheel
        sys.modules[answer.__name__] = answer
    for part in inner.split(".") if inner else []:
        holder, answer = answer, types.SimpleNamespace(prepare_metadata_for_build_wheel=prepare_metadata_for_build_wheel)
        setattr(holder, part, answer)
