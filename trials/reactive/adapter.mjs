// Signals, computed values and effects over hobgoblin/graph.h.
//
// A signal is a node of HOB_NODE_CLASS_INPUT, a computed value one of HOB_NODE_CLASS_PURE, an effect one of
// HOB_NODE_CLASS_EFFECT. The library decides which node runs, when, and how often. The adapter runs the function of the
// node, sees what it reads, and links that.
//
// A function may read anything, so it runs between evaluations, not inside of one:
// 1. The library calls the node. It asks for an input without a link, and cancels the evaluation, which ends there.
// 2. The adapter runs the function. Each value that it reads is brought up to date by an evaluation of that node alone.
// 3. The next evaluation calls the node again. It asks for its inputs in the order in which the function has read them,
//    and is done.
//
// By that order the library verifies a node before it calls it again: the first input that changed ends the search, and
// inputs behind it are not evaluated. Writes of a function take effect when the outermost function has ended.

import {
    CLASS_EFFECT,
    CLASS_PURE,
    EVALUATORS,
    INPUTS,
    VERDICT_DONE,
    VERDICT_NEED,
    load,
    registerEvaluate,
    unregister,
} from "./library.mjs";

/// The input without a link. The others have the nodes that the function reads, in order.
const PAUSE = 0;
/// A function that runs more often than this after one write does not settle.
const MOST_RUNS = 100;

/// The value of a function that threw.
class Thrown {
    constructor(error) {
        this.error = error;
    }
}

/// Values as 16 bytes. Equal bytes are the same value, by the rule of `Object.is`.
class Values {
    #numbers = new Map();
    #list = [];

    encode(value) {
        if (typeof value === "number" && !Number.isNaN(value)) return { number: value, word: 0 };
        if (!this.#numbers.has(value)) {
            this.#numbers.set(value, this.#list.length);
            this.#list.push(value);
        }
        return { number: this.#numbers.get(value), word: 1 };
    }

    decode({ number, word }) {
        return Number(word) === 0 ? number : this.#list[number];
    }
}

/// A graph, and the functions that are running.
class Scope {
    nodes = [];
    values = new Values();
    /// The innermost function that is running, and what it has read and written so far.
    frame = null;
    /// Writes of functions that have ended. They take effect after the outermost function.
    writes = new Map();
    batches = 0;
    isFlushing = false;
    /// The node whose function the evaluation waits for.
    due = null;

    constructor(library, evaluator) {
        this.library = library;
        this.evaluator = evaluator;
        this.graph = library.createGraph();
        this.visit = registerEvaluate((key, available) => this.nodes[key].visit(available));
    }

    destroy() {
        this.library.destroyGraph(this.graph);
        unregister(this.visit);
    }

    add(node, nodeClass) {
        node.key = this.nodes.push(node) - 1;
        node.id = this.library.addNode(this.graph, nodeClass, this.visit, node.key);
    }

    remove(node) {
        this.library.removeNode(this.graph, node.id);
        delete this.nodes[node.key];
        node.id = null;
    }

    /// Evaluates one node, or all effects. Returns the node whose function must run before it can go on, or null.
    evaluate(node) {
        this.due = null;
        this.library.evaluate(this.graph, this.evaluator, node?.id);
        return this.due;
    }

    /// Brings a node up to date.
    bring(node) {
        for (;;) {
            const due = this.evaluate(node);
            if (!due) return;
            this.run(due);
            // It is disposed of, or it has just run. A function that writes what it reads is never up to date.
            if (!node.id || due === node) return;
        }
    }

    /// Runs the function of a node that the library wants to run.
    run(node) {
        if (node.isRunning) throw new Error("a function reads its own value");
        node.isRunning = true;
        node.result = this.enter({ node, isTracking: true, used: 0 }, (frame) => {
            const result = node.call();
            this.unlinkFrom(node, frame.used);
            return result;
        });
        node.isRunning = false;
        if (node.id) this.evaluate(node);
    }

    /// Calls a function in a frame of its own.
    enter(parameters, call) {
        const frame = { outer: this.frame, writes: new Map(), ...parameters };
        this.frame = frame;
        try {
            return call(frame);
        } finally {
            this.frame = frame.outer;
            for (const [signal, value] of frame.writes) this.writes.set(signal, value);
        }
    }

    /// The function that is running reads a node: links it.
    track(source) {
        const { node, isTracking, used } = this.frame ?? {};
        if (!isTracking || !node.id || node.sources.slice(0, used).includes(source)) return;
        if (used + 1 === INPUTS) throw new Error(`a function reads more than ${INPUTS - 1} nodes`);
        if (node.sources[used] !== source) {
            this.library.connect(this.graph, source.id, 0, node.id, used + 1);
            node.sources[used] = source;
        }
        this.frame.used += 1;
    }

    /// Removes the links of the last run that this run has not made again.
    unlinkFrom(node, used) {
        for (let at = used; at < node.sources.length && node.id; at++) {
            this.library.disconnect(this.graph, node.id, at + 1);
        }
        node.sources.length = used;
    }

    /// Applies the writes of functions.
    apply() {
        for (const [signal, value] of this.writes) signal.set(value);
        this.writes.clear();
    }

    /// After an operation of the host: applies writes, and runs the effects that the library wants to run.
    settle() {
        if (this.frame || this.isFlushing) return;
        this.apply();
        if (this.batches > 0) return;
        this.isFlushing = true;
        try {
            this.flush();
        } finally {
            this.isFlushing = false;
        }
    }

    /// Evaluates the effects until they are up to date. Throws the first error of an effect when it has ended.
    flush() {
        const errors = [];
        const runs = new Map();
        for (;;) {
            const due = this.evaluate();
            if (!due && this.writes.size === 0) break;
            if (due) {
                this.run(due);
                runs.set(due, (runs.get(due) ?? 0) + 1);
                if (due.error) errors.push(due.error.error);
            }
            if (due instanceof Effect || !due) this.apply();
            if (runs.get(due) > MOST_RUNS) {
                due.dispose?.();
                errors.push(new Error(`a function has run ${MOST_RUNS} times after one write, and does not settle`));
                break;
            }
        }
        if (errors.length > 0) throw errors[0];
    }
}

class Signal {
    constructor(scope, value) {
        this.scope = scope;
        this.id = scope.library.addInput(scope.graph);
        this.set(value);
    }

    set(value) {
        this.value = value;
        this.scope.library.setInput(this.scope.graph, this.id, 0, this.scope.values.encode(value));
    }

    read() {
        this.scope.track(this);
        const written = this.scope.frame?.writes;
        return written?.has(this) ? written.get(this) : this.value;
    }

    write(value) {
        if (this.scope.frame) {
            this.scope.frame.writes.set(this, value);
            return;
        }
        this.set(value);
        this.scope.settle();
    }
}

/// A node with a function.
class Node {
    sources = [];
    isRunning = false;
    result = undefined;

    constructor(scope, nodeClass, compute) {
        this.scope = scope;
        this.compute = compute;
        scope.add(this, nodeClass);
    }

    /// The library calls the node.
    visit(available) {
        if (!this.result) {
            this.scope.due = this;
            this.scope.library.cancel(this.scope.graph);
            return { verdict: VERDICT_NEED, need: 1n << BigInt(PAUSE) };
        }
        const next = this.sources.findIndex((_, at) => ((available >> BigInt(at + 1)) & 1n) === 0n);
        if (next >= 0) return { verdict: VERDICT_NEED, need: 1n << BigInt(next + 1) };
        const value = this.scope.values.encode(this.result.value);
        this.result = undefined;
        return { verdict: VERDICT_DONE, value };
    }
}

class Computed extends Node {
    constructor(scope, compute) {
        super(scope, CLASS_PURE, compute);
    }

    call() {
        try {
            return { value: this.compute() };
        } catch (error) {
            return { value: new Thrown(error) };
        }
    }

    read() {
        const { scope } = this;
        let value;
        try {
            scope.bring(this);
            scope.track(this);
            value = scope.values.decode(scope.library.getValue(scope.graph, this.id));
        } finally {
            scope.settle();
        }
        if (value instanceof Thrown) throw value.error;
        return value;
    }
}

class Effect extends Node {
    inner = [];
    cleanup = null;
    error = null;

    constructor(scope, compute) {
        super(scope, CLASS_EFFECT, compute);
    }

    call() {
        this.error = null;
        try {
            this.clear();
            if (this.id) {
                        const cleanup = this.compute();
                if (typeof cleanup === "function") this.cleanup = cleanup;
            }
            if (!this.id) this.clear();
        } catch (error) {
            this.error = new Thrown(error);
        }
        return { value: undefined };
    }

    /// Ends what the last run has begun.
    clear() {
        const { inner, cleanup } = this;
        [this.inner, this.cleanup] = [[], null];
        for (const effect of inner) effect.dispose();
        if (cleanup) this.scope.enter({ isTracking: false }, cleanup);
    }

    dispose() {
        if (!this.id) return;
        this.scope.remove(this);
        try {
            if (!this.isRunning) this.clear();
        } finally {
            this.scope.settle();
        }
    }
}

/// The adapter of reactive-framework-test-suite, over the library at `path`.
export function framework(path, evaluator = "lazy", cutoff = "bytes") {
    const library = load(path, cutoff);
    let scope = null;
    return {
        name: "hobgoblin",
        /// Each run has a graph of its own.
        run(body) {
            const outer = scope;
            scope = new Scope(library, EVALUATORS[evaluator]);
            try {
                body();
            } finally {
                scope.destroy();
                scope = outer;
            }
        },
        signal: (value) => new Signal(scope, value),
        computed: (compute) => new Computed(scope, compute),
        effect(compute) {
            const effect = new Effect(scope, compute);
            scope.frame?.node?.inner?.push(effect);
            scope.bring(effect);
            try {
                if (effect.error) {
                    effect.dispose();
                    throw effect.error.error;
                }
            } finally {
                scope.settle();
            }
            return () => effect.dispose();
        },
        batch(body) {
            scope.batches += 1;
            try {
                return body();
            } finally {
                scope.batches -= 1;
                scope.settle();
            }
        },
        untracked(body) {
            const { frame } = scope;
            if (!frame) return body();
            const { isTracking } = frame;
            frame.isTracking = false;
            try {
                return body();
            } finally {
                frame.isTracking = isTracking;
            }
        },
    };
}
