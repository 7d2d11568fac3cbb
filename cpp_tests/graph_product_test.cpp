// Graphs that are made of other graphs: baked, loaded, emitted; and the audit.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "graph_support.h"

using namespace support;

namespace {

/// Functions of nodes, and the number of their runs and releases.
struct Counts {
    int runs = 0, released = 0;

    static hob_verdict twice(void* self, hob_node_call* call) {
        ++static_cast<Counts*>(self)->runs;
        call->outputs[0].number = 2 * call->inputs[0].number;
        return HOB_VERDICT_DONE;
    }
    static void release(void* self) { ++static_cast<Counts*>(self)->released; }
};

hob_node_desc twice(Counts& counts, hob_node_class node_class) {
    hob_node_desc desc = HOB_NODE_DESC_INIT;
    desc.node_class = node_class;
    desc.type_name = HOB_STR("twice");
    desc.evaluate = &Counts::twice;
    desc.user_data = &counts;
    desc.release = &Counts::release;
    desc.input_count = desc.output_count = 1;
    return desc;
}

hob_node_id added(const GraphHandle& graph, const hob_node_desc& desc) {
    hob_node_id node = {0, 0};
    ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &node));
    return node;
}

double number(hob_graph* graph, hob_node_id node) {
    hob_value value = {{0, 0}};
    ENSURE_OK(hob_graph_get_value(graph, node, 0, &value));
    return value.number;
}

/// An input, a pure node and a volatile sink in a row.
struct Row {
    GraphHandle graph = make_graph();
    Counts pure, moving;
    hob_node_id input, middle, sink;

    Row() {
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.node_class = HOB_NODE_CLASS_INPUT;
        desc.output_count = 1;
        input = added(graph, desc);
        middle = added(graph, twice(pure, HOB_NODE_CLASS_PURE));
        sink = added(graph, twice(moving, HOB_NODE_CLASS_VOLATILE));
        ENSURE_OK(hob_graph_set_sink(graph.get(), sink, 1));
        ENSURE_OK(hob_graph_connect(graph.get(), input, 0, middle, 0));
        ENSURE_OK(hob_graph_connect(graph.get(), middle, 0, sink, 0));
        const hob_value value = hob_value_of_number(3);
        ENSURE_OK(hob_graph_set_input(graph.get(), input, 0, &value));
    }
    ~Row() { graph.reset(); }
};

uint32_t resolve(void* counts, uint32_t id, hob_node_desc* desc) {
    ENSURE(id > 1 && desc->input_count == 1 && desc->output_count == 1);
    ENSURE(std::string(desc->type_name.data, desc->type_name.len) == "twice");
    desc->evaluate = &Counts::twice;
    desc->user_data = counts;
    desc->release = &Counts::release;
    return 1;
}

uint32_t resolve_first(void* counts, uint32_t id, hob_node_desc* desc) {
    resolve(counts, id, desc);
    return id == 2 ? 1 : 0;
}

uint32_t resolve_nothing(void*, uint32_t, hob_node_desc*) {
    return 1;
}

std::string json_of(hob_graph* graph) {
    size_t size = 0;
    ENSURE_OK(hob_graph_save_json(graph, nullptr, 0, &size));
    std::string text(size, ' ');
    ENSURE_OK(hob_graph_save_json(graph, &text[0], size, &size));
    return text;
}

}  // namespace

TEST("graph: a baked graph stores values that cannot change, and keeps nodes on request") {
    Row row;
    hob_graph* baked = nullptr;
    ENSURE(hob_graph_bake(row.graph.get(), nullptr, 0, 0, &baked) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("evaluate it before") && baked == nullptr);
    ENSURE_OK(hob_graph_evaluate(row.graph.get(), nullptr, nullptr, nullptr));
    ENSURE_OK(hob_graph_bake(row.graph.get(), nullptr, 0, 0, &baked));
    hob_node_id sink = {0, 0}, none = {7, 7};
    ENSURE_OK(hob_graph_get_copy(baked, row.sink, &sink));
    ENSURE(hob_graph_get_copy(baked, row.middle, &none) == HOB_RESULT_NOT_FOUND && none.index1 == 7);
    ENSURE(row.pure.runs == 1);
    ENSURE_OK(hob_graph_evaluate(baked, nullptr, nullptr, nullptr));
    ENSURE(number(baked, sink) == 12 && row.pure.runs == 1 && row.moving.runs == 2);

    hob_graph* larger = nullptr;
    const hob_node_id keep[] = {row.middle, {99, 0}};
    ENSURE(hob_graph_bake(row.graph.get(), keep, sizeof keep[0], 2, &larger) == HOB_RESULT_NOT_FOUND && larger == nullptr);
    ENSURE_OK(hob_graph_bake(row.graph.get(), keep, sizeof keep[0], 1, &larger));
    hob_node_id middle = {0, 0};
    ENSURE_OK(hob_graph_get_copy(larger, row.middle, &middle));
    row.graph.reset();
    ENSURE(row.pure.released == 0 && row.moving.released == 0);
    for (int frame = 0; frame < 3; ++frame) ENSURE_OK(hob_graph_evaluate(larger, nullptr, nullptr, nullptr));
    ENSURE(number(larger, middle) == 6 && row.pure.runs == 2 && row.moving.runs == 5);
    hob_graph_destroy(larger);
    ENSURE(row.pure.released == 1 && row.moving.released == 0);
    hob_graph_destroy(baked);
    ENSURE(row.pure.released == 1 && row.moving.released == 1);
}

TEST("graph: a saved graph is loaded with the functions of the host") {
    Row row;
    const std::string json = json_of(row.graph.get());
    Counts counts;
    hob_graph* loaded = nullptr;
    ENSURE_OK(hob_graph_load(json.data(), json.size(), resolve, &counts, &loaded));
    ENSURE(json_of(loaded) == json);
    hob_node_id sink = {0, 0};
    ENSURE_OK(hob_graph_get_copy(loaded, row.sink, &sink));
    ENSURE_OK(hob_graph_evaluate(loaded, nullptr, nullptr, nullptr));
    ENSURE(number(loaded, sink) == 12 && counts.runs == 2 && row.pure.runs == 0);
    hob_graph_destroy(loaded);
    ENSURE(counts.released == 2);

    loaded = nullptr;
    ENSURE(hob_graph_load(json.data(), json.size(), resolve_first, &counts, &loaded) == HOB_RESULT_NOT_FOUND);
    ENSURE(last_error_has("node 3, of type \"twice\"") && loaded == nullptr && counts.released == 3);
    ENSURE(hob_graph_load(json.data(), json.size(), resolve_nothing, nullptr, &loaded) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("has set no evaluate for node 2"));
    ENSURE(hob_graph_load(json.data(), json.size(), nullptr, nullptr, &loaded) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_graph_load(json.data(), json.size() - 3, resolve, &counts, &loaded) == HOB_RESULT_MALFORMED);
    ENSURE(last_error_has("line") && counts.released == 5);
}

TEST("graph: C source calls the functions by their type names") {
    Row row;
    size_t size = 0, count = 0;
    ENSURE_OK(hob_graph_emit(row.graph.get(), HOB_STR("patch"), nullptr, 0, &size));
    std::string source(size, ' ');
    ENSURE(hob_graph_emit(row.graph.get(), HOB_STR("patch"), &source[0], size - 1, &size) == HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE_OK(hob_graph_emit(row.graph.get(), HOB_STR("patch"), &source[0], size, &size));
    for (const char* part : {"hob_verdict twice(void *user_data, hob_node_call *call);", "uint32_t patch_evaluate(patch *self)",
                             "#include <hobgoblin/graph.h>", "hob_result patch_set_input(patch *self, uint32_t node,"}) {
        ENSURE(source.find(part) != std::string::npos);
    }
    hob_node_id nodes[3];
    ENSURE_OK(hob_graph_get_emitted_nodes(row.graph.get(), nodes, sizeof nodes[0], 3, &count));
    ENSURE(count == 3 && is_same(nodes[0], row.input) && is_same(nodes[1], row.middle) && is_same(nodes[2], row.sink));
    ENSURE(hob_graph_emit(row.graph.get(), HOB_STR("2"), nullptr, 0, &size) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_graph_emit(row.graph.get(), HOB_STR("twice"), nullptr, 0, &size) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("those of the source"));
    Counts other;
    hob_node_desc desc = twice(other, HOB_NODE_CLASS_EFFECT);
    desc.type_name = HOB_STR("no name");
    added(row.graph, desc);
    ENSURE(hob_graph_emit(row.graph.get(), HOB_STR("patch"), nullptr, 0, &size) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("must be the name of a C function"));
    for (const char* prefix : {"", "restrict", "hob_graph", "_patch", "size_t", "memcpy"}) {
        ENSURE(hob_graph_emit(row.graph.get(), hob_str_from(prefix), nullptr, 0, &size) == HOB_RESULT_INVALID_ARGUMENT);
    }
    row.graph.reset();
    ENSURE(other.released == 1);
}

TEST("graph: the audit finds a node that reads more than its inputs") {
    Net net;
    double hidden = 0;
    const auto input = net.input("input", 1);
    const auto liar = net.sink(net.pure("liar", {input}, [&](const std::vector<double>& numbers) { return numbers[0] + hidden; }));
    const auto honest = net.sink(net.pure("honest", {input}));
    net.sink(net.time());
    ENSURE_OK(hob_graph_set_audit(net.graph.get(), 0.5));
    size_t count = 0;
    for (int frame = 0; frame < 100 && count == 0; ++frame) {
        hidden = frame;
        net.evaluate();
        ENSURE_OK(hob_graph_get_findings(net.graph.get(), nullptr, 0, 0, &count));
    }
    hob_graph_finding finding;
    ENSURE_OK(hob_graph_get_findings(net.graph.get(), &finding, sizeof finding, 1, &count));
    ENSURE(count == 1 && is_same(finding.node, liar) && finding.output == 0 && finding.evaluations >= 1);
    ENSURE(finding.before.number != finding.after.number && net.runs(liar) == 1 && net.runs(honest) == 1);
    for (const double share : {-1.0, 1.5, std::nan(""), HUGE_VAL}) {
        ENSURE(hob_graph_set_audit(net.graph.get(), share) == HOB_RESULT_INVALID_ARGUMENT);
    }
    ENSURE_OK(hob_graph_set_audit(net.graph.get(), 0));
    ENSURE_OK(hob_graph_get_findings(net.graph.get(), nullptr, 0, 0, &count));
    ENSURE(count == 1);
    ENSURE_OK(hob_graph_remove_node(net.graph.get(), liar));
    ENSURE_OK(hob_graph_get_findings(net.graph.get(), nullptr, 0, 0, &count));
    ENSURE(count == 0);
    ENSURE_OK(hob_graph_set_audit(net.graph.get(), 0.5));
}

TEST("graph: values above the limit of memory are released, and made again when they are read") {
    Net net;
    int live = 0, runs = 0;
    bool is_zero = false;
    const auto source = net.input("source", 1), other = net.input("other", 1);
    hob_node_output owned = {HOB_CUTOFF_GENERATION, HOB_NODE_OUTPUT_OWNED, 0, {{0, 0}}};
    hob_node_desc desc = HOB_NODE_DESC_INIT;
    desc.node_class = HOB_NODE_CLASS_PURE;
    desc.input_count = desc.output_count = 1;
    desc.outputs = &owned;
    struct Image {
        int &live, &runs;
        bool& is_zero;
    } image = {live, runs, is_zero};
    desc.name = HOB_STR("image");
    desc.user_data = &image;
    desc.evaluate = [](void* self, hob_node_call* call) {
        auto& all = *static_cast<Image*>(self);
        ENSURE(call->struct_size == sizeof(hob_node_call) && call->held_bytes == 0 && call->cost_ns == 0);
        all.is_zero = call->outputs[0].words[0] == 0;
        ++all.live;
        ++all.runs;
        call->outputs[0].words[0] = 7;
        call->outputs[0].words[1] = static_cast<uint64_t>(call->inputs[0].number);
        call->held_bytes = 1000;
        call->cost_ns = 5;
        return HOB_VERDICT_DONE;
    };
    desc.release_value = [](void* self, uint32_t, const hob_value* value) {
        ENSURE(value->words[0] == 7);
        --static_cast<Image*>(self)->live;
    };
    const auto node = added(net.graph, desc);
    net.link({source}, node);
    const auto reader = net.sink(net.add("reader", plain_desc(2, 1), [](hob_node_call& call) {
        ENSURE(call.inputs[0].words[0] == 7);
        call.outputs[0].number = static_cast<double>(call.inputs[0].words[1]) + call.inputs[1].number;
        return HOB_VERDICT_DONE;
    }));
    net.link({node, other}, reader);
    ENSURE_OK(hob_graph_set_memory_limit(net.graph.get(), 999));
    net.evaluate();
    ENSURE(live == 0 && net.number(reader) == 2);
    hob_value value;
    ENSURE(hob_graph_get_value(net.graph.get(), node, 0, &value) == HOB_RESULT_NOT_FOUND);
    ENSURE(last_error_has("was released to keep the memory limit"));
    net.set(other, 5);
    ENSURE(net.evaluate().runs == 3 && net.number(reader) == 6 && runs == 2 && is_zero && live == 0);
    hob_node_reason reason = HOB_NODE_REASON_INIT;
    ENSURE_OK(hob_graph_get_reason(net.graph.get(), node, &reason));
    ENSURE(reason.why == HOB_NODE_WHY_RESTORED && is_same(reason.node, reader));
    auto statistics = net.statistics();
    ENSURE(statistics.releases == 2 && statistics.restores == 1 && statistics.held_bytes == 0);
    ENSURE_OK(hob_graph_set_memory_limit(net.graph.get(), UINT64_MAX));
    net.set(source, 2);
    net.evaluate();
    hob_node_statistics counts = HOB_NODE_STATISTICS_INIT;
    ENSURE_OK(hob_graph_get_node_statistics(net.graph.get(), node, &counts));
    ENSURE(counts.runs == 3 && counts.mean_ns >= 1 && counts.held_bytes == 1000);
    ENSURE(hob_graph_get_node_statistics(net.graph.get(), {99, 0}, &counts) == HOB_RESULT_NOT_FOUND);
    ENSURE(net.number(reader) == 7 && live == 1 && net.statistics().held_bytes == 1000);
    ENSURE_OK(hob_graph_get_value(net.graph.get(), node, 0, &value));
    ENSURE(value.words[0] == 7 && value.words[1] == 2);
    net.graph.reset();
    ENSURE(live == 0);
}

TEST("graph: a baked graph releases no handle twice, keeps wanted nodes, and is not made of a graph that was set") {
    Row row;
    hob_graph* baked = nullptr;
    static int released;
    released = 0;
    hob_node_output owned = {HOB_CUTOFF_BYTES, HOB_NODE_OUTPUT_OWNED, 0, {{0, 0}}};
    owned.value.words[0] = 0x1234;
    hob_node_desc desc = plain_desc(0, 1);
    desc.outputs = &owned;
    desc.flags = HOB_NODE_SINK;
    desc.release_value = [](void*, uint32_t, const hob_value* value) {
        ENSURE(value->words[0] == 0x1234);
        ++released;
    };
    added(row.graph, desc);
    Counts counts;
    const auto alone = added(row.graph, twice(counts, HOB_NODE_CLASS_PURE));
    ENSURE_OK(hob_graph_evaluate(row.graph.get(), nullptr, nullptr, nullptr));
    for (const hob_node_id unknown : {hob_node_id{0, 0}, hob_node_id{77, 0}, hob_node_id{1, 99}}) {
        ENSURE(hob_graph_bake(row.graph.get(), &unknown, sizeof unknown, 1, &baked) == HOB_RESULT_NOT_FOUND);
    }
    ENSURE_OK(hob_graph_bake(row.graph.get(), &alone, sizeof alone, 1, &baked));
    GraphHandle holder(baked);
    hob_node_id copy;
    ENSURE_OK(hob_graph_get_copy(baked, alone, &copy));
    ENSURE_OK(hob_graph_remove_node(baked, copy));
    ENSURE(hob_graph_get_copy(baked, alone, &copy) == HOB_RESULT_NOT_FOUND);
    const hob_value value = hob_value_of_number(5);
    ENSURE_OK(hob_graph_set_input(row.graph.get(), row.input, 0, &value));
    ENSURE(hob_graph_bake(row.graph.get(), nullptr, 0, 0, &baked) == HOB_RESULT_INVALID_ARGUMENT);
    holder.reset();
    ENSURE(released == 0);
    row.graph.reset();
    ENSURE(released == 1 && counts.released == 1);
}

TEST("graph: an effect does not run because the source of an input that holds fails or recovers") {
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator);
        int frame = 0, effects = 0;
        const auto source = net.add("source", plain_desc(0, 1, HOB_NODE_CLASS_VOLATILE), [&](hob_node_call& call) {
            call.outputs[0].number = 5;
            return frame == 2 ? HOB_VERDICT_FAILED : HOB_VERDICT_DONE;
        });
        hob_node_input holds = {HOB_NODE_INPUT_HOLD, 0, {{0, 0}}};
        hob_node_desc desc = plain_desc(1, 0, HOB_NODE_CLASS_EFFECT);
        desc.inputs = &holds;
        net.link({source}, net.add("effect", desc, [&](hob_node_call& call) {
            ENSURE(call.inputs[0].number == 5);
            ++effects;
            return HOB_VERDICT_DONE;
        }));
        for (frame = 1; frame < 5; ++frame) ENSURE(net.evaluate().broken == (frame == 2 ? 1 : 0) && effects == 1);
    }
}

TEST("graph: loading releases user_data of a node that is refused after it was resolved") {
    static int released;
    released = 0;
    const char text[] = "{\"hobgoblin_graph\": 1, \"nodes\": [{\"id\": 3, \"generation\": 2, \"type\": \"t\", \"class\": \"pure\", "
                        "\"inputs\": [{\"lazy\": true}], \"outputs\": [{\"cutoff\": \"never\"}]}]}";
    const auto forgets = [](void*, uint32_t id, hob_node_desc* desc) -> uint32_t {
        ENSURE(id == 3 && desc->inputs[0].flags == HOB_NODE_INPUT_LAZY && desc->outputs[0].cutoff == HOB_CUTOFF_NEVER);
        desc->release = [](void*) { ++released; };
        return 1;
    };
    hob_graph* graph = nullptr;
    ENSURE(hob_graph_load(text, sizeof text - 1, forgets, nullptr, &graph) == HOB_RESULT_INVALID_ARGUMENT && released == 1);
    const auto sets = [](void*, uint32_t, hob_node_desc* desc) -> uint32_t {
        desc->evaluate = [](void*, hob_node_call*) { return HOB_VERDICT_DONE; };
        return 1;
    };
    ENSURE_OK(hob_graph_load(text, sizeof text - 1, sets, nullptr, &graph));
    const GraphHandle holder(graph);
    hob_node_id node;
    ENSURE_OK(hob_graph_get_copy(graph, {3, 2}, &node));
    ENSURE(hob_graph_get_copy(graph, {3, 1}, &node) == HOB_RESULT_NOT_FOUND);
}
