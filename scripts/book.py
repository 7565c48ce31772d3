#!/usr/bin/env python3
"""usage: book.py --check            links of all documents, the list of results and what they are of, the picture: fails where one is not true
       book.py --write            write the list of results (docs/results/index.md) and the picture anew
       book.py MDBOOK PROGRAM OUT build the book at OUT/VERSION, list versions in OUT: MDBOOK is mdBook's command, PROGRAM the `stampmill` whose
                                  commands and options the reference shows

The book is docs/ with the documents of the root folder beside it (docs/SUMMARY.md names them as ../NAME.md). Files of
the repository that a page links to are copied into the book. What mdBook warns of, and a link that leads nowhere, fails.
"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
RESULTS = DOCS / "results"
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^()\s]+)(\))")
FENCE = re.compile(r"^ *(```|~~~)", re.M)
OUTSIDE = re.compile(r"[a-z]+:", re.I)
# Names of documents in comments of the code.
NAMED = re.compile(r"(?<![\w./-])docs/[\w./-]*\w\.(?:md|svg|png)")


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True).stdout


def tracked():
    """Files of the repository, those that are to be committed too."""
    return sorted({ROOT / name for name in git("ls-files", "-co", "--exclude-standard").splitlines() if (ROOT / name).is_file()})


def parts(text):
    """(is code, text) of a document, in order."""
    kept, code = [], False
    for line in text.splitlines(keepends=True):
        fence = FENCE.match(line)
        inside = code or bool(fence)
        if kept and kept[-1][0] == inside:
            kept[-1][1].append(line)
        else:
            kept.append((inside, [line]))
        code ^= bool(fence)
    return [(inside, "".join(lines)) for inside, lines in kept]


def links(text):
    return [link[2] for inside, part in parts(text) if not inside for link in LINK.finditer(re.sub(r"`[^`\n]*`", "``", part))]


def anchors(text):
    found = set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for inside, part in parts(text):
        for line in [] if inside else part.splitlines():
            if heading := re.match(r"#+ +(.*)", line):
                words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower().strip()
                slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
                found.add(slug if slug not in found else next(f"{slug}-{n}" for n in range(1, 99) if f"{slug}-{n}" not in found))
    return found


def broken_links():
    wrong = []
    files = tracked()
    for path in files:
        name = path.relative_to(ROOT)
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        if name.name != "CHANGELOG.md":
            for mention in sorted(set(NAMED.findall(text))):
                if not (ROOT / mention).exists():
                    wrong.append(f"{name}: names {mention}, which is not there")
        if path.suffix != ".md":
            continue
        for link in links(text):
            if OUTSIDE.match(link):
                continue
            to, _, anchor = link.partition("#")
            target = (path.parent / urllib.parse.unquote(to)).resolve() if to else path
            if not target.exists():
                wrong.append(f"{name}: {link} is not there")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                wrong.append(f"{name}: {link}: no such heading")
    listed = {(DOCS / link).resolve() for link in links((DOCS / "SUMMARY.md").read_text())}
    for path in sorted(DOCS.glob("**/*.md")):
        if path.name != "SUMMARY.md" and path.resolve() not in listed:
            wrong.append(f"docs/SUMMARY.md: does not list {path.relative_to(DOCS)}")
    return wrong


def results():
    """The page that lists what was measured: question and answer of every page of results, in the order of the summary."""
    rows = []
    for link in links((DOCS / "SUMMARY.md").read_text()):
        if not link.startswith("results/") or link.endswith("index.md"):
            continue
        text = (DOCS / link).read_text()
        title = re.match(r"# (.*)\n", text)
        said = re.search(r"^\*\*Question\.\*\* (.*?)\n\n\*\*Answer\.\*\* (.*?)\n\n", text, re.M | re.S)
        if not title or not said:
            sys.exit(f"book: docs/{link} does not begin with its title, **Question.** and **Answer.**")
        question, answer = (" ".join(part.split()).replace("../design/", "../design/") for part in said.groups())
        rows.append(f"| [{title[1]}]({link.removeprefix('results/')}) | {question} | {answer} |")
    return (
        "# Results\n\nWhat was measured, a page for each question: what came of it, how, on which machine, with which command. "
        "What was missed is there too. Each page names the commit that its figures were measured at or recorded with: what they say is of that build. "
        "`scripts/book.py --write` makes this list of the pages.\n\n"
        "| page | question | answer |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def without_commit():
    """Pages of results with neither a figure that `figures.sh` filled nor the name of a commit."""
    is_told = re.compile(r"<!-- figure: |\bcommit [0-9a-f]{7,40}\b|\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")
    pages = (path for path in sorted(RESULTS.glob("*.md")) if path.name != "index.md")
    return [f"docs/results/{path.name}: names no commit that its figures are of" for path in pages if not is_told.search(path.read_text())]


def generated():
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT / "scripts"))
    import picture

    return {RESULTS / "index.md": results(), DOCS / "picture.svg": picture.picture()}


def check(write):
    for path, text in generated().items():
        if write:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"book: {path.relative_to(ROOT)} is out of date: `scripts/book.py --write` writes it")
    if wrong := broken_links():
        sys.exit("\n".join(["book: links that lead nowhere:", *wrong]))
    if wrong := without_commit():
        sys.exit("\n".join(["book: figures that cannot be traced:", *wrong]))


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"}).stdout


def commands(program, *group):
    """All commands, those below a command behind it."""
    listed = help_of(program, *group).partition("Commands:\n")[2].partition("\n\n")[0]
    for name in re.findall(r"^  ([a-z][a-z-]*)\b", listed, re.M):
        if name != "help":
            yield (*group, name)
            yield from commands(program, *group, name)


def reference(program, source):
    """A page for each command, of what it says itself; their entries of the summary."""
    folder = source / "reference" / "commands"
    folder.mkdir(parents=True)
    entries, rows = [], []
    for command in commands(program):
        name = " ".join(command)
        text = help_of(program, *command)
        about = text.strip().splitlines()[0]
        file = "-".join(command) + ".md"
        (folder / file).write_text(f"# stampmill {name}\n\n```text\n{text.rstrip()}\n```\n")
        depth = 1 + len(command)
        entries.append("  " * (depth - 1) + f"- [{name}](reference/commands/{file})")
        rows.append(f"| [`{name}`](commands/{file}) | {about.replace('|', '/')} |")
    page = source / "reference" / "commands.md"
    version = subprocess.run([program, "-V"], capture_output=True, text=True, check=True).stdout.strip()
    page.write_text(f"# Commands\n\nWhat `{version}` says of itself.\n\n| command | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return entries


def version():
    """That of the checkout."""
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def list_versions(books):
    """A page of all versions that are there, the newest first."""
    # A version begins with a number; `html` is what the book's folder was called before.
    found = [path.parent.name for path in books.glob("[0-9]*/index.html")]
    found.sort(key=lambda name: [int(number) for number in re.findall(r"\d+", name)], reverse=True)
    entries = "\n".join(f'<li><a href="{html.escape(name)}/index.html">{html.escape(name)}</a></li>' for name in found)
    (books / "index.html").write_text(
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>Stampmill: versions of the book</title>'
        '<meta name="viewport" content="width=device-width"></head>\n'
        f"<body><main><h1>Versions of the book</h1>\n<ul>\n{entries}\n</ul></main></body>\n</html>\n"
    )


def assemble(program, work):
    """The book's sources at `work`."""
    source = work / "src"
    if work.exists():
        shutil.rmtree(work)
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("book.toml"))
    (work / "book.toml").write_text((DOCS / "book.toml").read_text().replace("VERSION", version()))
    summary = (DOCS / "SUMMARY.md").read_text()
    place = {DOCS / path.relative_to(source): path for path in source.glob("**/*") if path.is_file()}
    for link in links(summary):
        if link.startswith("../"):
            path = (DOCS / link).resolve()
            place[path] = source / "project" / path.name
    entries = reference(program, source)
    for path, to in list(place.items()):
        if path.suffix == ".md" and path != DOCS / "reference" / "commands.md":
            to.parent.mkdir(exist_ok=True)
            to.write_text(moved(path, to, place, source))
    summary = (source / "SUMMARY.md").read_text()
    (source / "versions.md").write_text(
        f"# Versions\n\nThis is the book of {version()}. [All that are here](../index.html).\n"
    )
    summary = summary.rstrip() + "\n\n[Versions](versions.md)\n"
    line = next(line for line in summary.splitlines() if "(reference/commands.md)" in line)
    (source / "SUMMARY.md").write_text(summary.replace(line, "\n".join([line, *entries])))


def moved(path, to, place, source):
    """A document at its place in the book, with links that lead to where their targets are there."""

    def link(found):
        name, _, anchor = found[2].partition("#")
        if OUTSIDE.match(found[2]) or not name:
            return found[0]
        target = (path.parent / urllib.parse.unquote(name)).resolve()
        if target not in place:
            if target.is_dir():
                return found[1][found[1].index("[") + 1 : -2]  # nothing to show: the words alone
            place[target] = source / "files" / target.relative_to(ROOT)
            # mdBook makes pages of what ends in `.md` only where the summary has them.
            if target.suffix == ".md":
                place[target] = place[target].with_suffix(".txt")
            place[target].parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, place[target])
        new = os.path.relpath(place[target], to.parent)
        return f"{found[1]}{new}{'#' + anchor if anchor else ''}{found[3]}"

    return "".join(part if inside else outside_spans(part, link) for inside, part in parts(path.read_text()))


def outside_spans(text, link):
    """Links of a text, those in code spans left alone."""
    pieces = re.split(r"(`[^`\n]*`(?!\]))", text)
    if all("](" not in piece for piece in pieces[1::2]):
        return LINK.sub(link, text)
    return "".join(piece if number % 2 else LINK.sub(link, piece) for number, piece in enumerate(pieces))


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.ids.add(value)
            if name in ("href", "src") and value and tag != "base":
                self.links.append(value)


def check_html(out):
    """How many links the book has; ends where one leads nowhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in out.glob("**/*.html")}
    wrong, count = [], 0
    for path, page in pages.items():
        if path.name in ("404.html", "toc.html"):  # 404's are relative to where it is served
            continue
        for link in page.links:
            if OUTSIDE.match(link) or link.startswith("//"):
                continue
            count += 1
            to, _, anchor = urllib.parse.unquote(link).partition("#")
            target = (path.parent / to).resolve() if to else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                wrong.append(f"{path.relative_to(out)}: {link}")
            elif anchor and target in pages and anchor not in pages[target].ids:
                wrong.append(f"{path.relative_to(out)}: {link}: no such heading")
    if wrong:
        sys.exit("\n".join(["book: links that lead nowhere:", *sorted(set(wrong))]))
    return len(pages), count


def build(mdbook, program, books):
    work, out = books / "source", books / version()
    assemble(program, work)
    done = subprocess.run([mdbook, "build", str(work), "--dest-dir", str(out)], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode or re.search(r"\b(WARN|ERROR|warning|error)\b", said):
        sys.exit(f"book: mdBook is not content:\n{said}")
    list_versions(books)
    pages, count = check_html(out)
    print(f"{out}/index.html: {pages} pages, {count:,} links")


def main():
    arguments = sys.argv[1:]
    if arguments in (["--check"], ["--write"]):
        check(arguments == ["--write"])
    elif len(arguments) == 3:
        check(False)
        mdbook, program, books = arguments
        build(mdbook, str(Path(program).resolve()), Path(books).resolve())
    else:
        sys.exit(__doc__.strip())


main()
