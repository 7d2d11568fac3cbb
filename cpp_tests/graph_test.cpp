// Graphs: the orders and counts of evaluations, lazy inputs, cut-offs, feedback, failures, edits.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <thread>

#include "executor_support.h"
#include "graph_support.h"
#include "malloc_count.h"

using namespace support;

namespace {

/// The seed's first graph.
void build_basic(Net& net) {
    const auto time = net.time();
    const auto node1 = net.pure("Node1", {time}), node2 = net.pure("Node2", {time}), node5 = net.pure("Node5", {time});
    const auto node9 = net.pure("Node9", {node2, node5});
    const auto node12 = net.pure("Node12", {node1, node2, node9});
    net.sink(net.pure("NodeFinal", {node12}));
}

hob_verdict fail_with(hob_node_call& call, const char* message) {
    std::snprintf(call.message, call.message_capacity, "%s", message);
    return HOB_VERDICT_FAILED;
}

}  // namespace

TEST("graph: the list evaluator and the lazy one run the seed's graph in the seed's orders") {
    Net list(HOB_EVALUATOR_LIST), lazy(HOB_EVALUATOR_LAZY);
    build_basic(list);
    build_basic(lazy);
    for (int frame = 0; frame < 3; ++frame) {
        ENSURE(list.ran() == "Time Node5 Node2 Node9 Node1 Node12 NodeFinal");
        ENSURE(lazy.ran() == "Time Node1 Node2 Node5 Node9 Node12 NodeFinal");
    }
}

TEST("graph: a lazy input is evaluated only while its condition holds") {
    const Executor pool = make_pool(3);
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator, pool.get());
        const auto time = net.time();
        const auto generator = net.pure("Generator1", {time}, [](auto& in) { return in[0] * 10; });
        const auto data = net.pure("LargeData", {generator}, [](auto& in) { return in[0] + 1; });
        const auto user = net.input("UserInput", 0);
        const auto first = net.pure("Condition1", {user}, [](auto& in) { return in[0] > 0.5 ? 1.0 : 0.0; });
        const auto second = net.add("Condition2", HOB_NODE_CLASS_CONSTANT, {}, [](auto&) { return 1.0; });
        const auto apply = net.pure("And", {first, second}, [](auto& in) { return in[0] * in[1]; });
        const auto builder = net.sink(net.choice("Builder", apply, {data}));
        for (int frame = 0; frame < 5; ++frame) net.evaluate();
        ENSURE(net.runs(data) == 0 && net.runs(generator) == 0 && net.runs(time) == 0);
        ENSURE(net.why(data) == HOB_NODE_WHY_NOT_ASKED && net.number(builder) == -1);
        ENSURE(net.why_text(data) == "\"LargeData\" did not run: input 1 of \"Builder\" is lazy, and was not asked for");
        hob_node_reason reason = HOB_NODE_REASON_INIT;
        ENSURE_OK(hob_graph_get_reason(net.graph.get(), data, &reason));
        ENSURE(is_same(reason.node, builder) && reason.input == 1);
        net.set(user, 1);
        for (unsigned frame = 1; frame <= 3; ++frame) {
            const auto summary = net.evaluate();
            ENSURE(net.number(builder) == frame * 10 + 1 && net.runs(data) == frame && net.runs(generator) == frame);
            ENSURE(summary.requests == (frame == 1 ? 1u : 0u) || summary.requests <= 1);
        }
        net.set(user, 0);
        for (int frame = 0; frame < 3; ++frame) net.evaluate();
        ENSURE(net.number(builder) == -1 && net.runs(data) == 3 && net.runs(generator) == 3);
    }
}

TEST("graph: a switch runs one of its parts") {
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator);
        const auto time = net.time();
        const auto part1 = net.pure("Part1", {time}), part2 = net.pure("Part2", {time}, [](auto& in) { return -in[0]; });
        const auto value = net.input("SwitchValue", 1);
        const auto chosen = net.sink(net.choice("Switch", value, {part1, part2}));
        net.evaluate();
        net.evaluate();
        ENSURE(net.runs(part1) == 2 && net.runs(part2) == 0 && net.number(chosen) == 2);
        net.set(value, 2);
        net.evaluate();
        ENSURE(net.runs(part1) == 2 && net.runs(part2) == 1 && net.number(chosen) == -3);
    }
}

TEST("graph: the annotated patch runs five nodes a frame") {
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator);
        const auto time = net.time();
        const auto constant = net.add("Constant", HOB_NODE_CLASS_CONSTANT, {}, [](auto&) { return 0.5; });
        const auto sine = net.pure("Sine", {constant}, [](auto& in) { return std::sin(in[0]); });
        const auto divide = net.pure("Divide", {time, sine}, [](auto& in) { return in[0] / in[1]; });
        const auto constant2 = net.add("Constant2", HOB_NODE_CLASS_CONSTANT, {}, [](auto&) { return 3.0; });
        const auto multiply = net.pure("Multiply", {constant2}, [](auto& in) { return in[0] * 2; });
        const auto add = net.pure("Add", {divide, multiply});
        const auto user = net.input("UserValue", 7);
        const auto multiply2 = net.pure("Multiply2", {user}, [](auto& in) { return in[0] * 4; });
        const auto plus = net.pure("+", {add, multiply2});
        const auto last = net.sink(net.pure("FinalValue", {plus}));
        net.evaluate();
        for (int frame = 2; frame < 6; ++frame) {
            ENSURE(net.evaluate().runs == 5);
            ENSURE(net.number(last) == frame / std::sin(0.5) + 6 + 28);
        }
        ENSURE(net.ran() == "Time Divide Add + FinalValue");
        net.set(user, 7);
        ENSURE(net.evaluate().runs == 5);
        net.set(user, 8);
        ENSURE(net.evaluate().runs == 7);
    }
}

TEST("graph: a failure has a message, a path and a source, and ends with the next success") {
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator);
        const auto user = net.input("user", 1);
        const auto root = net.add("root", plain_desc(1, 1), [](hob_node_call& call) {
            if (call.inputs[0].number < 0) return fail_with(call, "negative");
            call.outputs[0] = call.inputs[0];
            return HOB_VERDICT_DONE;
        });
        net.link({user}, root);
        const auto middle = net.pure("middle", {root}), last = net.sink(net.pure("last", {middle}));
        hob_node_input pin = {HOB_NODE_INPUT_HOLD, 0, {{0, 0}}};
        hob_node_desc holding = plain_desc(1, 1);
        holding.inputs = &pin;
        const auto holds = net.sink(net.add("holds", holding, [](hob_node_call& call) {
            call.outputs[0].number = call.inputs[0].number + 100;
            return HOB_VERDICT_DONE;
        }));
        net.link({root}, holds);
        ENSURE(net.evaluate().broken == 0 && net.failure(last).empty());
        net.set(user, -1);
        ENSURE(net.evaluate().broken == 3);
        hob_node_id source = {0, 0}, path[3];
        size_t count = 0;
        ENSURE(net.failure(last, &source) == "negative" && is_same(source, root));
        ENSURE_OK(hob_graph_get_failure_path(net.graph.get(), last, nullptr, 0, 0, &count));
        ENSURE(count == 3);
        ENSURE_OK(hob_graph_get_failure_path(net.graph.get(), last, path, sizeof path[0], 3, &count));
        ENSURE(is_same(path[0], last) && is_same(path[1], middle) && is_same(path[2], root));
        ENSURE(hob_graph_get_failure_path(net.graph.get(), last, path, sizeof path[0], 2, &count) ==
               HOB_RESULT_BUFFER_TOO_SMALL);
        ENSURE(net.number(last) == 1 && net.number(holds) == 101 && net.failure(holds).empty());
        ENSURE(net.why(last) == HOB_NODE_WHY_BROKEN);
        net.set(user, 2);
        ENSURE(net.evaluate().broken == 0 && net.number(last) == 2 && net.number(holds) == 102);
        ENSURE(net.failure(last, &source).empty() && source.index1 == 0);
    }
}

TEST("graph: a verdict or a request that is invalid fails the node with a message") {
    Net net;
    int mistake = 0;
    const auto node = net.add("bad", plain_desc(1, 0, HOB_NODE_CLASS_EFFECT), [&](hob_node_call& call) {
        hob_verdict verdict = HOB_VERDICT_NEED;
        if (mistake == 0) set_number(verdict, 77);
        if (mistake == 1) call.need = 1;
        if (mistake == 2) {
            // Without a NUL, and not UTF-8 at its end.
            std::memset(call.message, 'x', call.message_capacity);
            call.message[100] = static_cast<char>(0xff);
            return HOB_VERDICT_FAILED;
        }
        return verdict;
    });
    const char* const expected[] = {"evaluate returned 77, which is not a hob_verdict",
                                    "it asked for inputs that are not lazy, or that it has"};
    for (; mistake < 2; ++mistake) {
        ENSURE_OK(hob_graph_invalidate(net.graph.get(), node));
        ENSURE(net.evaluate().broken == 1 && net.failure(node) == expected[mistake]);
    }
    ENSURE_OK(hob_graph_invalidate(net.graph.get(), node));
    net.evaluate();
    ENSURE(net.failure(node) == std::string(100, 'x'));
    char small[4];
    size_t size = 0;
    ENSURE(hob_graph_get_failure(net.graph.get(), node, small, sizeof small, &size, nullptr) ==
           HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(size == 100);
}

TEST("graph: a feedback link carries the value of the last frame") {
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator);
        const auto count = net.sink(net.pure("count", {}, nullptr));
        ENSURE_OK(hob_graph_remove_node(net.graph.get(), count));
        const auto sum = net.sink(net.add("sum", plain_desc(1, 1), [](hob_node_call& call) {
            call.outputs[0].number = call.inputs[0].number + 1;
            return HOB_VERDICT_DONE;
        }));
        ENSURE(hob_graph_connect(net.graph.get(), sum, 0, sum, 0) == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE_OK(hob_graph_connect_feedback(net.graph.get(), sum, 0, sum, 0));
        for (int frame = 1; frame < 6; ++frame) {
            net.evaluate();
            ENSURE(net.number(sum) == frame);
        }
        ENSURE_OK(hob_graph_disconnect(net.graph.get(), sum, 0));
        net.evaluate();
        ENSURE(net.number(sum) == 1);
        ENSURE(hob_graph_disconnect(net.graph.get(), sum, 0) == HOB_RESULT_NOT_FOUND);
    }
}

TEST("graph: a link that closes a cycle is refused, and the message names its nodes") {
    Net net;
    const auto a = net.add("a", plain_desc(1, 1), [](hob_node_call&) { return HOB_VERDICT_DONE; });
    const auto b = net.pure("b", {a}), c = net.pure("c", {b});
    ENSURE(hob_graph_connect(net.graph.get(), c, 0, a, 0) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("cycle") && last_error_has("\"a\"") && last_error_has("\"b\"") && last_error_has("\"c\""));
    ENSURE(net.statistics().links == 2);
    ENSURE_OK(hob_graph_disconnect(net.graph.get(), b, 0));
    ENSURE_OK(hob_graph_connect(net.graph.get(), c, 0, a, 0));
}

TEST("graph: after a limit the next evaluation goes on with the frame") {
    const Executor pool = make_pool(2);
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator, pool.get());
        build_basic(net);
        for (int frame = 0; frame < 4; ++frame) {
            auto summary = net.evaluate(3);
            ENSURE(summary.is_complete == 0 && summary.runs == 3);
            summary = net.evaluate(3);
            ENSURE(summary.is_complete == 0 && summary.runs == 3);
            summary = net.evaluate(3);
            ENSURE(summary.is_complete == 1 && summary.runs == 1);
        }
        ENSURE(net.statistics().frames == 4 && net.statistics().evaluations == 12 && net.statistics().runs == 28);
    }
}

TEST("graph: another thread cancels an evaluation before its next node") {
    const Executor pool = make_pool(2);
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator, pool.get());
        std::atomic<int> ran{0};
        std::atomic<bool> is_cancelled{false};
        hob_node_id before = {0, 0};
        for (int n = 0; n < 100; ++n) {
            const auto node = net.add("", plain_desc(1, 1), [&](hob_node_call&) {
                if (++ran == 10) {
                    std::thread([&] {
                        EXPECT(hob_graph_cancel(net.graph.get()) == HOB_RESULT_OK);
                        is_cancelled = true;
                    }).join();
                }
                return HOB_VERDICT_DONE;
            });
            if (n > 0) net.link({before}, node);
            before = node;
        }
        net.sink(before);
        ENSURE(net.evaluate().is_complete == 0 && is_cancelled && ran == 10);
        ENSURE(net.why(before) == HOB_NODE_WHY_WAITS);
        ENSURE(net.evaluate().is_complete == 1 && ran == 100);
        ENSURE_OK(hob_graph_cancel(net.graph.get()));
        ENSURE_OK(hob_graph_invalidate(net.graph.get(), before));
        ENSURE(net.evaluate().runs == 0 && net.evaluate().runs == 1);
    }
}

TEST("graph: an output counts as changed by its cut-off") {
    struct Case {
        hob_node_output output;
        hob_value values[3];
        uint64_t reader_runs;
    };
    const auto words = [](uint64_t first, uint64_t second) {
        hob_value value = {{0, 0}};
        value.words[0] = first;
        value.words[1] = second;
        return value;
    };
    const hob_value zero = {{0, 0}};
    const Case cases[] = {
        {{HOB_CUTOFF_BYTES, 0, 0, zero}, {words(1, 0), words(1, 0), words(2, 0)}, 2},
        {{HOB_CUTOFF_GENERATION, 0, 0, zero}, {words(1, 1), words(5, 1), words(5, 2)}, 2},
        {{HOB_CUTOFF_EPSILON, 0, 0.5, zero},
         {hob_value_of_number(1), hob_value_of_number(1.25), hob_value_of_number(2)}, 2},
        {{HOB_CUTOFF_EPSILON, 0, 0.5, zero},
         {hob_value_of_number(NAN), hob_value_of_number(NAN), hob_value_of_number(INFINITY)}, 2},
        {{HOB_CUTOFF_CALLBACK, 0, 0, zero}, {words(10, 0), words(13, 0), words(20, 0)}, 2},
        {{HOB_CUTOFF_NEVER, 0, 0, zero}, {words(1, 0), words(1, 0), words(1, 0)}, 3},
    };
    for (const Case& one : cases) {
        Net net;
        int frame = 0;
        hob_node_desc desc = plain_desc(0, 1, HOB_NODE_CLASS_VOLATILE);
        desc.outputs = &one.output;
        desc.is_equal = [](void*, uint32_t output, const hob_value* before, const hob_value* after) -> uint32_t {
            EXPECT(output == 0);
            return before->words[0] / 10 == after->words[0] / 10;
        };
        const auto node = net.add("node", desc, [&](hob_node_call& call) {
            call.outputs[0] = one.values[frame++];
            return HOB_VERDICT_DONE;
        });
        const auto reader = net.sink(net.pure("reader", {node}));
        for (int n = 0; n < 3; ++n) net.evaluate();
        ENSURE(net.runs(node) == 3 && net.runs(reader) == one.reader_runs);
    }
}

TEST("graph: removing a node releases its values and then its user_data, once") {
    struct Owner {
        std::vector<std::string> log;
        uint64_t next = 1;

        static hob_verdict evaluate(void* self, hob_node_call* call) {
            call->outputs[1].words[0] = static_cast<Owner*>(self)->next++;
            return HOB_VERDICT_DONE;
        }
        static void release_value(void* self, uint32_t output, const hob_value* value) {
            EXPECT(output == 1);
            static_cast<Owner*>(self)->log.push_back(std::to_string(value->words[0]));
        }
        static void release(void* self) { static_cast<Owner*>(self)->log.push_back("owner"); }
    };
    for (const bool is_removed : {true, false}) {
        Owner owner;
        Net net;
        const hob_node_output outputs[2] = {{HOB_CUTOFF_BYTES, 0, 0, {{0, 0}}},
                                            {HOB_CUTOFF_BYTES, HOB_NODE_OUTPUT_OWNED, 0, {{0, 0}}}};
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.evaluate = &Owner::evaluate;
        desc.release_value = &Owner::release_value;
        desc.release = &Owner::release;
        desc.user_data = &owner;
        desc.outputs = outputs;
        desc.output_count = 2;
        desc.flags = HOB_NODE_SINK;
        hob_node_id node = {0, 0};
        ENSURE_OK(hob_graph_add_node(net.graph.get(), &desc, &node));
        ENSURE(net.statistics().memory_used > 0);
        for (int frame = 0; frame < 3; ++frame) net.evaluate();
        ENSURE((owner.log == std::vector<std::string>{"1", "2"}));
        const auto reader = net.add("reader", plain_desc(1, 1), [](hob_node_call&) { return HOB_VERDICT_DONE; });
        ENSURE(hob_graph_connect_feedback(net.graph.get(), node, 1, reader, 0) == HOB_RESULT_UNSUPPORTED);
        if (is_removed) {
            ENSURE_OK(hob_graph_remove_node(net.graph.get(), node));
            ENSURE((owner.log == std::vector<std::string>{"1", "2", "3", "owner"}));
            ENSURE(hob_graph_remove_node(net.graph.get(), node) == HOB_RESULT_NOT_FOUND);
            ENSURE(hob_graph_invalidate(net.graph.get(), node) == HOB_RESULT_NOT_FOUND);
        }
        net.graph.reset();
        ENSURE((owner.log == std::vector<std::string>{"1", "2", "3", "owner"}));
    }
}

TEST("graph: after a removed node its readers have their own values again") {
    Net net;
    const auto time = net.time();
    const hob_node_input pin = {0, 0, {{42, 0}}};
    hob_node_desc desc = plain_desc(1, 1);
    desc.inputs = &pin;
    const auto reader = net.sink(net.add("reader", desc, [](hob_node_call& call) {
        call.outputs[0] = call.inputs[0];
        return HOB_VERDICT_DONE;
    }));
    net.link({time}, reader);
    net.evaluate();
    ENSURE(net.number(reader) == 1);
    ENSURE_OK(hob_graph_remove_node(net.graph.get(), time));
    net.evaluate();
    ENSURE(net.number(reader) == 42 && net.why(reader) == HOB_NODE_WHY_EDITED);
    const auto other = net.time();
    ENSURE(other.index1 == time.index1 && other.generation != time.generation);
    net.set(reader, 43);
    net.evaluate();
    ENSURE(net.number(reader) == 43 && net.why(other) == HOB_NODE_WHY_NO_SINK);
    net.evaluate();
    ENSURE(net.why(reader) == HOB_NODE_WHY_NO_CHANGE);
}

TEST("graph: a refused node changes nothing and is not owned") {
    Net net;
    int released = 0;
    const hob_node_input lazy = {HOB_NODE_INPUT_LAZY, 0, {{0, 0}}};
    hob_node_desc good = plain_desc(1, 1);
    good.user_data = &released;
    good.release = [](void* count) { ++*static_cast<int*>(count); };
    good.inputs = &lazy;
    const auto refuses = [&](hob_result expected, const char* message, void (*spoil)(hob_node_desc&)) {
        hob_node_desc desc = good;
        spoil(desc);
        hob_node_id node = {7, 7};
        ENSURE(hob_graph_add_node(net.graph.get(), &desc, &node) == expected);
        ENSURE(last_error_has(message) && node.index1 == 7);
    };
    static hob_node_output output;
    output = {HOB_CUTOFF_EPSILON, 0, -1, {{0, 0}}};
    refuses(HOB_RESULT_INVALID_ARGUMENT, "evaluate is NULL", [](hob_node_desc& desc) { desc.evaluate = nullptr; });
    refuses(HOB_RESULT_INVALID_ARGUMENT, "never runs", [](hob_node_desc& desc) { desc.node_class = HOB_NODE_CLASS_INPUT; });
    refuses(HOB_RESULT_INVALID_ARGUMENT, "leave release", [](hob_node_desc& desc) {
        desc.node_class = HOB_NODE_CLASS_INPUT;
        desc.evaluate = nullptr;
    });
    refuses(HOB_RESULT_INVALID_ARGUMENT, "hob_node_class", [](hob_node_desc& desc) { set_number(desc.node_class, 9); });
    refuses(HOB_RESULT_INVALID_ARGUMENT, "epsilon", [](hob_node_desc& desc) { desc.outputs = &output; });
    refuses(HOB_RESULT_UNSUPPORTED, "flags", [](hob_node_desc& desc) { desc.flags = 8; });
    refuses(HOB_RESULT_LIMIT_EXCEEDED, "65535", [](hob_node_desc& desc) { desc.output_count = 70000; });
    refuses(HOB_RESULT_LIMIT_EXCEEDED, "65535", [](hob_node_desc& desc) { desc.output_count = SIZE_MAX; });
    output = {HOB_CUTOFF_CALLBACK, 0, 0, {{0, 0}}};
    refuses(HOB_RESULT_INVALID_ARGUMENT, "is_equal", [](hob_node_desc& desc) { desc.outputs = &output; });
    output = {HOB_CUTOFF_BYTES, HOB_NODE_OUTPUT_OWNED, 0, {{0, 0}}};
    refuses(HOB_RESULT_INVALID_ARGUMENT, "release_value", [](hob_node_desc& desc) { desc.outputs = &output; });
    ENSURE(net.statistics().nodes == 0 && released == 0);

    hob_graph_desc desc = HOB_GRAPH_DESC_INIT;
    desc.max_nodes = 1;
    hob_graph* small = nullptr;
    ENSURE_OK(hob_graph_create(&desc, &small));
    hob_node_id node = {0, 0};
    ENSURE_OK(hob_graph_add_node(small, &good, &node));
    ENSURE(hob_graph_add_node(small, &good, &node) == HOB_RESULT_LIMIT_EXCEEDED && last_error_has("max_nodes"));
    hob_graph_destroy(small);
    ENSURE(released == 1);
}

TEST("graph: nodes and links are saved as JSON and as a picture") {
    Net net;
    const auto input = net.input("a \"quoted\" name", 2);
    hob_node_desc desc = plain_desc(1, 1);
    desc.type_name = HOB_STR("doubler");
    const auto node = net.sink(net.add("twice", desc, [](hob_node_call&) { return HOB_VERDICT_DONE; }));
    net.link({input}, node);
    const auto saved = [&](hob_result (*save)(const hob_graph*, char*, size_t, size_t*)) {
        size_t size = 0;
        ENSURE_OK(save(net.graph.get(), nullptr, 0, &size));
        std::string text(size, '?');
        ENSURE(save(net.graph.get(), &text[0], size - 1, &size) == HOB_RESULT_BUFFER_TOO_SMALL);
        ENSURE_OK(save(net.graph.get(), &text[0], size, &size));
        ENSURE(size == text.size() && text.back() == '\n');
        return text;
    };
    const std::string json = saved(&hob_graph_save_json), dot = saved(&hob_graph_save_dot);
    for (const char* part : {"\"hobgoblin_graph\": 1", "a \\\"quoted\\\" name", "\"doubler\"", "\"pure\"", "\"links\""}) {
        EXPECT(json.find(part) != std::string::npos);
    }
    for (const char* part : {"digraph", "n1 -> n2", "peripheries=2", "twice"}) EXPECT(dot.find(part) != std::string::npos);
}
