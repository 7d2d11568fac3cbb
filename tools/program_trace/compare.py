#!/usr/bin/env python3
"""What policies of eviction save, as multiples of what LRU saves: the table in docs/decisions.md.

    tools/program_trace/compare.py tests/fixtures/programs.txt

A model of src/program_cache/memory/fading.rs beside others, on the recorded trace with room for 5, 10 and 20 % of all bytes, and on
traces made up, with room for 10 %; `s0.5` is the spread of build costs, the deviation of their logarithms.
"""

import bisect
import heapq
import math
import random
import sys
from collections import OrderedDict

OVERHEAD = 32


def recorded(path):
    """Program, bytes counted and cost of all that was asked for."""
    lines = [line.split() for line in open(path) if not line.startswith("#")]
    return [(int(words[0]), int(words[1]) + OVERHEAD, max(int(words[2]), 1)) for words in lines]


def lru(trace, limit):
    held, used, saved = OrderedDict(), 0, 0
    for program, size, cost in trace:
        if program in held:
            held.move_to_end(program)
            saved += cost
            continue
        while used + size > limit:
            used -= held.popitem(last=False)[1]
        held[program] = size
        used += size
    return saved


def gdsf(trace, limit):
    """Rank: floor at the last use + uses * cost / size."""
    held, heap, used, saved, floor = {}, [], 0, 0, 0.0
    for time, (program, size, cost) in enumerate(trace):
        if program in held:
            uses = held[program][1] + 1
            held[program] = (floor + uses * cost / size, uses, time, size)
            saved += cost
            continue
        while used + size > limit:
            rank, when, victim = heapq.heappop(heap)
            if held[victim][0] != rank or held[victim][2] != when:
                heapq.heappush(heap, (held[victim][0], held[victim][2], victim))
                continue
            used -= held.pop(victim)[3]
            floor = rank
        held[program] = (floor + cost / size, 1, time, size)
        heapq.heappush(heap, (held[program][0], time, program))
        used += size
    return saved


def fading(trace, limit, half_life=4.0, step=0.0):
    """Rank: age at the last use + log2(uses * cost / size). With a step the half-life is learned."""
    held, heap, gone, used, saved, age = {}, [], OrderedDict(), 0, 0, 0.0
    for program, size, cost in trace:
        if program in held:
            uses = held[program][1] + 1
            held[program] = (age + math.log2(uses * cost / size), uses, age, size)
            saved += cost
            continue
        uses, last_use = gone.pop(program, (0, None))
        if last_use is not None and step:
            change = step / max(len(held), 1)
            is_soon = (age - last_use) * half_life < 1.5
            half_life = min(max(half_life * 2.0 ** (-change if is_soon else change), 1 / 16), 64.0)
        age += size / limit / half_life
        while used + size > limit:
            rank, victim = heapq.heappop(heap)
            if held[victim][0] != rank:
                heapq.heappush(heap, (held[victim][0], victim))
                continue
            _, its_uses, its_last, its_size = held.pop(victim)
            gone[victim] = (its_uses, its_last)
            used -= its_size
        while len(gone) > max(2 * len(held), 16):
            gone.popitem(last=False)
        held[program] = (age + math.log2((uses + 1) * cost / size), uses + 1, age, size)
        heapq.heappush(heap, (held[program][0], program))
        used += size
    return saved


def evicting(trace, limit, worth):
    """The least worth goes, by `worth(program, size, cost, uses, first, time)`."""
    held, used, saved = {}, 0, 0
    for time, (program, size, cost) in enumerate(trace):
        if program in held:
            held[program][2] += 1
            saved += cost
        else:
            held[program] = [size, cost, 1, time]
            used += size
        if used > limit:
            for victim in sorted(held, key=lambda one: worth(one, *held[one], time)):
                used -= held.pop(victim)[0]
                if used <= limit:
                    break
    return saved


def hyperbolic(trace, limit):
    return evicting(trace, limit, lambda _, size, cost, uses, first, time: uses * cost / size / (time - first + 1))


def future(trace, limit):
    """Knows when each is asked for again, and is greedy: the latest, largest, cheapest goes."""
    places = {}
    for time, (program, _, _) in enumerate(trace):
        places.setdefault(program, []).append(time)

    def worth(program, size, cost, _uses, _first, time):
        after = bisect.bisect_right(places[program], time)
        return cost / size / (places[program][after] - time) if after < len(places[program]) else 0.0

    return evicting(trace, limit, worth)


# Synthetic traces.


def zipf(places, exponent):
    sums, total = [], 0.0
    for place in range(1, places + 1):
        total += place**-exponent
        sums.append(total)
    return sums


def draw(sums, rng):
    return min(bisect.bisect_left(sums, rng.random() * sums[-1]), len(sums) - 1)


def programs(count, spread, rng):
    made = []
    for number in range(count):
        size = math.exp(0.8 * rng.gauss(0, 1))
        cost = 10000 * math.exp(spread * rng.gauss(0, 1)) * math.sqrt(size)
        made.append((number, int(min(max(4800 * size, 200), 199000)) + OVERHEAD, max(int(cost), 1)))
    return made


def levels(spread, rng):
    """As the benchmark program_cache generates them."""
    made, favourites, trace = programs(4000, spread, rng), list(range(4000)), []
    rng.shuffle(favourites)
    of_levels, of_all, of_session = zipf(40, 1.0), zipf(4000, 0.9), zipf(300, 0.9)
    for session in range(120):
        if session % 10 == 9:
            first = rng.randrange(40)
            trace += [made[level % 40 * 100 + place] for level in range(first, first + 8) for place in range(100)]
        chosen = [draw(of_levels, rng) for _ in range(3)]
        for _ in range(600):
            place = draw(of_session, rng)
            of_level = chosen[place % 3] * 100 + place // 3
            trace.append(made[of_level if rng.random() < 0.9 else favourites[draw(of_all, rng)]])
    return trace


def moving(spread, rng):
    made = programs(3000, spread, rng)
    return [made[time * 2850 // 40000 + rng.randrange(150)] for time in range(40000)]


def changing(spread, rng):
    made, sums, trace = programs(3000, spread, rng), zipf(3000, 1.0), []
    for time in range(40000):
        if time % 4000 == 0:
            rng.shuffle(made)
        trace.append(made[draw(sums, rng)])
    return trace


def popular(spread, rng):
    made, sums = programs(2000, spread, rng), zipf(2000, 0.9)
    return [made[draw(sums, rng)] for _ in range(30000)]


def scanned(spread, rng):
    made, sums, trace = programs(3000, spread, rng), zipf(300, 0.9), []
    while len(trace) < 30000:
        trace += [made[draw(sums, rng)] for _ in range(500)]
        start = rng.randrange(300, 2500)
        trace += made[start : start + 400]
    return trace


POLICIES = {
    "gdsf": gdsf,
    "hyperbolic": hyperbolic,
    "half-life 1": lambda trace, limit: fading(trace, limit, 1.0),
    "half-life 16": lambda trace, limit: fading(trace, limit, 16.0),
    "learned": lambda trace, limit: fading(trace, limit, step=3.0),
}


def main():
    trace = recorded(sys.argv[1])
    rows = [(f"recorded {share}", trace, share, POLICIES | {"future": future}) for share in (0.05, 0.1, 0.2)]
    some = {name: policy for name, policy in POLICIES.items() if name != "hyperbolic"}
    for make in (levels, moving, changing, popular, scanned):
        for spread in (0.5, 1.0, 1.5):
            rows.append((f"{make.__name__} s{spread}", make(spread, random.Random(1)), 0.1, some))
    for name, trace, share, policies in rows:
        limit = int(sum({program: size for program, size, _ in trace}.values()) * share)
        least = lru(trace, limit)
        cells = [f"{policy} {of(trace, limit) / least:.2f}" for policy, of in policies.items()]
        print(f"{name:13} lru {least / sum(cost for _, _, cost in trace):.3f}:", ", ".join(cells), flush=True)


main()
