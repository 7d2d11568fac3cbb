// A graph whose edits and evaluations run out of memory.
#include <cstring>

#include "frame_scenarios.h"

namespace no_memory {
namespace {

hob_verdict add(void*, hob_node_call* call) {
    double sum = 1;
    for (uint32_t n = 0; n < call->input_count; ++n) sum += call->inputs[n].number;
    call->outputs[0].number = sum;
    return HOB_VERDICT_DONE;
}

hob_verdict choose(void*, hob_node_call* call) {
    if (call->available == 0) {
        call->need = 1;
        return HOB_VERDICT_NEED;
    }
    call->outputs[0] = call->inputs[0];
    return HOB_VERDICT_DONE;
}

hob_verdict fail(void*, hob_node_call* call) {
    std::strcpy(call->message, "always");
    return HOB_VERDICT_FAILED;
}

constexpr uint32_t count = 24;

}  // namespace

void play_graph(Run& run) {
    hob_graph* graph = nullptr;
    hob_executor* executor = nullptr;
    run("create", [&] { return hob_graph_create(nullptr, &graph); });
    run("create executor", [&] { return hob_executor_create_pool(1, &executor); });
    hob_node_id nodes[count] = {};
    uint32_t released = 0, owned = 0;
    const auto release = [](void* number) { ++*static_cast<uint32_t*>(number); };
    const hob_node_input lazy = {HOB_NODE_INPUT_LAZY, 0, {{0, 0}}};
    const hob_node_output near = {HOB_CUTOFF_EPSILON, 0, 0.5, {{0, 0}}};
    for (uint32_t n = 0; n < count; ++n) {
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.name = n % 5 == 0 ? HOB_STR("named") : HOB_STR("");
        desc.node_class = n % 7 == 0 ? HOB_NODE_CLASS_VOLATILE : HOB_NODE_CLASS_PURE;
        desc.evaluate = n == 9 ? &fail : n % 8 == 5 ? &choose : &add;
        desc.user_data = &released;
        desc.release = n % 2 == 0 ? +release : nullptr;
        desc.inputs = n % 8 == 5 ? &lazy : nullptr;
        desc.input_count = n % 8 == 5 ? 1 : 2;
        desc.outputs = n % 3 == 0 ? &near : nullptr;
        desc.output_count = 1;
        desc.flags = n % 6 == 5 ? HOB_NODE_SINK : 0;
        run("add_node", [&] {
            const hob_result result = hob_graph_add_node(graph, &desc, &nodes[n]);
            if (result == HOB_RESULT_OK && desc.release != nullptr) ++owned;
            return result;
        });
        if (n > 2) run("connect", [&] { return hob_graph_connect(graph, nodes[n - 1 - n % 3], 0, nodes[n], 0); });
    }
    run("connect_feedback", [&] { return hob_graph_connect_feedback(graph, nodes[count - 1], 0, nodes[0], 1); });
    const hob_evaluator evaluators[] = {HOB_EVALUATOR_LAZY, HOB_EVALUATOR_LIST, HOB_EVALUATOR_BITSET,
                                        HOB_EVALUATOR_PARALLEL, HOB_EVALUATOR_AUTO};
    for (int frame = 0; frame < 15; ++frame) {
        hob_evaluation_desc desc;
        std::memset(&desc, 0, sizeof desc);
        desc.struct_size = sizeof desc;
        desc.evaluator = evaluators[frame % 5];
        run("evaluate", [&] { return hob_graph_evaluate(graph, executor, &desc, nullptr); });
        desc.only = nodes[static_cast<uint32_t>(frame)];
        run("evaluate", [&] { return hob_graph_evaluate(graph, executor, &desc, nullptr); });
        const hob_value value = hob_value_of_number(frame);
        run("set_input", [&] { return hob_graph_set_input(graph, nodes[1], 1, &value); });
        if (frame == 7) run("set_sink", [&] { return hob_graph_set_sink(graph, nodes[2], 1); });
        if (frame == 8) run("disconnect", [&] { return hob_graph_disconnect(graph, nodes[6], 0); });
        hob_node_reason reason;
        reason.struct_size = sizeof reason;
        char text[200];
        run("get_reason", [&] { return hob_graph_get_reason(graph, nodes[4], &reason); });
        run("get_failure", [&] { return hob_graph_get_failure(graph, nodes[9], text, sizeof text, nullptr, nullptr); });
        hob_node_id path[count];
        size_t length = 0;
        run("get_failure_path",
            [&] { return hob_graph_get_failure_path(graph, nodes[10], path, sizeof path[0], count, &length); });
    }
    run("remove_node", [&] {
        const hob_result result = hob_graph_remove_node(graph, nodes[8]);
        run.expect("a removed node is released", result != HOB_RESULT_OK || released == 1);
        return result;
    });
    run.heal();
    if (graph != nullptr) {
        run.works("evaluate with memory", [&] { return hob_graph_evaluate(graph, nullptr, nullptr, nullptr); });
    }
    hob_graph_destroy(graph);
    hob_executor_destroy(executor);
    run.expect("each owner is released once", released == owned);
}

}  // namespace no_memory
