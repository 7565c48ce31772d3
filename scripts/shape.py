"""The shape of a kernel, by its tokens alone: what `crates/synth/src/search/discriminator/shape.rs` measures, measured alike.

Variables have the names that mined kernels have (`a` to `zz`): `as_mined` gives those to a kernel as a search leaves it."""
import collections
import math
import re

NAMES = ["tokens", "uses", "unused", "once", "parameters", "buffers", "numbers", "odd numbers", "fractions", "casts", "work-items", "operators",
         "comparisons", "logic", "compound", "steps", "indexes", "fixed indexes", "nested indexes", "nesting", "parentheses", "conditions", "else",
         "loops", "declarations", "calls", "empty", "vectors", "unsigned", "barriers", "lanes", "repeated", "idle"]
TYPES = set("bool char uchar short ushort int uint long ulong float double half size_t void unsigned signed".split())
UNSIGNED = set("uchar ushort uint ulong unsigned size_t".split())
PLAIN = set("0 1 2 3 4 8 16 32 64 255".split())
OPERATORS = set("+ - * / % & | ^ << >> ~".split())
COMPARISONS = set("< > <= >= == !=".split())
LOGIC = set("&& || ! ?".split())
COMPOUND = set("+= -= *= /= %= &= |= ^= <<= >>=".split())
WORDS = set("if for while switch return sizeof else do __attribute__".split())
TOKEN = re.compile(
    r"""(?P<skipped>^[ \t]*\#(?:\\\r?\n|[^\n])*|\n|[^\S\n]+|\\\r?\n|//[^\n]*|/\*.*?\*/)
    |(?P<word>[A-Za-z_$][\w$]*)
    |(?P<number>\.?[0-9](?:(?<=[eEpP])[+-]|[\w.])*)
    |(?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|&&|\|\||\#\#|[<>=!+\-*/%&|^]=|.)""",
    re.S | re.M | re.X,
)


def tokens(text):
    """Kind and spelling of each; without comments and preprocessor lines."""
    return [(found.lastgroup, found.group()) for found in TOKEN.finditer(text) if found.lastgroup != "skipped"]


def is_variable(word):
    return re.fullmatch("[a-z]{1,2}", word) is not None and word not in ("do", "if")


def base(word):
    return word.rstrip("0123456789")


def is_type(word):
    return base(word) in TYPES


def letters(number):
    return (letters(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def as_mined(text):
    """With letters that are free for `p12` and its like, in the order of their appearance."""
    taken = {word for _, word in tokens(text)} | {"do", "if"}
    free = (name for name in map(letters, range(10**6)) if name not in taken)
    names = {}

    def name(found):
        if found[0] not in names:
            names[found[0]] = next(free)
        return names[found[0]]

    return re.sub(r"(?<!\w)p\d+", name, text)


def signature(words):
    """The parameters of the first kernel, and how many pointers they are."""
    kernel = next((at for at, word in enumerate(words) if word in ("__kernel", "kernel")), None)
    if kernel is None or "(" not in words[kernel:]:
        return 0, 0
    depth = commas = pointers = held = 0
    for word in words[words.index("(", kernel):]:
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
        elif word == "," and depth == 1:
            commas += 1
        elif word == "*":
            pointers += 1
        else:
            held += 1
        if depth == 0:
            break
    return commas + 1 if held else 0, pointers


def depths(words):
    """Braces around each token, added up; the most parentheses and brackets; brackets in brackets."""
    nesting = deepest = nested = braces = parentheses = brackets = 0
    for word in words:
        if word == "{":
            braces += 1
        elif word == "}":
            braces = max(0, braces - 1)
        elif word == "(":
            parentheses += 1
        elif word == ")":
            parentheses = max(0, parentheses - 1)
        elif word == "[":
            nested += brackets > 0
            brackets += 1
        elif word == "]":
            brackets = max(0, brackets - 1)
        nesting += braces
        deepest = max(deepest, parentheses + brackets)
    return nesting, deepest, nested


def repeated(found):
    """The share of statements that another one before was like, names and numbers apart."""
    seen, again, count, statement = set(), 0, 0, ""
    for kind, word in found:
        if word in (";", "{", "}"):
            if statement:
                count += 1
                again += statement in seen
                seen.add(statement)
                statement = ""
        else:
            statement += " " + ("0" if kind == "number" else "a" if is_variable(word) else word)
    return again / max(1, count)


def shape(text):
    """The measures, in the order of NAMES."""
    found = tokens(text)
    kinds, words = [kind for kind, _ in found], [word for _, word in found]

    def at(place):
        return words[place] if 0 <= place < len(words) else ""

    def is_number(place):
        return 0 <= place < len(kinds) and kinds[place] == "number"

    def places(test):
        return sum(map(bool, map(test, range(len(words)))))

    def some(of):
        return sum(word in of for word in words)

    def is_call(place):
        word = words[place]
        return at(place + 1) == "(" and kinds[place] == "word" and word not in WORDS and not is_type(word) and not word.startswith("get_")

    def is_cast(place):
        return words[place] == "(" and is_type(at(place + 1)) and at(place + 2) == ")" and at(place - 1) != "sizeof"

    def is_declared(place):
        return is_type(words[place]) and is_variable(at(place + 2) if at(place + 1) == "*" else at(place + 1))

    def is_idle(place):
        left, right = at(place - 1), at(place + 1)
        return words[place] in OPERATORS and left != "" and (left == right or "0" in (left, right))

    every, statements = max(1, len(words)), max(1, some({";"}))
    numbers, indexes = places(is_number), some({"["})
    uses = collections.Counter(word for one, word in enumerate(words) if is_variable(word) and at(one - 1) != ".")
    variables = max(1, len(uses))
    parameters, buffers = signature(words)
    compound = some(COMPOUND)
    nesting, deepest, nested = depths(words)
    return [
        every / statements,
        sum(uses.values()) / variables,
        sum(count == 1 for count in uses.values()) / variables,
        sum(count == 2 for count in uses.values()) / variables,
        math.log2(1 + parameters),
        buffers / max(1, parameters),
        numbers / every,
        places(lambda one: is_number(one) and words[one] not in PLAIN) / max(1, numbers),
        places(lambda one: is_number(one) and "." in words[one]) / max(1, numbers),
        places(is_cast) / statements,
        places(lambda one: words[one].startswith("get_")) / statements,
        some(OPERATORS) / statements,
        some(COMPARISONS) / statements,
        some(LOGIC) / statements,
        compound / max(1, compound + some({"="})),
        some({"++", "--"}) / statements,
        indexes / statements,
        places(lambda one: words[one] == "[" and is_number(one + 1) and at(one + 2) == "]") / max(1, indexes),
        nested / max(1, indexes),
        nesting / every,
        deepest,
        some({"if"}) / statements,
        some({"else"}) / statements,
        some({"for", "while", "do"}) / statements,
        places(is_declared) / statements,
        places(is_call) / statements,
        places(lambda one: words[one] == "{" and at(one + 1) == "}") / statements,
        places(lambda one: is_type(words[one]) and words[one][-1] in "0123456789") / every,
        places(lambda one: base(words[one]) in UNSIGNED) / every,
        some({"barrier"}) / statements,
        some({"."}) / statements,
        repeated(found),
        places(is_idle) / statements,
    ]
