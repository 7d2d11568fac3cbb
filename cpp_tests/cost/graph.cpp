// Evaluates a graph, or a hand-written loop over the same functions, so many times. Callgrind counts the instructions:
// see trials/tests/graph_cost.rs.
//
//     graph SHAPE EVALUATOR FRAMES
//
// SHAPE: chain (16,384 nodes) or levels (128 x 128), in whose frames all nodes run; or avoidable, diamond, fan-in or idle:
// small graphs. EVALUATOR: loop, or a number of hob_evaluator. Small graphs ignore it: they have HOB_EVALUATOR_AUTO.

#include <hobgoblin/graph.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr uint32_t NODES = 16384;
constexpr uint32_t WIDTH = 128;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "%s: %s\n", what, hob_last_error());
    std::exit(1);
}

void check(hob_result result, const char* what) {
    if (result != HOB_RESULT_OK) fail(what);
}

uint64_t mix(const hob_value* inputs) {
    return ((inputs[0].words[0] << 1) | (inputs[0].words[0] >> 63)) ^ (inputs[1].words[0] + 1);
}

hob_verdict plus_one(void*, hob_node_call* call) {
    call->outputs[0].words[0] = call->inputs[0].words[0] + 1;
    return HOB_VERDICT_DONE;
}

hob_verdict mix_two(void*, hob_node_call* call) {
    call->outputs[0].words[0] = mix(call->inputs);
    return HOB_VERDICT_DONE;
}

uint32_t loop_plus_one(void*, const hob_value* inputs, hob_value* output) {
    output->words[0] = inputs[0].words[0] + 1;
    return 0;
}

uint32_t loop_mix_two(void*, const hob_value* inputs, hob_value* output) {
    output->words[0] = mix(inputs);
    return 0;
}

/// The nodes that a node reads, by number. 0 is the head.
struct Inputs {
    uint32_t count;
    std::array<uint32_t, 2> sources;
};

std::vector<Inputs> shape(const char* name) {
    std::vector<Inputs> nodes;
    for (uint32_t at = 0; at < NODES; at++) {
        if (std::strcmp(name, "chain") == 0) {
            nodes.push_back({1, {at, 0}});
        } else if (at < WIDTH) {
            nodes.push_back({1, {0, 0}});
        } else {
            const uint32_t before = (at / WIDTH - 1) * WIDTH + 1;
            nodes.push_back({2, {before + at % WIDTH, before + (at + 1) % WIDTH}});
        }
    }
    return nodes;
}

/// A node of the hand-written loop.
struct LoopNode {
    uint32_t (*run)(void* user_data, const hob_value* inputs, hob_value* output);
    void* user_data;
    Inputs inputs;
};

/// Calls each function with the values that it reads, and stores its value.
void run_loop(const std::vector<Inputs>& nodes, int frames) {
    std::vector<LoopNode> loop;
    for (const Inputs& inputs : nodes) loop.push_back({inputs.count == 1 ? &loop_plus_one : &loop_mix_two, nullptr, inputs});
    std::vector<hob_value> values(nodes.size() + 1, hob_value{{0, 0}});
    for (int frame = 0; frame < frames; frame++) {
        values[0].words[0]++;
        for (size_t at = 0; at < loop.size(); at++) {
            const LoopNode& node = loop[at];
            std::array<hob_value, 2> read{};
            for (uint32_t input = 0; input < node.inputs.count; input++) read[input] = values[node.inputs.sources[input]];
            hob_value written = {{0, 0}};
            if (node.run(node.user_data, read.data(), &written) != 0) return;
            values[at + 1] = written;
        }
    }
    std::printf("%llu\n", static_cast<unsigned long long>(values.back().words[0]));
}

void run_graph(const std::vector<Inputs>& nodes, hob_evaluator evaluator, int frames) {
    hob_graph* graph = nullptr;
    check(hob_graph_create(nullptr, &graph), "create");
    hob_node_desc desc;
    check(hob_node_desc_init(&desc, sizeof desc), "init");
    desc.node_class = HOB_NODE_CLASS_INPUT;
    desc.output_count = 1;
    std::vector<hob_node_id> ids(1);
    check(hob_graph_add_node(graph, &desc, &ids[0]), "add the head");
    desc.node_class = HOB_NODE_CLASS_PURE;
    std::vector<bool> is_read(nodes.size() + 1, false);
    for (const Inputs& inputs : nodes) {
        desc.evaluate = inputs.count == 1 ? &plus_one : &mix_two;
        desc.input_count = inputs.count;
        hob_node_id node;
        check(hob_graph_add_node(graph, &desc, &node), "add a node");
        for (uint32_t input = 0; input < inputs.count; input++) {
            check(hob_graph_connect(graph, ids[inputs.sources[input]], 0, node, input), "connect");
            is_read[inputs.sources[input]] = true;
        }
        ids.push_back(node);
    }
    for (size_t at = 0; at < ids.size(); at++) {
        if (!is_read[at]) check(hob_graph_set_sink(graph, ids[at], 1), "set a sink");
    }
    hob_evaluation_desc how;
    check(hob_evaluation_desc_init(&how, sizeof how), "init");
    how.evaluator = evaluator;
    hob_evaluation_summary summary = HOB_EVALUATION_SUMMARY_INIT;
    for (int frame = 1; frame <= frames; frame++) {
        const hob_value value = {{0, 0}};
        hob_value head = value;
        head.words[0] = static_cast<uint64_t>(frame);
        check(hob_graph_set_input(graph, ids[0], 0, &head), "set the head");
        check(hob_graph_evaluate(graph, nullptr, &how, &summary), "evaluate");
        if (summary.runs != nodes.size() + 1) fail("not all nodes have run");
    }
    hob_value last;
    check(hob_graph_get_value(graph, ids.back(), 0, &last), "get the value");
    std::printf("%llu\n", static_cast<unsigned long long>(last.words[0]));
    hob_graph_destroy(graph);
}

hob_verdict sum(void*, hob_node_call* call) {
    uint64_t all = 0;
    for (uint32_t input = 0; input < call->input_count; input++) all += call->inputs[input].words[0];
    call->outputs[0].words[0] = all;
    return HOB_VERDICT_DONE;
}

hob_verdict zero(void*, hob_node_call* call) {
    call->outputs[0].words[0] = 0;
    return HOB_VERDICT_DONE;
}

/// A graph of few nodes. Each frame sets one of its heads.
struct Small {
    hob_graph* graph = nullptr;
    std::vector<hob_node_id> heads;

    hob_node_id add(hob_node_class node_class, hob_verdict (*evaluate)(void*, hob_node_call*),
                    const std::vector<hob_node_id>& inputs) {
        hob_node_desc desc;
        check(hob_node_desc_init(&desc, sizeof desc), "init");
        desc.node_class = node_class;
        desc.evaluate = evaluate;
        desc.input_count = inputs.size();
        desc.output_count = 1;
        hob_node_id node;
        check(hob_graph_add_node(graph, &desc, &node), "add a node");
        for (uint32_t input = 0; input < inputs.size(); input++) {
            check(hob_graph_connect(graph, inputs[input], 0, node, input), "connect");
        }
        return node;
    }
    hob_node_id pure(hob_verdict (*evaluate)(void*, hob_node_call*), const std::vector<hob_node_id>& inputs) {
        return add(HOB_NODE_CLASS_PURE, evaluate, inputs);
    }

    explicit Small(const char* name) {
        check(hob_graph_create(nullptr, &graph), "create");
        const size_t count = std::strcmp(name, "fan-in") == 0 ? 100 : 1;
        for (size_t at = 0; at < count; at++) heads.push_back(add(HOB_NODE_CLASS_INPUT, nullptr, {}));
        hob_node_id last = heads[0];
        if (std::strcmp(name, "fan-in") == 0) {
            last = pure(&plus_one, {pure(&plus_one, {pure(&sum, heads)})});
        } else if (std::strcmp(name, "diamond") == 0) {
            std::vector<hob_node_id> middle;
            for (int at = 0; at < 5; at++) middle.push_back(pure(&plus_one, heads));
            last = pure(&plus_one, {pure(&sum, middle)});
        } else {
            last = pure(&zero, {pure(&plus_one, {last})});
            for (int at = 0; at < 4; at++) last = pure(&plus_one, {last});
        }
        check(hob_graph_set_sink(graph, last, 1), "set a sink");
    }
    ~Small() { hob_graph_destroy(graph); }
};

void run_small(const char* name, int frames) {
    Small small(name);
    const bool changes = std::strcmp(name, "idle") != 0;
    for (int frame = 1; frame <= frames; frame++) {
        if (changes || frame == 1) {
            hob_value value = {{0, 0}};
            value.words[0] = static_cast<uint64_t>(frame);
            const hob_node_id head = small.heads[static_cast<size_t>(frame) % small.heads.size()];
            check(hob_graph_set_input(small.graph, head, 0, &value), "set a head");
        }
        check(hob_graph_evaluate(small.graph, nullptr, nullptr, nullptr), "evaluate");
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) return 2;
    const int frames = std::atoi(words[3]);
    if (std::strcmp(words[1], "chain") != 0 && std::strcmp(words[1], "levels") != 0) {
        run_small(words[1], frames);
        return 0;
    }
    const std::vector<Inputs> nodes = shape(words[1]);
    if (std::strcmp(words[2], "loop") == 0) {
        run_loop(nodes, frames);
    } else {
        run_graph(nodes, static_cast<hob_evaluator>(std::atoi(words[2])), frames);
    }
}
