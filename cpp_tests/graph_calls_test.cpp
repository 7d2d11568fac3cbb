// Graphs: calls from inside nodes, threads, panics and memory.
#include <atomic>
#include <cstring>
#include <thread>

#include "executor_support.h"
#include "graph_support.h"
#include "malloc_count.h"

using namespace support;

namespace {

/// A level of `count` nodes that take some microseconds, between one input and one sink.
struct Level {
    Net net;
    hob_node_id input = {0, 0}, sum = {0, 0};

    Level(hob_evaluator evaluator, const hob_executor* executor, size_t count, const std::function<void()>& visit)
        : net(evaluator, executor) {
        input = net.input("input", 1);
        std::vector<hob_node_id> nodes;
        for (size_t n = 0; n < count; ++n) {
            nodes.push_back(net.pure("", {input}, [visit](const std::vector<double>& in) {
                visit();
                volatile double total = 0;
                for (int step = 0; step < 3000; ++step) total = total + in[0];
                return total;
            }));
        }
        sum = net.sink(net.pure("sum", nodes));
    }
};

}  // namespace

TEST("graph: inside a node every call on its graph but cancel is busy, on any thread") {
    const Executor pool = make_pool(3);
    hob_graph* graph = nullptr;
    hob_node_id input = {0, 0};
    std::atomic<int> elsewhere{0}, calls{0};
    const auto caller = std::this_thread::get_id();
    const auto visit = [&] {
        if (std::this_thread::get_id() != caller) ++elsewhere;
        ++calls;
        const auto is_busy = [](hob_result result) {
            EXPECT(result == HOB_RESULT_BUSY && last_error_has("an evaluation or an edit is running"));
        };
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.evaluate = [](void*, hob_node_call*) { return HOB_VERDICT_DONE; };
        hob_node_id node = {0, 0};
        hob_value value = hob_value_of_number(5);
        hob_graph_statistics statistics = HOB_GRAPH_STATISTICS_INIT;
        is_busy(hob_graph_add_node(graph, &desc, &node));
        is_busy(hob_graph_remove_node(graph, input));
        is_busy(hob_graph_connect(graph, input, 0, input, 0));
        is_busy(hob_graph_set_input(graph, input, 0, &value));
        is_busy(hob_graph_evaluate(graph, nullptr, nullptr, nullptr));
        is_busy(hob_graph_get_value(graph, input, 0, &value));
        is_busy(hob_graph_get_statistics(graph, &statistics));
        hob_graph_destroy(graph);
        EXPECT(last_error_has("hob_graph is busy"));
    };
    for (const hob_evaluator evaluator : evaluators) {
        Level level(evaluator, pool.get(), 64, visit);
        graph = level.net.graph.get();
        input = level.input;
        for (int frame = 1; frame < 30; ++frame) {
            level.net.set(level.input, frame);
            ENSURE(level.net.evaluate().runs == 65 + (frame == 1 ? 1 : 1));
            ENSURE(level.net.number(level.sum) == 64.0 * 3000 * frame);
        }
    }
    ENSURE(calls == 64 * 29 * 5);
}

TEST("graph: nodes of a level that take long run on the executor's threads") {
    const Executor pool = make_pool(3);
    std::atomic<int> elsewhere{0};
    const auto caller = std::this_thread::get_id();
    Level level(HOB_EVALUATOR_PARALLEL, pool.get(), 256, [&] {
        if (std::this_thread::get_id() != caller) ++elsewhere;
    });
    for (int frame = 1; frame < 200 && elsewhere == 0; ++frame) {
        level.net.set(level.input, frame);
        level.net.evaluate();
        ENSURE(level.net.number(level.sum) == 256.0 * 3000 * frame);
    }
    ENSURE(elsewhere > 0 && level.net.statistics().blocks > 0);

    // Host callbacks on the calling thread only.
    hob_executor_desc desc = HOB_EXECUTOR_DESC_INIT;
    desc.pool_threads = 3;
    desc.flags = HOB_EXECUTOR_CALLING_THREAD_ONLY;
    const Executor alone = make_executor(desc);
    elsewhere = 0;
    Level here(HOB_EVALUATOR_PARALLEL, alone.get(), 256, [&] {
        if (std::this_thread::get_id() != caller) ++elsewhere;
    });
    for (int frame = 1; frame < 20; ++frame) {
        here.net.set(here.input, frame);
        here.net.evaluate();
    }
    ENSURE(elsewhere == 0);
}

TEST("graph: reads from several threads between evaluations give the last values") {
    Net net;
    const auto time = net.sink(net.time());
    net.evaluate();
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n) {
        threads.emplace_back([&] {
            for (int read = 0; read < 1000; ++read) {
                hob_value value = hob_value_of_number(0);
                EXPECT(hob_graph_get_value(net.graph.get(), time, 0, &value) == HOB_RESULT_OK && value.number == 1);
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST("graph: a panic poisons the graph, which still answers and is destroyed") {
    Net net;
    const auto time = net.sink(net.time());
    net.evaluate();
    ENSURE_OK(hob_fault_arm(HOB_STR("graph.evaluate"), 0));
    ENSURE(hob_graph_evaluate(net.graph.get(), nullptr, nullptr, nullptr) == HOB_RESULT_PANIC);
    ENSURE(hob_graph_evaluate(net.graph.get(), nullptr, nullptr, nullptr) == HOB_RESULT_POISONED);
    ENSURE(net.number(time) == 1 && net.runs(time) == 1);
    ENSURE_OK(hob_graph_cancel(net.graph.get()));
}

TEST("graph: an evaluation allocates nothing once it is warm") {
    struct Plain {
        static hob_verdict sum(void*, hob_node_call* call) {
            double sum = 1;
            for (uint32_t n = 0; n < call->input_count; ++n) sum += call->inputs[n].number;
            call->outputs[0].number = sum;
            return HOB_VERDICT_DONE;
        }
        static hob_verdict fail(void*, hob_node_call* call) {
            std::strcpy(call->message, "always");
            return HOB_VERDICT_FAILED;
        }
    };
    const Executor pool = make_pool(2);
    for (const hob_evaluator evaluator : evaluators) {
        const GraphHandle graph = make_graph();
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.evaluate = &Plain::sum;
        desc.input_count = 2;
        desc.output_count = 1;
        std::vector<hob_node_id> nodes(500);
        for (size_t n = 0; n < nodes.size(); ++n) {
            desc.node_class = n % 50 == 0 ? HOB_NODE_CLASS_VOLATILE : HOB_NODE_CLASS_PURE;
            desc.flags = n % 3 == 0 ? HOB_NODE_SINK : 0;
            ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &nodes[n]));
            for (uint32_t input = 0; input < 2 && n > 10; ++input) {
                ENSURE_OK(hob_graph_connect(graph.get(), nodes[n - 1 - (n * 7 + input) % 10], 0, nodes[n], input));
            }
        }
        desc.evaluate = &Plain::fail;
        desc.node_class = HOB_NODE_CLASS_EFFECT;
        hob_node_id failing = {0, 0};
        ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &failing));
        hob_evaluation_desc how = HOB_EVALUATION_DESC_INIT, one = HOB_EVALUATION_DESC_INIT;
        how.evaluator = evaluator;
        one.only = nodes[250];
        // Once a plan was made in the background, and used.
        for (int frame = 0; frame < 100; ++frame) {
            ENSURE_OK(hob_graph_evaluate(graph.get(), pool.get(), &how, nullptr));
            ENSURE_OK(hob_executor_wait_idle(pool.get(), UINT64_MAX));
        }
        const uint64_t before = malloc_calls();
        for (int frame = 0; frame < 1000; ++frame) {
            const hob_value value = hob_value_of_number(frame);
            hob_evaluation_summary summary = HOB_EVALUATION_SUMMARY_INIT;
            hob_value result;
            ENSURE_OK(hob_graph_set_input(graph.get(), nodes[0], 0, &value));
            ENSURE_OK(hob_graph_invalidate(graph.get(), failing));
            ENSURE_OK(hob_graph_evaluate(graph.get(), nullptr, &one, nullptr));
            ENSURE_OK(hob_graph_evaluate(graph.get(), pool.get(), &how, &summary));
            ENSURE_OK(hob_graph_get_value(graph.get(), nodes[499], 0, &result));
            ENSURE(summary.is_complete == 1 && summary.broken == 1);
        }
        ENSURE(malloc_calls() == before);
    }
}

TEST("graph: an evaluation of one node is no frame, and leaves the sinks") {
    for (const hob_evaluator evaluator : evaluators) {
        Net net(evaluator);
        const hob_node_id time = net.time(), input = net.input("input", 1);
        const hob_node_id sink = net.sink(net.pure("sink", {time, input}));
        const hob_node_id wanted = net.pure("wanted", {input, input});
        net.evaluate();
        hob_evaluation_desc desc = HOB_EVALUATION_DESC_INIT;
        hob_evaluation_summary summary = HOB_EVALUATION_SUMMARY_INIT;
        for (int number = 2; number < 6; ++number) {
            const uint64_t runs = net.runs(sink);
            net.set(input, number);
            desc.only = wanted;
            ENSURE_OK(hob_graph_evaluate(net.graph.get(), nullptr, &desc, &summary));
            ENSURE(summary.is_complete == 1 && summary.runs == 2 && summary.evaluator == HOB_EVALUATOR_LAZY);
            ENSURE(net.number(wanted) == 2 * number && net.runs(sink) == runs);
            desc.only = time;
            ENSURE_OK(hob_graph_evaluate(net.graph.get(), nullptr, &desc, &summary));
            ENSURE(summary.is_complete == 1 && summary.runs == 0);
            net.evaluate();
            ENSURE(net.runs(sink) == runs + 1);
        }
        ENSURE(net.statistics().frames == 5 && net.statistics().evaluations == 13);
        desc.only = wanted;
        ENSURE_OK(hob_graph_remove_node(net.graph.get(), wanted));
        ENSURE(hob_graph_evaluate(net.graph.get(), nullptr, &desc, &summary) == HOB_RESULT_NOT_FOUND);
        ENSURE(summary.runs == 0);
    }
}

TEST("graph: all evaluators run the same nodes of a random graph, and give the same values") {
    const Executor pool = make_pool(3);
    for (uint64_t seed = 1; seed < 6; ++seed) {
        std::vector<std::unique_ptr<Net>> nets;
        std::vector<std::vector<hob_node_id>> nodes;
        for (const hob_evaluator evaluator : evaluators) {
            nets.push_back(std::make_unique<Net>(evaluator, pool.get()));
            nodes.emplace_back();
            Dice dice(seed);
            for (int n = 0; n < 200; ++n) {
                std::vector<hob_node_id> inputs;
                for (uint32_t count = dice.below(4); count > 0 && n > 0; --count) {
                    inputs.push_back(nodes.back()[dice.below(static_cast<uint32_t>(n))]);
                }
                const double factor = dice.below(3);
                nodes.back().push_back(
                    n % 20 == 0 ? nets.back()->input("", n) : nets.back()->pure("", inputs, [factor](auto& in) {
                        return 1 + factor * Net::total(in) / 8;
                    }));
            }
            for (int n = 0; n < 10; ++n) nets.back()->sink(nodes.back()[dice.below(200)]);
        }
        Dice dice(seed * 100);
        for (int frame = 0; frame < 50; ++frame) {
            const uint32_t changed = dice.below(10) * 20;
            const double number = dice.below(3);
            uint64_t runs = 0;
            for (size_t n = 0; n < nets.size(); ++n) {
                nets[n]->set(nodes[n][changed], number);
                const uint64_t ran = nets[n]->evaluate().runs;
                if (n == 0) runs = ran;
                ENSURE(ran == runs);
                for (size_t at = 0; at < 200; ++at) {
                    ENSURE(nets[n]->number(nodes[n][at]) == nets[0]->number(nodes[0][at]));
                }
            }
        }
    }
}

namespace {

/// An `_init` function writes the size, and zero up to `end`.
///
/// `first` is the first released size.
template <class T>
void starts_empty(hob_result (*init)(T*, uint32_t), size_t first, size_t end) {
    T value;
    std::memset(static_cast<void*>(&value), 0xa5, sizeof value);
    ENSURE_OK(init(&value, sizeof value));
    ENSURE(value.struct_size == sizeof value);
    ENSURE(init(&value, static_cast<uint32_t>(first) - 1) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(init(nullptr, sizeof value) == HOB_RESULT_INVALID_ARGUMENT);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    for (size_t at = sizeof value.struct_size; at < end; ++at) ENSURE(bytes[at] == 0);
}

}  // namespace

TEST("graph: structs of graphs start with their defaults") {
    starts_empty(&hob_graph_desc_init, 8, 8);
    starts_empty(&hob_node_desc_init, 136, 136);
    starts_empty(&hob_node_call_init, 56, 56);
    starts_empty(&hob_evaluation_desc_init, 16, 8);
    starts_empty(&hob_evaluation_summary_init, 48, 48);
    starts_empty(&hob_node_reason_init, 24, 24);
    starts_empty(&hob_node_statistics_init, 32, 32);
    starts_empty(&hob_graph_statistics_init, 96, 96);
    hob_evaluation_desc desc;
    ENSURE_OK(hob_evaluation_desc_init(&desc, sizeof desc));
    ENSURE(desc.node_limit == UINT64_MAX && desc.evaluator == HOB_EVALUATOR_AUTO);
}
