// Graphs of a client that was compiled with other headers than its library. MIT OR Apache-2.0.
#include "client.h"

namespace abi {

#if __has_include(<hobgoblin/graph.h>)

namespace {

struct Sum {
    uint32_t runs = 0, released = 0;

    static hob_verdict evaluate(void* self, hob_node_call* call) {
        CHECK(call->struct_size >= 56 && call->input_count == 2 && call->output_count == 1);
        if (call->available == 0) {
            call->need = 2;
            return HOB_VERDICT_NEED;
        }
        ++static_cast<Sum*>(self)->runs;
        if (call->inputs[0].number < 0) {
            std::snprintf(call->message, call->message_capacity, "negative");
            return HOB_VERDICT_FAILED;
        }
        call->outputs[0].number = call->inputs[0].number + call->inputs[1].number;
        return HOB_VERDICT_DONE;
    }
    static void release(void* self) { ++static_cast<Sum*>(self)->released; }
};

}  // namespace

void drive_graph() {
    Guarded<hob_graph_desc> graph_desc;
    graph_desc->max_nodes = 2;
    hob_graph* graph = nullptr;
    CHECK_OK(hob_graph_create(graph_desc.get(), &graph));

    Guarded<hob_node_desc> desc;
    hob_node_id input, node;
    desc->node_class = HOB_NODE_CLASS_INPUT;
    desc->output_count = 1;
    CHECK_OK(hob_graph_add_node(graph, desc.get(), &input));
    Sum sum;
    const hob_node_input pins[] = {{0, 0, {{0, 0}}}, {HOB_NODE_INPUT_LAZY, 0, {{10, 0}}}};
    const hob_node_output output = {HOB_CUTOFF_EPSILON, 0, 0.5, {{0, 0}}};
    desc->node_class = HOB_NODE_CLASS_PURE;
    desc->name = text("sum");
    desc->evaluate = &Sum::evaluate;
    desc->user_data = &sum;
    desc->release = &Sum::release;
    desc->inputs = pins;
    desc->input_stride = sizeof pins[0];
    desc->input_count = 2;
    desc->outputs = &output;
    desc->output_stride = sizeof output;
    desc->flags = HOB_NODE_SINK;
    CHECK_OK(hob_graph_add_node(graph, desc.get(), &node));
    CHECK(hob_graph_add_node(graph, desc.get(), &node) == HOB_RESULT_LIMIT_EXCEEDED);
    CHECK_OK(hob_graph_connect(graph, input, 0, node, 0));

    hob_value value = hob_value_of_number(4);
    CHECK_OK(hob_graph_set_input(graph, input, 0, &value));
    Guarded<hob_evaluation_desc> how;
    Guarded<hob_evaluation_summary> summary;
    how->evaluator = HOB_EVALUATOR_BITSET;
    CHECK_OK(hob_graph_evaluate(graph, nullptr, how.get(), summary.get()));
    CHECK(summary->is_complete == 1 && summary->evaluator == HOB_EVALUATOR_BITSET && summary->requests == 1);
    CHECK_OK(hob_graph_get_value(graph, node, 0, &value));
    CHECK(value.number == 14 && sum.runs == 1);
    Guarded<hob_node_reason> reason;
    CHECK_OK(hob_graph_get_reason(graph, node, reason.get()));
    CHECK(reason->why == HOB_NODE_WHY_CHANGED && reason->input == 0);

    value = hob_value_of_number(-1);
    CHECK_OK(hob_graph_set_input(graph, input, 0, &value));
    CHECK_OK(hob_graph_evaluate(graph, nullptr, nullptr, summary.get()));
    CHECK(summary->broken == 1);
    char message[160];
    size_t size = 0;
    CHECK_OK(hob_graph_get_failure(graph, node, message, sizeof message, &size, nullptr));
    CHECK(size == 8 && std::memcmp(message, "negative", 8) == 0);
    value = hob_value_of_number(1);
    CHECK_OK(hob_graph_set_input(graph, input, 0, &value));
    how->only = input;
    CHECK_OK(hob_graph_evaluate(graph, nullptr, how.get(), summary.get()));
    CHECK(summary->is_complete == 1 && summary->runs == 1 && summary->broken == 1);
    Guarded<hob_graph_statistics> statistics;
    CHECK_OK(hob_graph_get_statistics(graph, statistics.get()));
    CHECK(statistics->nodes == 2 && statistics->links == 1 && statistics->frames == 2 && statistics->memory_used > 0);
    CHECK(statistics->held_bytes == 0 && statistics->releases == 0 && statistics->restores == 0);
    CHECK_OK(hob_graph_set_memory_limit(graph, 1000));
    Guarded<hob_node_statistics> of_node;
    CHECK_OK(hob_graph_get_node_statistics(graph, node, of_node.get()));
    CHECK(of_node->runs > 0 && of_node->mean_ns > 0 && of_node->held_bytes == 0);
    hob_graph_destroy(graph);
    CHECK(sum.released == 1);
}

#else

void drive_graph() {}

#endif

}  // namespace abi
