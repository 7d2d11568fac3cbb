#!/usr/bin/env python3
"""Check the knapsack's answers with an independent solver: HiGHS, through scipy.optimize.milp.

  cargo bench -p hobgoblin-bench --bench knapsack -- --quick --dump answers.json
  tools/check_knapsack.py --answers answers.json
  cargo build --release && tools/check_knapsack.py --library target/release/libhobgoblin.so --count 2000

With --answers the instances and answers of a file that the benchmark wrote are checked; with --library small random
instances are made here (negative values and burdens, ties, no variance, settings of one option, options that cannot be
chosen) and solved through the C API. What is checked: choices are in range; value, burden and "fits" are as reported;
no answer that fits is worth more, if ours is said to be proven, and none is worth more than the upper bound; where we
say that nothing fits, nothing does, and nothing is lighter.

The scalar problem is a plain integer program. With sigmas the deviation is the root of the total variance, a concave
function, which is replaced from below by a chain of secants; the integer program chooses the piece. Where its answer
lies between two knots and doesn't truly fit, its variance becomes a knot, and the program is solved again. So the last
program's optimum is the true one, up to the integer solver's tolerance of 1e-6 in sums: answers that fit only by that
tolerance are told apart by a program with that much less room.

Needs Python 3.9, numpy and scipy 1.9 or later: pip install scipy
"""

import argparse
import ctypes
import json
import math
import random
import sys

try:
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack, vstack
except ImportError:
    sys.exit("this check needs scipy: pip install scipy")

TOLERANCE = 1e-6
ROUNDS = 60
NO_CHOICE = 65535


class Instance:
    """Settings as lists of (value, mean or None, variance)."""

    def __init__(self, name, settings, capacity, sigmas):
        self.name, self.settings, self.capacity, self.sigmas = name, settings, capacity, sigmas

    def totals(self, choices):
        value = mean = variance = 0.0
        for options, choice in zip(self.settings, choices):
            if options:
                v, m, q = options[choice]
                value, mean, variance = value + v, mean + (math.inf if m is None else m), variance + q
        return value, mean, variance

    def burden(self, choices):
        _, mean, variance = self.totals(choices)
        return mean + self.sigmas * math.sqrt(variance)


class Program:
    """The integer program, with a chain of secants for the deviation."""

    seconds = 5.0
    undecided = 0

    def __init__(self, instance):
        self.instance = instance
        flat = [(s, o) for s, options in enumerate(instance.settings) for o in range(len(options))]
        self.flat = [(s, o) for s, o in flat if instance.settings[s][o][1] is not None]
        option = [instance.settings[s][o] for s, o in self.flat]
        self.value = np.array([o[0] for o in option])
        self.mean = np.array([o[1] for o in option])
        self.variance = np.array([o[2] for o in option])
        used = [s for s, options in enumerate(instance.settings) if options]
        row = {s: r for r, s in enumerate(used)}
        self.possible = len({s for s, _ in self.flat}) == len(used)
        ones = np.ones(len(self.flat))
        at = ([row[s] for s, _ in self.flat], range(len(self.flat)))
        self.choose_one = csr_array((ones, at), shape=(len(used), len(self.flat)))
        least = sum(min(o[2] for o in options if o[1] is not None) for options in instance.settings if options) if self.possible else 0
        most = sum(max(o[2] for o in options if o[1] is not None) for options in instance.settings if options) if self.possible else 0
        self.is_normal = instance.sigmas > 0 and most > 0
        self.knots = sorted({least, most} | {least + (most - least) * (k / 8) ** 2 for k in range(1, 8)})

    def pieces(self):
        pairs = [(a, b) for a, b in zip(self.knots, self.knots[1:]) if b > a]
        return pairs or [(self.knots[0], self.knots[0])]

    def solve(self, cost, room):
        """Least cost with burden <= room (room None: the burden itself is the cost). Choices, or None."""
        n = len(self.flat)
        if n == 0:
            return []
        sigmas, pieces = self.instance.sigmas, self.pieces() if self.is_normal else []
        k = len(pieces)
        # Columns: options; per piece, whether it is the one; per piece, how far above its lower knot.
        lows = np.array([math.sqrt(a) for a, _ in pieces])
        slopes = np.array([(math.sqrt(b) - math.sqrt(a)) / (b - a) if b > a else 0.0 for a, b in pieces])
        burden = np.concatenate([self.mean, sigmas * lows, sigmas * slopes])
        blocks = [hstack([self.choose_one, csr_array((self.choose_one.shape[0], 2 * k))])] if k else [self.choose_one]
        lower, upper = [1.0] * self.choose_one.shape[0], [1.0] * self.choose_one.shape[0]
        if k:
            starts = np.array([a for a, _ in pieces])
            widths = np.array([b - a for a, b in pieces])
            blocks.append(csr_array(np.concatenate([np.zeros(n), np.ones(k), np.zeros(k)])[None, :]))
            blocks.append(csr_array(np.concatenate([-self.variance, starts, np.ones(k)])[None, :]))
            lower += [1.0, 0.0]
            upper += [1.0, 0.0]
            inside = np.hstack([np.zeros((k, n)), -np.diag(widths), np.eye(k)])
            blocks.append(csr_array(inside))
            lower += [-np.inf] * k
            upper += [0.0] * k
        if room is not None and math.isfinite(room):
            blocks.append(csr_array(burden[None, :]))
            lower.append(-np.inf)
            upper.append(room)
        full_cost = np.concatenate([cost, np.zeros(2 * k)]) if room is not None else burden
        bounds = Bounds(np.zeros(n + 2 * k), np.concatenate([np.ones(n + k), np.full(k, np.inf)]))
        integrality = np.concatenate([np.ones(n + k), np.zeros(k)])
        constraint = LinearConstraint(vstack(blocks).tocsc(), lower, upper)
        limits = {"mip_rel_gap": 0.0, "time_limit": Program.seconds}
        found = milp(full_cost, constraints=constraint, bounds=bounds, integrality=integrality, options=limits)
        Program.undecided += found.status == 1
        if found.x is None:
            return None
        choices = [NO_CHOICE] * len(self.instance.settings)
        for (setting, option), share in zip(self.flat, found.x):
            if share > 0.5:
                choices[setting] = option
        return choices

    def refined(self, cost, room, accept):
        """Solve, and make the answer's variance a knot, until the deviation counted for the answer is its own."""
        for _ in range(ROUNDS):
            choices = self.solve(cost, room)
            if choices is None or not self.is_normal or accept(choices):
                return choices
            variance = self.instance.totals(choices)[2]
            if any(abs(variance - knot) <= 1e-12 * (1.0 + knot) for knot in self.knots):
                return choices
            self.knots = sorted(self.knots + [variance])
        raise RuntimeError(f"{self.instance.name}: no end of knots")

    def best(self, room):
        return self.refined(-self.value, room, lambda choices: self.instance.burden(choices) <= room)

    def lightest(self):
        return self.refined(None, None, lambda _: False)


def complaints(instance, answer):
    """What is wrong with an answer."""
    choices, sigmas, capacity = answer["choices"], instance.sigmas, instance.capacity
    if len(choices) != len(instance.settings):
        return ["as many choices as settings are wanted"]
    for options, choice in zip(instance.settings, choices):
        if (choice == NO_CHOICE) != (not options) or options and choice >= len(options):
            return ["a choice out of range"]
    wrong = []
    value, mean, variance = instance.totals(choices)
    size = 1.0 + sum(max(abs(o[0]) for o in options) for options in instance.settings if options)
    burden = mean + sigmas * math.sqrt(variance)
    if abs(value - answer["value"]) > 1e-12 * size:
        wrong.append(f"the value is {value}, not {answer['value']}")
    slop = 1e-11 * (abs(capacity) + sum(max([0.0] + [-o[1] for o in options if o[1] is not None]) for options in instance.settings))
    if answer["feasible"] and burden > capacity + slop:
        wrong.append(f"a burden of {burden} doesn't fit")
    program = Program(instance)
    if not program.possible:
        return wrong + (["it cannot be feasible"] if answer["feasible"] else [])
    edge = TOLERANCE * (1.0 + abs(capacity))
    if answer["feasible"]:
        rival = program.best(capacity)
        if rival is not None and instance.totals(rival)[0] > value + TOLERANCE * size and instance.burden(rival) > capacity + slop:
            rival = Program(instance).best(capacity - edge)
        better = instance.totals(rival)[0] if rival is not None else -math.inf
        if answer["proven"] and better > value + TOLERANCE * size:
            wrong.append(f"{better} is better than {value}")
        if better > answer["upper_bound"] + TOLERANCE * size:
            wrong.append(f"{better} is above the bound {answer['upper_bound']}")
    else:
        rival = program.lightest()
        if rival is not None and instance.burden(rival) < burden - edge:
            wrong.append(f"{instance.burden(rival)} is lighter than {burden}")
        if rival is not None and instance.burden(rival) <= capacity - edge:
            wrong.append("something fits")
    return wrong


class Library:
    """The C API."""

    class SolveDesc(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("capacity", ctypes.c_double),
                    ("sigmas", ctypes.c_double), ("accepted_gap", ctypes.c_double), ("node_limit", ctypes.c_uint64)]

    class Solution(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_uint32), ("feasible", ctypes.c_uint32), ("proven", ctypes.c_uint32),
                    ("reserved", ctypes.c_uint32)] + [(name, ctypes.c_double) for name in
                    ("value", "mean", "variance", "burden", "excess", "upper_bound", "gap")] + [("nodes", ctypes.c_uint64)]

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.handle = ctypes.c_void_p()
        self.call("hob_knapsack_create", None, ctypes.byref(self.handle))

    def call(self, name, *arguments):
        code = getattr(self.c, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: {code}")

    def solve(self, instance):
        """One knapsack for all: so it also begins with what it remembers."""
        self.call("hob_knapsack_clear", self.handle)
        for options in instance.settings:
            flat = [number for v, m, q in options for number in (v, math.inf if m is None else m, q)]
            array = (ctypes.c_double * max(1, len(flat)))(*flat)
            self.call("hob_knapsack_add_setting", self.handle, array, ctypes.c_size_t(24), ctypes.c_uint32(len(options)), None)
        desc, solution = self.SolveDesc(), self.Solution()
        self.call("hob_knapsack_solve_desc_init", ctypes.byref(desc), ctypes.c_uint32(ctypes.sizeof(desc)))
        self.call("hob_knapsack_solution_init", ctypes.byref(solution), ctypes.c_uint32(ctypes.sizeof(solution)))
        desc.capacity, desc.sigmas = instance.capacity, instance.sigmas
        self.call("hob_knapsack_solve", self.handle, ctypes.byref(desc), ctypes.byref(solution))
        count = len(instance.settings)
        choices = (ctypes.c_uint16 * max(1, count))()
        written = ctypes.c_uint32()
        self.call("hob_knapsack_choices", self.handle, choices, ctypes.c_uint32(count), ctypes.byref(written))
        return {"choices": list(choices)[:count], "value": solution.value, "burden": solution.burden,
                "upper_bound": solution.upper_bound, "feasible": bool(solution.feasible), "proven": bool(solution.proven)}


def random_instance(seed):
    dice = random.Random(seed)
    quantised, scalar, negative = dice.random() < 0.4, dice.random() < 0.3, dice.random() < 0.5

    def option():
        value, mean = dice.uniform(-5 if negative else 0, 10), dice.uniform(-3 if negative else 0, 10)
        variance = 0.0 if scalar or dice.random() < 0.2 else dice.uniform(0, 9)
        if quantised:
            value, mean, variance = round(value), round(mean), round(variance)
        return value, None if dice.random() < 0.02 else mean, variance

    settings = [[option() for _ in range(dice.choice((1, 2, 2, 3, 4, 8)))] for _ in range(dice.choice((1, 2, 3, 6, 12, 25)))]
    means = [[o[1] for o in options if o[1] is not None] or [0.0] for options in settings]
    least, most = sum(map(min, means)), sum(map(max, means))
    capacity = least + dice.uniform(-0.05, 0.9) * (most - least)
    sigmas = 0.0 if scalar else dice.choice((0.0, 1.0, 3.0, 4.0))
    return Instance(f"random {seed}", settings, float(round(capacity)) if quantised else capacity, sigmas)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", help="a file that the benchmark's --dump wrote")
    parser.add_argument("--library", help="the shared library, for random instances")
    parser.add_argument("--count", type=int, default=500, help="random instances, or most answers of the file")
    parser.add_argument("--seed", type=int, default=0, help="the first random instance")
    parser.add_argument("--seconds", type=float, default=5.0, help="for one integer program; then its best answer counts")
    options = parser.parse_args()
    Program.seconds = options.seconds
    cases = []
    if options.answers:
        with open(options.answers, encoding="utf-8") as file:
            answers = json.load(file)["answers"]
        step = max(1, len(answers) // options.count)
        cases += [(Instance(a["name"], a["settings"], a["capacity"], a["sigmas"]), a) for a in answers[::step]]
    if options.library:
        library = Library(options.library)
        random_ones = map(random_instance, range(options.seed, options.seed + options.count))
        cases += [(instance, library.solve(instance)) for instance in random_ones]
    if not cases:
        parser.error("--answers or --library")
    failed = normal = infeasible = 0
    for instance, answer in cases:
        wrong = complaints(instance, answer)
        failed, normal = failed + bool(wrong), normal + (instance.sigmas > 0)
        infeasible += not answer["feasible"]
        for sentence in wrong:
            print(f"{instance.name}: {sentence}")
    print(f"{len(cases)} answers checked ({normal} with sigmas, {infeasible} infeasible): {failed} wrong; "
          f"{Program.undecided} integer programs ran out of time")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
