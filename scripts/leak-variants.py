#!/usr/bin/env python3
"""Copies of kernels, changed in thirteen ways that leave what they do, or a part or more of it.

usage: leak-variants.py < kernels.jsonl > variants.jsonl

Reads lines {"id", "text"} of kernels in the normal form of `prepare` and writes lines {"id", "change", "part",
"texts"}: the same change made in one or more ways, the most thorough first. The first that compiles is meant; whoever
reads the lines asks a compiler. A change that does not apply to a kernel (the loop form of a kernel without loops)
has no line. `split` has two lines, one for each part; `merged` joins a kernel with the next one of the input.
"""
import hashlib
import json
import re
import sys

TOKEN = re.compile(r'#[^\n]*|//[^\n]*|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|0[xX][0-9a-fA-F.]*(?:[pP][+-]?\d+)?\w*|'
                   r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\w*|\w+|<<=|>>=|\.\.\.|->|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^!=<>]=|\S")
SCALAR = r"(?:bool|u?char|u?short|u?int|u?long|float|double|half|size_t|ptrdiff_t|uintptr_t|intptr_t)"
TYPE = re.compile(rf"{SCALAR}(?:2|3|4|8|16)?|void|unsigned|signed|struct|union|enum|T[a-z]+|const|volatile|static|"
                  r"(?:__)?(?:local|private|global|constant)|sampler_t|image\w+_t|event_t")
OWN = re.compile(r"[a-z]{1,2}|[A-Z]{1,3}|T[a-z]+")
KEYWORDS = {"if", "do", "for", "int"}
SWIZZLE = re.compile(r"[xyzw]+|[sS][0-9a-fA-F]+|lo|hi|even|odd")
INTEGER = {"char", "short", "int", "long", "signed", "unsigned"}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


def lex(text):
    return [token for token in TOKEN.findall(text) if not token.startswith("//")]


def show(tokens):
    lines = []
    for token in tokens:
        lines.append("\n" + token + "\n" if token.startswith("#") else token)
    return re.sub(r"([;{}])", r"\1\n", " ".join(lines)) + "\n"


def match(tokens, at):
    """Place of the bracket that closes the one at `at`."""
    depth = 0
    for here in range(at, len(tokens)):
        depth += (tokens[here] in OPEN) - (tokens[here] in CLOSE)
        if depth == 0:
            return here
    raise ValueError("no closing bracket")


def pieces(tokens, separator=","):
    """Cut where the separator stands outside of brackets."""
    found, depth = [[]], 0
    for token in tokens:
        depth += (token in OPEN) - (token in CLOSE)
        if token == separator and depth == 0:
            found.append([])
        else:
            found[-1].append(token)
    return [piece for piece in found if piece]


class Kernel:
    """A program of one kernel, which is its last function."""

    def __init__(self, text):
        tokens = lex(text)
        start = max(at for at, token in enumerate(tokens) if token in ("kernel", "__kernel"))
        attribute = max((at for at, token in enumerate(tokens[:start]) if token == "__attribute__"), default=None)
        while attribute is not None and match(tokens, attribute + 1) + 1 == start:
            start = attribute
            attribute = max((at for at, token in enumerate(tokens[:start]) if token == "__attribute__"), default=None)
        body = next(at for at in range(start, len(tokens)) if tokens[at] == "{")
        end = match(tokens, body)
        close = body - 1
        while tokens[close] != ")":
            close -= 1
        depth, open_ = 0, close
        while True:
            depth += (tokens[open_] == ")") - (tokens[open_] == "(")
            if depth == 0:
                break
            open_ -= 1
        self.before, self.head = tokens[:start], tokens[start:open_]
        self.parameters = pieces(tokens[open_ + 1:close])
        self.body, self.after = tokens[body + 1:end], tokens[end + 1:]

    def text(self, **new):
        parts = {**self.__dict__, **new}
        parameters = [token for one in parts["parameters"] for token in [*one, ","]][:-1]
        tokens = [*parts["before"], *parts["head"], "(", *parameters, ")", "{", *parts["body"], "}", *parts["after"]]
        return show(parts.get("top", []) + tokens)

    def names(self):
        """Names of the parameters, in order."""
        return [[token for token in one if re.fullmatch(r"\w+", token)][-1] for one in self.parameters]

    def all(self):
        return lex(self.text())


def statement(tokens, at):
    """Place behind the statement that begins at `at`."""
    token = tokens[at]
    if token.startswith("#"):
        return statement(tokens, at + 1) if at + 1 < len(tokens) else at + 1
    if token == "{":
        return match(tokens, at) + 1
    if token in ("if", "for", "while", "switch"):
        end = statement(tokens, match(tokens, at + 1) + 1)
        if token == "if" and end < len(tokens) and tokens[end] == "else":
            end = statement(tokens, end + 1)
        return end
    if token == "do":
        end = statement(tokens, at + 1)
        return match(tokens, end + 1) + 2
    if token in ("case", "default"):
        return next(here for here in range(at, len(tokens)) if tokens[here] == ":") + 1
    while tokens[at] != ";":
        at = match(tokens, at) + 1 if tokens[at] in OPEN else at + 1
    return at + 1


def statements(tokens):
    found, at = [], 0
    while at < len(tokens):
        end = statement(tokens, at)
        found.append(tokens[at:end])
        at = end
    return found


def is_declaration(tokens):
    return bool(TYPE.fullmatch(tokens[0])) and len(tokens) > 1 and tokens[1] != "("


def rename(tokens, salt):
    """All names that the program gives, other than components of vectors."""
    found, inside = [], 0
    for at, token in enumerate(tokens):
        if token in ("struct", "union") and "{" in tokens[at:at + 3]:
            inside = match(tokens, tokens.index("{", at))
        before = tokens[at - 1] if at else ""
        is_field = before in (".", "->") or at < inside
        if OWN.fullmatch(token) and token not in KEYWORDS and not (is_field and SWIZZLE.fullmatch(token)):
            token = "n" + hashlib.sha256((salt + token).encode()).hexdigest()[:7]
        found.append(token)
    return found


def renamed(kernel, _):
    return [show(rename(kernel.all(), "renamed"))]


def swapped(tokens):
    """Neighbouring declarations exchanged where neither needs the other, and the operands of simple sums."""
    found = statements(tokens)
    at = 0
    while at + 1 < len(found):
        one, two = found[at], found[at + 1]
        names = [next((token for token in one if OWN.fullmatch(token) and not TYPE.fullmatch(token)), None) for one in (one, two)]
        is_plain = all(is_declaration(one) and "," not in one and "++" not in one and "--" not in one for one in (one, two))
        if is_plain and None not in names and names[0] not in two and names[1] not in one:
            found[at], found[at + 1] = two, one
            at += 1
        at += 1
    flat = []
    for one in found:
        if "{" in one and not is_declaration(one):
            here = 0
            while here < len(one):
                if one[here] == "{":
                    end = match(one, here)
                    flat += ["{", *swapped(one[here + 1:end]), "}"]
                    here = end + 1
                else:
                    flat.append(one[here])
                    here += 1
        else:
            flat += one
    for at in range(1, len(flat) - 3):
        is_sum = flat[at + 1] in ("+", "*") and re.fullmatch(r"[a-z]{1,2}", flat[at]) and re.fullmatch(r"[a-z]{1,2}|\d+", flat[at + 2])
        if is_sum and flat[at - 1] in ("(", "=", ",", "[") and flat[at + 3] in (")", ";", ",", "]"):
            flat[at], flat[at + 2] = flat[at + 2], flat[at]
    return flat


def reordered(kernel, _):
    return [kernel.text(parameters=kernel.parameters[::-1], body=swapped(kernel.body)), kernel.text(parameters=kernel.parameters[::-1])]


def parameter(kernel, _):
    added = [["const", "int", "added"], *kernel.parameters, ["__global", "int", "*", "spare"]]
    return [kernel.text(parameters=added, body=lex("if (added == 77) return;") + kernel.body)]


def local(kernel, _):
    return [local_with(kernel, True), local_with(kernel, False)]


def local_with(kernel, has_step):
    body, top = list(kernel.body), []
    at = next((at for at, token in enumerate(body) if re.fullmatch(r"get_\w+", token) and body[at + 1] == "("), None)
    if at is not None:
        end = match(body, at + 1) + 1
        if all(not OWN.fullmatch(token) for token in body[at + 2:end]):
            top += lex("size_t extra =") + body[at:end] + [";"]
            body[at:end] = ["extra"]
    at = next((at for at, token in enumerate(body) if re.fullmatch(r"[1-9]\d*", token) and body[at - 1] in "+-*/<>" and body[at + 1] in ");]"), None)
    if at is not None and has_step:
        top += ["int", "step", "=", body[at], ";"]
        body[at] = "step"
    if not top:
        top = lex("int spare = 5; spare += 2;")
    return kernel.text(body=top + body)


def typedefs(kernel, _):
    tokens, made = kernel.all(), {}
    for at, token in enumerate(tokens):
        near = {tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""}
        if re.fullmatch(rf"{SCALAR}(?:2|3|4|8|16)?", token) and not near & INTEGER:
            made[token] = f"{token}_name"
            tokens[at] = made[token]
    top = [token for old, new in made.items() for token in ("typedef", old, new, ";")]
    return [show(top + tokens)] if made else []


def fetched(kernel):
    """Reads through pointers by helpers."""
    body, helpers = list(kernel.body), []
    for one, name in zip(kernel.parameters, kernel.names()):
        if one.count("*") != 1 or "volatile" in one or not any("global" in token for token in one):
            continue
        at, count = 0, 0
        while at + 1 < len(body):
            if body[at] == name and body[at + 1] == "[" and (not at or body[at - 1] not in ("&", "++", "--", ".", "->")):
                end = match(body, at + 1)
                after = body[end + 1] if end + 1 < len(body) else ""
                if after in (".", "->", "[", "++", "--", "=") or re.fullmatch(r"(?:<<|>>|[-+*/%&|^])=", after):
                    at += 1
                    continue
                body[at:end + 1] = [f"fetch_{name}", "(", name, ",", *body[at + 2:end], ")"]
                count += 1
            at += 1
        if count:
            kind = [token for token in one if token != name and token not in ("restrict", "__restrict", "const")]
            base = [token for token in kind if token != "*" and not re.fullmatch(r"(?:__)?global", token)]
            helpers += [*base, f"fetch_{name}", "(", "const", *kind, "p", ",", "long", "at", ")", *lex("{ return p[at]; }")]
    return body, helpers


def helper(kernel, _):
    body, helpers = fetched(kernel)
    call = [token for name in kernel.names() for token in (name, ",")][:-1]
    parameters = [token for one in kernel.parameters for token in (*one, ",")][:-1]
    whole = ["static", "void", "whole", "(", *parameters, ")", "{", *body, "}"]
    both = kernel.text(before=kernel.before + helpers + whole, body=["whole", "(", *call, ")", ";"])
    found = [both]
    if helpers:
        found.append(kernel.text(before=kernel.before + helpers, body=body))
    at = next((at for at, token in enumerate(body) if re.fullmatch(r"get_\w+_id", token)), None)
    if at is not None:
        outlined = lex("static size_t place(uint of) { return") + [body[at], *lex("(of); }")]
        found.append(kernel.text(before=kernel.before + outlined, body=["place" if token == body[at] else token for token in kernel.body]))
    return found


def looped(tokens):
    found, at = [], 0
    while at < len(tokens):
        token = tokens[at]
        if token.startswith("#") and at + 1 < len(tokens) and tokens[at + 1] in ("for", "while"):
            at += 1
        elif token == "for":
            close = match(tokens, at + 1)
            first, condition, step = (tokens[at + 2:close][a:b] for a, b in cuts(tokens[at + 2:close]))
            end = statement(tokens, close + 1)
            inner = tokens[close + 1:end]
            if "continue" in inner:
                found += tokens[at:close + 1]
                at = close + 1
            else:
                found += ["{", *first, ";", "while", "(", *(condition or ["1"]), ")", "{", *looped(inner), *step, ";", "}", "}"]
                at = end
        elif token == "while" and not (found and found[-1] == "}" and is_do(tokens, at)):
            close = match(tokens, at + 1)
            found += ["for", "(", ";", *tokens[at + 2:close], ";", ")"]
            at = close + 1
        else:
            found.append(token)
            at += 1
    return found


def is_do(tokens, at):
    close = match(tokens, at + 1)
    return close + 1 < len(tokens) and tokens[close + 1] == ";"


def cuts(tokens):
    depth, places = 0, []
    for at, token in enumerate(tokens):
        depth += (token in OPEN) - (token in CLOSE)
        if token == ";" and depth == 0:
            places.append(at)
    return (0, places[0]), (places[0] + 1, places[1]), (places[1] + 1, len(tokens))


def loops(kernel, _):
    if not {"for", "while"} & set(kernel.body):
        return []
    return [kernel.text(body=looped(kernel.body))]


WIDER = {"float": "double", "int": "long", "uint": "ulong", "short": "int", "ushort": "uint", "uchar": "ushort", "char": "short"}


def widened(tokens, wanted):
    found = []
    for at, token in enumerate(tokens):
        kind = re.fullmatch(r"([a-z]+?)(2|3|4|8|16)?", token)
        near = {tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""}
        if kind and kind[1] in wanted and not near & (INTEGER - {token}):
            token = wanted[kind[1]] + (kind[2] or "")
        elif "double" in wanted.values() and re.fullmatch(r"(?:\d+\.\d*|\.\d+|\d+)(?:e[+-]?\d+)?f", token):
            token = token[:-1] if "." in token or "e" in token else token[:-1] + ".0"
        found.append(token)
    return found


def widths(kernel, _):
    tokens = kernel.all()
    ways = [WIDER, {"float": "double", "int": "long"}, {"float": "double"}, {"int": "long", "uint": "ulong"}, {"float": "half"},
            {"uchar": "ushort", "char": "short", "short": "int", "ushort": "uint"}, {"double": "float", "long": "int", "ulong": "uint"}]
    made = [widened(tokens, way) for way in ways]
    return [show(one) for one in made if one != tokens]


def dead(kernel, _):
    found, depth, brackets, seen, count = [], 0, 0, 0, 0
    body = kernel.body
    for at, token in enumerate(body):
        found.append(token)
        depth += (token in "([") - (token in ")]") if len(token) == 1 else 0
        after = body[at + 1] if at + 1 < len(body) else "}"
        is_end = token == ";" and depth == 0 and after not in ("else", "while") and not inside_braces_of_value(body, at)
        if is_end:
            seen += 1
            if seen % 2 == 1:
                count += 1
                found += lex(f"int dead{count} = (int)get_local_id(0) * 3 + {count};" if count % 2
                             else f"if (0) {{ float dead{count} = {count}.5f; dead{count} += 2.0f; }}")
                if count % 2:
                    found += lex(f"if (dead{count} == -1) {{ dead{count} = dead{count} + 2; }}")
    return [kernel.text(body=found)] if count else []


def inside_braces_of_value(body, at):
    """Whether the semicolon belongs to a structure that is declared in a function."""
    return bool({"struct", "union"} & set(body[:at]))


def macros(kernel, _):
    tokens, made = kernel.all(), {}
    found, at = [], 0
    while at < len(tokens):
        token = tokens[at]
        if re.fullmatch(r"get_\w+", token) and tokens[at + 1:at + 2] == ["("]:
            end = match(tokens, at + 1) + 1
            name = made.setdefault(" ".join(tokens[at:end]), f"WORK_{len(made)}")
            if all(not OWN.fullmatch(token) for token in tokens[at + 2:end]):
                found.append(name)
                at = end
                continue
            del made[" ".join(tokens[at:end])]
        if re.fullmatch(r"\d[\w.]*", token) or TYPE.fullmatch(token) and re.fullmatch(rf"{SCALAR}\d*", token):
            found.append(made.setdefault(token, f"M_{len(made)}"))
        elif token in ("for", "if", "barrier", "return"):
            found.append(made.setdefault(token, token.upper() + "_"))
        else:
            found.append(token)
        at += 1
    top = [f"#define {name} {value}" for value, name in made.items()]
    return [show(top + [token for token in found])] if made else []


def vectors(kernel, _):
    tokens, found = kernel.all(), []
    for factor in (2, 0.5):
        def other(token):
            kind = re.fullmatch(rf"({SCALAR})(2|4|8|16)", token)
            count = int(int(kind[2]) * factor) if kind else 0
            return f"{kind[1]}{count}" if 2 <= count <= 16 else token
        found.append([other(token) for token in tokens])
    for wanted in (("float",), ("float", "double", "half"), ("int", "uint"), ("float", "int", "uint")):
        found.append([token + "4" if token in wanted else token for token in tokens])
    names = kernel.names()
    for chosen in (names, *[[name] for name in names]):
        parameters, body, changed = [], list(kernel.body), False
        for one, name in zip(kernel.parameters, names):
            kind = next((token for token in one if re.fullmatch(r"float|double|u?int|u?char|u?short|u?long", token)), None)
            if name in chosen and kind and one.count("*") == 1 and "unsigned" not in one:
                one = [token + "4" if token == kind else token for token in one]
                at = 0
                while at + 1 < len(body):
                    if body[at] == name and body[at + 1] == "[":
                        body[match(body, at + 1) + 1:match(body, at + 1) + 1] = [".", "x"]
                        changed = True
                    at += 1
            parameters.append(one)
        if changed:
            found.append(lex(kernel.text(parameters=parameters, body=body)))
    return [show(one) for one in found if one != tokens]


def halves(tokens):
    """Two bodies that have all declarations, and each a half of the rest."""
    found = statements(tokens)
    effects = [at for at, one in enumerate(found) if not is_declaration(one)]
    if len(effects) == 1:
        only = found[effects[0]]
        opened = next((at for at, token in enumerate(only) if token == "{"), None)
        if opened is None or only[0] not in ("if", "for", "while", "{") or match(only, opened) != len(only) - 1:
            return None
        inner = halves(only[opened + 1:-1])
        if inner is None:
            return None
        def around(part):
            return [token for at, one in enumerate(found) for token in (only[:opened + 1] + part + ["}"] if at == effects[0] else one)]
        return around(inner[0]), around(inner[1])
    if not effects:
        return None
    sizes = [len(found[at]) for at in effects]
    cut = min(range(1, len(effects)), key=lambda cut: abs(sum(sizes[:cut]) - sum(sizes[cut:])))
    if min(sum(sizes[:cut]), sum(sizes[cut:])) < 12:
        return None
    first, second = set(effects[:cut]), set(effects[cut:])
    def without(left_out):
        return [token for at, one in enumerate(found) if at not in left_out for token in one]
    return without(second), without(first)


def split(kernel, _):
    parts = halves(kernel.body)
    return [kernel.text(body=part) for part in parts] if parts else []


def merged(kernel, other):
    other = Kernel(show(rename(other.all(), "merged")))
    parameters = kernel.parameters + other.parameters
    return [kernel.text(before=kernel.before + other.before, parameters=parameters, body=kernel.body + other.body),
            kernel.text(before=kernel.before + other.before, parameters=parameters, body=["{", *kernel.body, "}", "{", *other.body, "}"])]


CHANGES = [("renamed", renamed), ("reordered", reordered), ("parameter added", parameter), ("local added", local), ("typedef", typedefs),
           ("inlined helper", helper), ("loop form", loops), ("type width", widths), ("dead code", dead), ("macro", macros),
           ("vector width", vectors), ("split", split), ("merged", merged)]


def main():
    rows = [json.loads(line) for line in sys.stdin if line.strip()]
    kernels = [Kernel(row["text"]) for row in rows]
    for at, (row, kernel) in enumerate(zip(rows, kernels)):
        for name, change in CHANGES:
            try:
                texts = change(kernel, kernels[(at + 1) % len(kernels)])
            except (ValueError, IndexError, StopIteration):
                continue
            parts = [[text] for text in texts] if name == "split" else [texts] if texts else []
            for part, texts in enumerate(parts):
                print(json.dumps({"id": row["id"], "change": name, "part": part, "texts": texts}))


if __name__ == "__main__":
    main()
