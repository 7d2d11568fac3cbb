#!/usr/bin/env python3
"""Prepares a header for doxygen, which calls this for every file and reads the output.

* The comment at the top becomes the documentation of the file.
* The sections of a header (`// ---- Title ----`) become groups.
* The functions behind the `_INIT` macros are left out.
* `_INIT` macros and `_init` functions get their documentation, which is the same for all.
* A form that throws gets the documentation that the header leaves out: a link to its try_ form.
* `capi()`, copies and moves get theirs, which is the same in all classes.
* Names of functions and enumerators in comments become links.
"""
import re
import sys
from pathlib import Path

SECTION = re.compile(r"// ---- (.+?) -+$")
THROWING = re.compile(r"#if HOB_EXCEPTIONS$")
DOC = re.compile(r"(\s*///<?)( .*)?$")
INIT_MACRO = re.compile(r"#define (HOB_\w+_INIT)\b(?!\()")
INIT_FUNCTION = re.compile(r".*\bhob_\w+_init\((hob_\w+) \*value, uint32_t size\);$")
DEFAULTS = re.compile(r"^static inline hob_\w+ hob_\w+_default\(void\) \{\n(?: .*\n)*\}\n", re.MULTILINE)
NAME = re.compile(r"(?<![\w`#])(hob_[a-z0-9_]+|HOB_[A-Z0-9_]+)\b(?![`*(])")


def linkable_names(folder):
    """The functions and enumerators that the headers of a folder declare."""
    text = "\n".join(path.read_text() for path in sorted(folder.glob("*.h")))
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    functions = re.findall(r"\b(hob_[a-z0-9_]+)\(", code)
    enumerators = re.findall(r"^    (HOB_[A-Z0-9_]+) =", code, re.MULTILINE)
    return set(functions) | set(enumerators)


def linked(line, names):
    """A line of documentation with links, outside of code blocks and code spans."""
    doc = DOC.match(line)
    if not doc or not doc.group(2):
        return line
    if doc.group(2).startswith("     "):
        return re.sub(r" ?\*/", "", line.replace("/*", "//"))  # doxygen spoils the end of a comment in a comment
    parts = doc.group(2).split("`")
    for at in range(0, len(parts), 2):
        parts[at] = NAME.sub(lambda found: ("#" if found[1] in names else "") + found[1], parts[at])
    return doc.group(1) + "`".join(parts)


def throwing_doc(line):
    """The documentation of a declaration among the throwing forms."""
    name = re.search(r"(\w+)\(", line)
    if name and name[1][0].isupper():
        name = ["", "create"]
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}/// Calls try_{name[1]}(), and throws hob::Error if it fails." if name else None


def filtered(path, names):
    lines = DEFAULTS.sub("", path.read_text()).splitlines()
    is_top, is_section_open, depth_of_throwing, depth = True, False, None, 0
    for at, line in enumerate(lines):
        if is_top and line.startswith("//"):
            if at == 0:
                yield f"/// @file {path.name}"
                line = re.sub(r"^// hobgoblin/[\w.]+: (.)", lambda found: "// " + found[1].upper(), line)
                line = line.replace("Part of hobgoblin.hpp. ", "")
                yield linked("///" + line[2:], names)
            else:
                yield linked("///" + line[2:], names)
            continue
        is_top = False
        section = SECTION.match(line)
        if section:
            if is_section_open:
                yield "/// @}"
            is_section_open = True
            yield f"/// @name {section[1]}"
            yield "/// @{"
            continue
        # A group ends before the brace that closes extern "C".
        if is_section_open and line == "#ifdef __cplusplus" and lines[at + 1].startswith("}"):
            is_section_open = False
            yield "/// @}"
        if THROWING.match(line):
            depth_of_throwing = depth
        elif line.startswith("#endif"):
            depth_of_throwing = None
        elif depth_of_throwing == depth and not lines[at - 1].lstrip().startswith("///"):
            begins = lines[at - 1].rstrip().endswith((";", "}", "{", "forms.", "EXCEPTIONS", ":")) or not lines[at - 1].strip()
            is_template = line.lstrip().startswith("template")
            declares = next((other for other in lines[at:] if "(" in other and not other.lstrip().startswith("template")), "")
            begins &= not lines[at - 1].lstrip().startswith("template") and line.strip() not in ("", "}")
            if begins and not line.lstrip().startswith("//") and (is_template or "(" in line):
                doc = throwing_doc(declares)
                if doc:
                    yield doc
        if not lines[at - 1].lstrip().startswith("///"):
            if re.match(r"    (const )?hob_\w+\*? capi\(\)", line):
                yield "    /// The C handle or id."
            elif re.match(r"    (\w+\(\w+&& other\)|\w+& operator=\(\w+&& other\))", line):
                yield "    /// Moves. The other object is empty afterwards."
            elif re.match(r"    (\w+\(const (\w+)& other\)|\w+& operator=\(const \w+& other\)) noexcept", line):
                yield "    /// Copies."
            elif re.match(r"    static Result<\w+> try_create\(", line):
                yield "    /// Creates one with these parameters."
            if INIT_MACRO.match(line):
                yield "/// Sets all defaults, and struct_size: an initialiser."
            elif INIT_FUNCTION.match(line):
                struct = INIT_FUNCTION.match(line)[1]
                yield f"/// Sets all defaults of a #{struct}, and its struct_size to `size`, which is `sizeof(*value)`. Threads: any."
        depth += line.count("{") - line.count("}")
        yield linked(line, names)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: filter.py HEADER")
    path = Path(sys.argv[1])
    for line in filtered(path, linkable_names(path.parent)):
        print(line)


if __name__ == "__main__":
    main()
