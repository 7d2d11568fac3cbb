#!/usr/bin/env python3
"""Make one trace of what record.sh recorded, for `--trace` of the benchmark program_cache.

    tools/program_trace/make_trace.py FOLDER > tests/fixtures/programs.txt

A line for each link that was asked for, in the order of the sessions: a whole number for the program, the bytes of its
binary, the microseconds of compiling its shaders and linking it, and a number for the game. A program's cost is the least that it
was in any session, where it was built for the first time: a busy machine makes it more, never less, and a program built
again is found in the driver's own cache. Nothing else of the games is in the trace.
"""

import sys
from pathlib import Path


def links(path):
    """Program, bytes and cost of each link in a session."""
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "L" and len(words) == 6:
            yield words[2], int(words[3]), int(words[4]) + int(words[5])


def main():
    paths = sorted(Path(sys.argv[1]).glob("[0-9]*.txt"))
    sessions = [(path.stem, list(links(path))) for path in paths]
    costs, sizes = {}, {}
    for _, asked in sessions:
        built = set()
        for program, size, cost in asked:
            if program not in built:
                built.add(program)
                costs[program] = min(costs.get(program, cost), cost)
                sizes[program] = max(sizes.get(program, 0), size)
    numbers, games = {}, {}
    print("# program, bytes, microseconds to build, game: made by tools/program_trace, see there")
    for name, asked in sessions:
        words = name.split("-")
        game = games.setdefault(words[1], len(games))
        print(f"# session {' '.join(words)}".rstrip())
        for program, _, _ in asked:
            number = numbers.setdefault(program, len(numbers))
            print(number, sizes[program], costs[program], game)


main()
