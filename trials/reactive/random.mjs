// Random functions over a shared library of hobgoblin. Each value decides what they read next.
//
//     node random.mjs ../../target/debug/libhobgoblin.so lazy 300
//
// Every value must be the one that plain recursion computes, and no function may run unless something that it has read has
// changed since. Prints the number of runs.

import { framework } from "./adapter.mjs";

const [path, evaluator, seeds] = process.argv.slice(2);
const hobgoblin = framework(path, evaluator);
let runs = 0;

/// xorshift32: numbers below a limit.
function random(seed) {
    let state = Math.imul(seed, 2654435761) >>> 0 || 1;
    return (limit) => {
        state ^= state << 13;
        state ^= state >>> 17;
        state = (state ^ (state << 5)) >>> 0;
        return state % limit;
    };
}

/// A function that reads some of the nodes below `limit`. Small results, so that values are often equal to the last ones.
function randomFunction(below, limit) {
    const steps = Array.from({ length: 1 + below(4) }, () => ({ node: below(limit), skip: below(2), ends: below(3) }));
    const most = 2 + below(3);
    return (read) => {
        let sum = 0;
        for (let at = 0; at < steps.length; at++) {
            const { node, skip, ends } = steps[at];
            const value = read(node);
            sum += value * (at + 1);
            if (value % 2 === skip) at += 1;
            if (ends === 0 && sum % 3 === 0) break;
        }
        return sum % most;
    };
}

class Trial {
    constructor(seed) {
        this.seed = seed;
        this.below = random(seed);
        this.values = Array.from({ length: 2 + this.below(4) }, () => this.below(4));
        this.nodes = this.values.map((value) => hobgoblin.signal(value));
        this.functions = [];
        this.effects = [];
        /// By node: its value by plain recursion, and the number of its changes.
        this.known = [];
        for (let count = 3 + this.below(12); count > 0; count--) {
            const compute = randomFunction(this.below, this.nodes.length);
            this.nodes.push(hobgoblin.computed(this.observed(compute)));
            this.functions.push(compute);
        }
        this.learn();
        for (let count = 1 + this.below(4); count > 0; count--) {
            const compute = randomFunction(this.below, this.nodes.length);
            const effect = { compute, seen: null };
            const observed = this.observed(compute);
            effect.dispose = hobgoblin.effect(() => void (effect.seen = observed()));
            this.effects.push(effect);
        }
    }

    /// The function over the nodes. Fails if it runs although nothing that it has read has changed.
    observed(compute) {
        let last = null;
        return () => {
            runs += 1;
            this.expect(!last?.every(([node, changes]) => this.known[node].changes === changes), "a run without need");
            last = [];
            return compute((node) => {
                last.push([node, this.known[node].changes]);
                return this.nodes[node].read();
            });
        };
    }

    plain(node) {
        const compute = this.functions[node - this.values.length];
        return compute ? compute((source) => this.plain(source)) : this.values[node];
    }

    learn() {
        this.nodes.forEach((_, node) => {
            const { value, changes } = this.known[node] ?? { changes: 0 };
            const now = this.plain(node);
            this.known[node] = { value: now, changes: changes + (now === value ? 0 : 1) };
        });
    }

    /// Sets a signal in `values`. Returns what sets it in the graph.
    write() {
        const node = this.below(this.values.length);
        this.values[node] = this.below(4);
        return () => this.nodes[node].write(this.values[node]);
    }

    step() {
        const { below } = this;
        if (below(10) < 6) {
            const writes = Array.from({ length: 1 + below(3) }, () => this.write());
            this.learn();
            hobgoblin.batch(() => writes.forEach((write) => write()));
        } else if (below(4) > 0) {
            const node = below(this.nodes.length);
            this.expect(this.nodes[node].read() === this.known[node].value, "a wrong value");
        } else if (this.effects.length > 0) {
            this.effects.splice(below(this.effects.length), 1)[0].dispose();
        }
        for (const { compute, seen } of this.effects) {
            this.expect(seen === compute((node) => this.known[node].value), "an effect with an old value");
        }
    }

    expect(isTrue, what) {
        if (!isTrue) throw new Error(`${what}, seed ${this.seed}, ${evaluator}`);
    }
}

for (let seed = 1; seed <= Number(seeds); seed++) {
    hobgoblin.run(() => {
        const trial = new Trial(seed);
        for (let step = 0; step < 40; step++) trial.step();
    });
}
console.log(runs);
