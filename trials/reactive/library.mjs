// The part of hobgoblin/graph.h that the adapter uses, called through koffi.

import koffi from "koffi";

/// Numbers of the header.
export const CLASS_PURE = 1;
const CLASS_INPUT = 3;
export const CLASS_EFFECT = 4;
export const VERDICT_DONE = 0;
export const VERDICT_NEED = 1;
const VERDICT_FAILED = 2;
const RESULT_OK = 0;
const INPUT_LAZY = 1;

/// Values of hob_cutoff.
export const CUTOFFS = { bytes: 0, never: 4 };
/// Values of hob_evaluator.
export const EVALUATORS = { auto: 0, lazy: 1, list: 2, bitset: 3, parallel: 4 };
/// Inputs of a node: as many as may be lazy.
export const INPUTS = 64;

koffi.opaque("hob_graph");
koffi.struct("hob_str", { data: "const char *", len: "size_t" });
koffi.struct("hob_node_id", { index1: "uint32_t", generation: "uint32_t" });
// The use that the adapter makes of the union: see `Values`.
koffi.struct("hob_value", { number: "double", word: "uint64_t" });
koffi.struct("hob_node_input", { flags: "uint32_t", reserved: "uint32_t", value: "hob_value" });
koffi.struct("hob_node_output", { cutoff: "uint32_t", flags: "uint32_t", epsilon: "double", value: "hob_value" });
koffi.struct("hob_node_call", {
    struct_size: "uint32_t",
    input_count: "uint32_t",
    inputs: "void *",
    outputs: "void *",
    output_count: "uint32_t",
    message_capacity: "uint32_t",
    available: "uint64_t",
    need: "uint64_t",
    message: "void *",
});
koffi.proto("uint32_t hob_evaluate(uintptr_t user_data, void *call)");
const desc = koffi.struct("hob_node_desc", {
    struct_size: "uint32_t",
    node_class: "uint32_t",
    name: "hob_str",
    type_name: "hob_str",
    evaluate: "hob_evaluate *",
    user_data: "uintptr_t",
    release: "void *",
    is_equal: "void *",
    release_value: "void *",
    inputs: "void *",
    input_stride: "size_t",
    input_count: "size_t",
    outputs: "void *",
    output_stride: "size_t",
    output_count: "size_t",
    flags: "uint32_t",
    reserved: "uint32_t",
});
const evaluation = koffi.struct("hob_evaluation_desc", {
    struct_size: "uint32_t",
    evaluator: "uint32_t",
    node_limit: "uint64_t",
    only: "hob_node_id",
});
const ALL_SINKS = { index1: 0, generation: 0 };

/// Loads the library. Its functions throw the sentence of hob_last_error. `cutoff` is the rule of all outputs.
export function load(path, cutoff) {
    const library = koffi.load(path);
    const lastError = library.func("const char *hob_last_error(void)");
    const checked = (prototype) => {
        const call = library.func(prototype);
        return (...values) => {
            if (call(...values) !== RESULT_OK) throw new Error(lastError());
        };
    };
    const initDesc = checked("int hob_node_desc_init(_Out_ hob_node_desc *value, uint32_t size)");
    const addNode = checked("int hob_graph_add_node(hob_graph *, const hob_node_desc *, _Out_ hob_node_id *)");
    const create = checked("int hob_graph_create(void *desc, _Out_ hob_graph **)");
    const getValue = checked("int hob_graph_get_value(hob_graph *, hob_node_id, uint32_t output, _Out_ hob_value *)");
    const evaluate = checked("int hob_graph_evaluate(hob_graph *, void *, const hob_evaluation_desc *, void *)");
    const value = { number: 0, word: 0 };
    const lazy = { flags: INPUT_LAZY, reserved: 0, value };
    const inputs = koffi.alloc("hob_node_input", INPUTS);
    koffi.encode(inputs, "hob_node_input", Array(INPUTS).fill(lazy), INPUTS);
    const output = koffi.alloc("hob_node_output", 1);
    koffi.encode(output, "hob_node_output", { cutoff: CUTOFFS[cutoff], flags: 0, epsilon: 0, value });
    const add = (graph, parameters) => {
        const all = {};
        const id = {};
        initDesc(all, koffi.sizeof(desc));
        addNode(graph, Object.assign(all, parameters), id);
        return id;
    };
    return {
        createGraph() {
            const out = [null];
            create(null, out);
            return out[0];
        },
        destroyGraph: library.func("void hob_graph_destroy(hob_graph *)"),
        /// Adds a node that the host sets.
        addInput: (graph) => add(graph, { node_class: CLASS_INPUT, output_count: 1 }),
        /// Adds a node with lazy inputs and one output.
        addNode(graph, node_class, evaluate, user_data) {
            const inputPins = { inputs, input_stride: koffi.sizeof("hob_node_input"), input_count: INPUTS };
            const outputPins = { outputs: output, output_stride: koffi.sizeof("hob_node_output"), output_count: 1 };
            return add(graph, { node_class, evaluate, user_data, ...inputPins, ...outputPins });
        },
        removeNode: checked("int hob_graph_remove_node(hob_graph *, hob_node_id)"),
        connect: checked("int hob_graph_connect(hob_graph *, hob_node_id, uint32_t, hob_node_id, uint32_t)"),
        disconnect: checked("int hob_graph_disconnect(hob_graph *, hob_node_id, uint32_t)"),
        setInput: checked("int hob_graph_set_input(hob_graph *, hob_node_id, uint32_t, const hob_value *)"),
        /// Brings a node up to date, or all sinks.
        evaluate(graph, evaluator, only = ALL_SINKS) {
            evaluate(graph, null, { struct_size: koffi.sizeof(evaluation), evaluator, node_limit: 0, only }, null);
            if (fault) throw fault;
        },
        cancel: checked("int hob_graph_cancel(hob_graph *)"),
        getValue(graph, node) {
            const value = {};
            getValue(graph, node, 0, value);
            return value;
        },
    };
}

/// An error of the adapter inside an evaluation: no exception may cross the C functions.
let fault = null;

/// Makes a C function of `(user_data, available) => { verdict, need } or { verdict, value }`.
export function registerEvaluate(visit) {
    const need = koffi.offsetof("hob_node_call", "need");
    const evaluate = (userData, call) => {
        const { available, outputs } = koffi.decode(call, "hob_node_call");
        try {
            const answer = visit(Number(userData), BigInt(available));
            if (answer.verdict === VERDICT_NEED) koffi.encode(call, need, "uint64_t", answer.need);
            else koffi.encode(outputs, "hob_value", answer.value);
            return answer.verdict;
        } catch (error) {
            fault = error;
            return VERDICT_FAILED;
        }
    };
    return koffi.register(evaluate, "hob_evaluate *");
}

export const unregister = koffi.unregister;
