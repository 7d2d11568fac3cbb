#!/usr/bin/env python3
"""Lint the prose of headers, comments, messages, test names and Markdown.

usage: prose_lint.py [--max N] [--json] [--self-test] [PATH ...]

Reads files, and folders with all .h .hpp .c .cpp .cs .rs and .md files below them. Without a PATH it reads include/.
The lines of a paragraph are joined before a rule looks at them. Code in backticks, code blocks, tables and HTML comments
are not prose. Rules that are marked "headers" apply to .h and .hpp files only. A string literal with a space in it is a
message: the rules for sentences apply, with each {argument} as one word. The rule "test-name" reads the names of Rust
functions under #[test], and the titles of TEST("...") in C++.

  --max N       accept up to N findings. Default 0.
  --json        print one JSON object with the findings instead of lines.
  --self-test   check every rule with good and bad cases.
  --rules       list the rules.

exit status: 0 with at most N findings, 1 with more, 2 for wrong usage.
"""
import json
import re
import sys
from pathlib import Path

MOST_WORDS = 30  # in a sentence
MOST_BLOCK = 80  # words in a doc block without a blank line or heading
SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".cs", ".rs", ".md"}
HEADERS = {".h", ".hpp"}

PREPOSITIONS = "of|to|with|by|in|from|on|for|at|under"

# name, pattern over one sentence, advice. The patterns see code in backticks as the word CODE.
PATTERNS = [
    ("clause-subject", rf"(?i:(?:^|[;:] )(?:what|who|whoever|whatever|that which|only where|(?:{PREPOSITIONS}) (?:which|whom|what)))\b",
     "a clause as the subject: name the thing"),
    ("relative-clause", r"(?i:(?<!^)(?<![;:] )\b(?:of (?:which|whom|what)|(?:to|with|by|in|from|on|for) (?:whom|what))\b)",
     "a relative clause that carries the fact: make it a sentence"),
    ("is-none", r"(?i:\b(?:is|are|was|were|be) none\b(?!, is))", "'is none': say invalid, empty, missing, or name the default"),
    ("tell-of", r"(?i:\b(?:tell|tells|telling|told) (?:of|by)\b)", "'tell of': say report, return or log"),
    ("let-go-of", r"(?i:\b(?:let|lets|letting) go of\b)", "'let go of': say release, destroy or free"),
    ("as-it-is", r"(?i:\bas (?:it is|they are)\b(?! (?:in|at|on|for|called|needed|used|read)\b))", "'as it is': say unchanged, or name the state"),
    ("of-those-that", r"(?i:\b(?:of|among) (?:those|these|them) (?:that|which)\b)", "'of those that': name them"),
    ("vague", r"(?i:\b(?:beside that|besides? what|what else|who else|whatever else|so much of what|the one that|every other one)\b)",
     "vague: name the thing"),
    ("idiom", r"(?i:\b(?:came|said|news|buried|bury|of the dead|least wrong|reckoned with|won back|waited with|is to blame"
              r"|has it that|is held to|of its time|is believed|not believed|counts? on it|(?:is|are|was|were) (?:gone|left)"
              r"|is no (?:live|handle|burden|value)|died of|t(?:ook|akes?|aken) (?:\w+ ){1,3}down)\b)",
     "an idiom: use the field's word (observe, predict, change, missing, evicted, retry)"),
    ("double-space", r"\S  +\S", "two spaces: use one"),
]
PATTERNS = [(name, re.compile(pattern), advice) for name, pattern, advice in PATTERNS]
# Rules that a message may break: columns of a table are aligned by spaces.
NOT_IN_MESSAGES = {"double-space"}

# In a test name, words are separated by single spaces. C++ titles come without their aspect.
BAD_TEST_NAME = re.compile(
    r"^(?:what|who|whoever|whatever|whose|where|that which|nothing|nobody|none|"
    rf"(?:{PREPOSITIONS}) (?:which|whom|what|those))\b"
    r"|\b(?:gone|left|came|said|told|tells|news|whoever|whatever|nobody|somebody|the one that|as it is|beside that|"
    r"(?:lets?|letting) go|come and go|comes and goes|(?:is|are|was|were|be|takes?|leaves?) none|ma(?:kes|ke|de) no sense|"
    r"(?:do|does) no harm|says? so|says? (?:that|what|who|why|where|how)|in the way)\b")
OTHER_RULES = {
    "test-name": "a test name that is no statement in the field's words: name the thing and what it does",
    "long-sentence": f"a sentence of more than {MOST_WORDS} words: split it",
    "long-block": f"headers: a doc block of more than {MOST_BLOCK} words without a blank line or heading",
    "summary": "headers: the first line of a doc comment must be one sentence that ends in a period "
               "(at a field or enumerator: must hold its first sentence whole)",
    "lower-case": "headers: a sentence begins with a lower-case letter",
}

ABBREVIATION = re.compile(r"(?i)(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|nos|fig|sec|ca|al|dr|mr|mrs|st|resp|incl|max|min|[A-Z])\.$")
# Words that begin with a lower-case letter by right: identifiers, calls, members, file names, numbers with a unit.
IDENTIFIER = re.compile(r"\w*(?:[_./:()\[\]<>=*&#\\]|[a-z][A-Z]|\d)\S|CODE|\w+\(|\w+\.\w|(?:sizeof|size_t|malloc|free|longjmp|dlclose|dlopen|fork|cbindgen|cmake|glibc|macOS|iOS)\b")


class Comment:
    """One comment: where its first line is, and the text of each line without its marker."""

    def __init__(self, line, lines, doc, indent, trailing):
        self.line, self.lines, self.doc, self.indent, self.trailing = line, lines, doc, indent, trailing


def comments(text, rust, strings):
    """All comments of a source, and (line, text) of its string literals into `strings`.

    Comment lines that follow each other with the same marker and indent are one.
    """
    found, at, line, length = [], 0, 1, len(text)
    while at < length:
        two = text[at:at + 2]
        if two == "//":
            end = text.find("\n", at)
            end = length if end < 0 else end
            add_line_comment(found, text, at, end, line)
            at = end
        elif two == "/*":
            end = text.find("*/", at + 2)
            end = length if end < 0 else end
            body = text[at + 2:end]
            doc = body[:1] in ("*", "!") and body[1:2] != "*"
            lines = [re.sub(r"^\s*\*(?!\*) ?", "", part) if n else part[1 if doc else 0:] for n, part in enumerate(body.split("\n"))]
            before = text[text.rfind("\n", 0, at) + 1:at]
            found.append(Comment(line, [part.rstrip() for part in lines], doc, len(before), bool(before.strip())))
            line += body.count("\n")
            at = end + 2
        else:
            size = literal(text, at, rust)
            is_bytes = text[at - 1:at] == "b"
            if size > 2 and text[at] == '"' and not is_bytes:
                strings.append((line, text[at + 1:at + size - 1]))
            line += text.count("\n", at, at + size)
            at += size
    return found


def add_line_comment(found, text, at, end, line):
    marker = re.match(r"//[/!]?(?!/)|/{4,}", text[at:end]).group(0)
    before = text[text.rfind("\n", 0, at) + 1:at]
    trailing = bool(before.strip())
    body = text[at + len(marker):end].rstrip()
    body = body[1:] if body.startswith(" ") else body
    doc = marker in ("///", "//!")
    last = found[-1] if found else None
    if (last and not trailing and not last.trailing and last.doc == doc and last.indent == len(before)
            and last.line + len(last.lines) == line):
        last.lines.append(body)
    else:
        found.append(Comment(line, [body], doc, len(before), trailing))


def literal(text, at, rust):
    """Length of the literal that begins here, or 1."""
    letter = text[at]
    raw = re.compile(r'b?r(#*)"' if rust else r'R"([^(\s]{0,16})\(').match(text, at)
    if raw and not (at and (text[at - 1].isalnum() or text[at - 1] == "_")):
        closing = f'"{raw.group(1)}' if rust else f'){raw.group(1)}"'
        end = text.find(closing, raw.end())
        return (len(text) if end < 0 else end + len(closing)) - at
    if letter == '"':
        whole = re.compile(r'"(?:[^"\\]|\\.)*"', re.S).match(text, at)
        return len(whole.group(0)) if whole else 1
    if letter == "'":
        # Not a lifetime, nor a separator of digits.
        whole = re.compile(r"'(?:[^'\\\n]|\\[^\n]{1,9}?)'").match(text, at)
        return len(whole.group(0)) if whole and not (at and text[at - 1].isalnum()) else 1
    return 1


class Paragraph:
    """Prose that belongs together: where it begins and its lines, of which the first may have lost its list mark."""

    def __init__(self, line, text, block):
        self.line, self.lines, self.block = line, [text], block

    def text(self):
        return " ".join(self.lines)


def paragraphs(first_line, lines, markdown):
    """The paragraphs of a comment or a Markdown file. Each knows the block (between blank lines and headings) it is in."""
    result, current, fence, block, in_html, after_blank = [], None, None, 0, False, True
    for line, raw in enumerate(lines, first_line):
        text = raw.strip()
        if in_html or text.startswith("<!--"):
            in_html, current = "-->" not in text, None
            continue
        mark = re.match(r"```+|~~~+|[@\\](?:end)?code\b", text)
        if mark:
            fence = None if fence else mark.group(0)
            current = None
            continue
        if fence:
            continue
        indented = re.match(r" {4,}|\t", raw) and not re.match(r"\s*(?:[-*+]|\d+[.)]) ", raw)
        if not text or re.match(r"#{1,6} |[-=~*/]{3,}", text) or text.startswith("|"):
            current, block, after_blank = None, block + 1, True
            continue
        if indented and current is None:
            continue
        if indented and after_blank is False and not markdown and current.lines and len(raw) - len(raw.lstrip()) >= 4 \
                and not is_list_line(lines, line - first_line):
            current = None
            continue
        item = re.match(r"(?:[-*+]|\d+[.)])\s+(.*)", text)
        tag = re.match(r"[@\\](?:param(?:\[\w+(?:,\s*\w+)*\])?\s+\w+|\w+)\s+(.*)", text)
        if item or tag or text.startswith(">") or current is None:
            text = item.group(1) if item else tag.group(1) if tag else text.lstrip("> ")
            current = Paragraph(line, text, block)
            result.append(current)
        else:
            current.lines.append(text)
        after_blank = False
    return result


def is_list_line(lines, at):
    """Whether an indented line goes on with a list item above it."""
    for before in range(at - 1, -1, -1):
        if not lines[before].strip():
            return False
        if re.match(r"\s*(?:[-*+]|\d+[.)]) ", lines[before]):
            return True
    return False


def plain(text):
    """Without what is no prose: code becomes one word, a link its text."""
    text = re.sub(r"(`+)(?:(?!\1).)+\1", "CODE", text)
    text = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"<https?://[^>]*>|https?://\S+", "CODE", text)
    return re.sub(r"\*\*|__(?=\w)|(?<=\w)__", "", text).strip()


def sentences(text):
    """Split a paragraph. A period inside a name or after an abbreviation ends nothing."""
    start, result = 0, []
    for end in re.finditer(r"[.!?][\"')\]]*(?=\s|$)", text):
        head = text[start:end.end()]
        if re.search(r"[\"'(\[]$", text[start:end.start()]) and end.group(0)[1:]:
            continue  # a quoted period
        if end.group(0)[0] == "." and end.end() < len(text):
            bare = head.rstrip("\"')]")
            following = text[end.end():].lstrip()[:1]
            last = ABBREVIATION.search(bare)
            # "No." and one-letter names may also end a sentence.
            if last and not (following.isupper() and re.search(r"(?i)\b(?:etc|no|max|min|[A-Z])\.$", bare) and len(bare.split()) > 3):
                continue
            if bare.endswith(".."):
                continue
        result.append(head.strip())
        start = end.end()
    if text[start:].strip():
        result.append(text[start:].strip())
    return result


def count(sentence):
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def check_text(paragraph, report):
    """The rules that hold for all prose."""
    for sentence in sentences(plain(paragraph.text())):
        words = count(sentence)
        if words > MOST_WORDS:
            report("long-sentence", f"{words} words: split it", sentence)
        if sentence.endswith("?"):
            continue
        for name, pattern, advice in PATTERNS:
            if pattern.search(sentence):
                report(name, advice, sentence)


def check_block(comment, found, report):
    """The rules for the doc comments of headers."""
    sizes = {}
    for paragraph in found:
        sizes.setdefault(paragraph.block, [paragraph.line, 0, paragraph.lines[0]])[1] += count(plain(paragraph.text()))
    for line, words, text in sizes.values():
        if words > MOST_BLOCK:
            report("long-block", f"{words} words without a blank line: shorten it, or split it", text, line)
    summary = plain(comment.lines[0]) if comment.lines[0].strip() else (plain(found[0].lines[0]) if found else "")
    if not summary or summary.startswith("#") or not found:
        return
    parts = sentences(summary)
    if not re.search(r"[.!?:][\"')\]]*$", parts[0]) or (parts[0].endswith(":") and not comment.lines[1:]):
        report("summary", "the first sentence does not end on the first line", summary)
    elif comment.indent == 0 and len(parts) > 1:
        report("summary", f"{len(parts)} sentences on the first line: put the summary on a line of its own", summary)


def check_case(paragraph, report):
    for sentence in sentences(plain(paragraph.text())):
        word = sentence.lstrip("\"'([*").split(" ")[0]
        if word[:1].islower() and not IDENTIFIER.match(word):
            report("lower-case", "begin the sentence with a capital letter", sentence)


def check_message(text, report):
    """The rules for sentences, over a string literal that holds words."""
    text = re.sub(r"\\\r?\n\s*", "", text)  # a line that continues
    if not re.search(r"[A-Za-z]{2,} [A-Za-z{]", text) or re.search(r"(?m)^\s*#|[;{]\s*(?:\n|\\n)|::|\w\(\w*\)", text):
        return  # not words, or a piece of source
    text = re.sub(r"\\[nrt]|\n", " ", text).replace('\\"', '"')
    text = re.sub(r"\{[^{}]*\}|%[a-z]+", "CODE", text)
    words = re.sub(r"  +", " ", text).strip()
    for sentence in sentences(plain(words)):
        for name, pattern, advice in PATTERNS:
            if name not in NOT_IN_MESSAGES and not sentence.endswith("?") and pattern.search(sentence):
                report(name, advice, sentence)


def check_test_names(name, text, report):
    """The names of Rust tests, and the titles of C++ tests."""
    if name.endswith(".rs"):
        tests = re.finditer(r"#\[test\]\s*(?:(?:#\[[^\]\n]*\]|//[^\n]*)\s*)*(?:pub )?fn (\w+)", text)
    else:
        tests = re.finditer(r'(?m)^\s*TEST\("(?:\w+: )?([^"\n]*)"', text)
    for test in tests:
        words = re.sub(r"[_,;\s]+", " ", test.group(1))
        if BAD_TEST_NAME.search(words):
            report("test-name", OTHER_RULES["test-name"], test.group(1), text.count("\n", 0, test.start(1)) + 1)


def lint(name, text):
    """All findings of one file: (line, rule, advice, excerpt)."""
    suffix, findings = Path(name).suffix, []
    if suffix == ".md":
        for paragraph in paragraphs(1, text.split("\n"), True):
            check_text(paragraph, lambda rule, advice, excerpt, line=paragraph.line: findings.append((line, rule, advice, excerpt)))
        return findings
    strings = []
    for comment in comments(text, suffix == ".rs", strings):
        found = paragraphs(comment.line, comment.lines, False)
        for paragraph in found:
            def report(rule, advice, excerpt, line=paragraph.line):
                findings.append((line, rule, advice, excerpt))
            check_text(paragraph, report)
            if suffix in HEADERS and not comment.trailing:
                check_case(paragraph, report)
        if suffix in HEADERS and comment.doc:
            check_block(comment, found, lambda rule, advice, excerpt, line=comment.line: findings.append((line, rule, advice, excerpt)))
    for line, literal_text in strings:
        check_message(literal_text, lambda rule, advice, excerpt, line=line: findings.append((line, rule, advice, excerpt)))
    check_test_names(name, text, lambda rule, advice, excerpt, line: findings.append((line, rule, advice, excerpt)))
    return sorted(findings)


def files(paths):
    for path in map(Path, paths):
        if path.is_dir():
            inside = (one for one in path.rglob("*") if one.suffix in SUFFIXES and one.is_file())
            yield from sorted(one for one in inside if not {".git", "target"} & set(one.parts))
        elif path.is_file():
            yield path
        else:
            sys.exit(usage(f"{path} is neither a file nor a folder"))


def usage(problem):
    print(f"prose_lint.py: {problem}; see --help", file=sys.stderr)
    return 2


def main(arguments):
    most, as_json, paths = 0, False, []
    arguments = list(arguments)
    while arguments:
        argument = arguments.pop(0)
        if argument in ("-h", "--help"):
            print(__doc__.strip())
            return 0
        if argument == "--rules":
            for name, text in [(name, advice) for name, _, advice in PATTERNS] + list(OTHER_RULES.items()):
                print(f"{name}: {text}")
            return 0
        if argument == "--self-test":
            sys.dont_write_bytecode = True
            from prose_lint_cases import run
            return run(lint, [name for name, _, _ in PATTERNS] + list(OTHER_RULES))
        if argument == "--json":
            as_json = True
        elif argument == "--max":
            if not arguments or not arguments[0].isdigit():
                return usage("--max needs a number")
            most = int(arguments.pop(0))
        elif argument.startswith("-"):
            return usage(f"unknown option {argument}")
        else:
            paths.append(argument)
    found, read = [], 0
    for path in files(paths or ["include"]):
        read += 1
        for line, rule, advice, excerpt in lint(path.as_posix(), path.read_text(encoding="utf-8", errors="replace")):
            found.append({"file": str(path), "line": line, "rule": rule, "advice": advice, "text": excerpt})
    if as_json:
        print(json.dumps({"files": read, "findings": found}, indent=1))
    else:
        for one in found:
            print(f"{one['file']}:{one['line']}: {one['rule']}: {one['advice']}\n    {one['text'][:200]}")
        by_rule = {}
        for one in found:
            by_rule[one["rule"]] = by_rule.get(one["rule"], 0) + 1
        parts = ", ".join(f"{rule} {number}" for rule, number in sorted(by_rule.items(), key=lambda pair: -pair[1]))
        print(f"{len(found)} places in {read} files (at most {most} are accepted)" + (f": {parts}" if parts else ""))
    return int(len(found) > most)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
