"""The functions have the options of their commands, no more and no less."""

from __future__ import annotations

import inspect
import re
import subprocess
from functools import cache

import pytest
from stampmill import _run, _stage
from stampmill._binary import binary

HEADINGS = ("Options", "Options of every command")
# What the module does itself: summaries are JSON, rows are read from the data set.
NOT_OFFERED = {"json", "help", "version", "format"}
# `format` of these says what is written, not what is printed.
FORMAT_IS_OFFERED = {"export", "ir export", "edits export"}
# Keywords of ours: what language texts are in.
OURS = {name: {"language"} for name in ("features", "label", "opt")}
# `stampmill.command` calls them.
NOT_FUNCTIONS = {"help", "show", "serve", "heuristic", "edits", "ir", "completions", "man"}
NOT_FUNCTIONS |= {"cluster", "cluster up", "cluster scheduler", "cluster executor", "cluster status", "cluster help"}
NOT_FUNCTIONS |= {"edits help", "heuristic help", "ir help", "ir wrap"}
OPTION = re.compile(r"^\s{2,6}(?:-\w, )?--([a-z][a-z-]*)(.*)$")


@cache
def help_of(command: str) -> str:
    return subprocess.run([binary(), *command.split(), "-h"], check=True, stdout=subprocess.PIPE, text=True).stdout


def options(command: str) -> dict[str, str]:
    """Options by name, with what is said about them."""
    found: dict[str, str] = {}
    name = ""
    headings = [help_of(command).partition(f"\n{heading}:\n")[2] for heading in HEADINGS]
    for line in [line for text in headings for line in text.partition("\n\n")[0].splitlines()]:
        if match := OPTION.match(line):
            name = match[1]
            found[name] = match[2]
        else:
            found[name] += " " + line.strip()
    return found


def commands(group: str = "") -> set[str]:
    listed = help_of(group).partition("Commands:\n")[2].partition("\n\n")[0]
    return {f"{group} {name}".strip() for name in re.findall(r"^  ([a-z-]+) ", listed, re.M)}


@pytest.mark.parametrize("command", sorted(_stage.COMMANDS))
def test_keywords_are_the_options_of_the_command(command: str) -> None:
    theirs = set(options(command)) - (NOT_OFFERED - ({"format"} if command in FORMAT_IS_OFFERED else set()))
    named = _stage.keywords(_stage.COMMANDS[command]) - OURS.get(command, set())
    ours = {name.rstrip("_").replace("_", "-") for name in named}
    assert ours == theirs


@pytest.mark.parametrize("command", sorted(_stage.COMMANDS))
def test_options_that_may_be_repeated_are_known(command: str) -> None:
    said = {name for name, text in options(command).items() if re.search(r"several times|may be repeated", text)}
    assert said <= _run.REPEATED
    assert not {name for name in options(command) if name in _run.REPEATED} - said - {"exclude", "made"}


@pytest.mark.parametrize("command", sorted(_stage.COMMANDS))
def test_literals_are_the_possible_values(command: str) -> None:
    function = _stage.COMMANDS[command]
    for name, parameter in inspect.signature(function).parameters.items():
        literal = re.search(r"Literal\[([^\]]*)\]", str(parameter.annotation))
        said = re.search(r"\[possible values: ([^\]]*)\]", options(command).get(name.replace("_", "-"), ""))
        if said:
            values = set(re.split(r",\s+", said[1]))
            ours = set(re.findall(r"[\"']([^\"']+)[\"']", literal[1])) if literal else values
            assert ours == values, f"{command} --{name}"


def test_every_command_is_a_function_or_known_not_to_be() -> None:
    there = commands() | commands("edits") | commands("heuristic") | commands("ir")
    assert there - NOT_FUNCTIONS == set(_stage.COMMANDS)
