// Nodes run in the host's floating-point environment, on every thread, and nothing in between traps.
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "executor_support.h"
#include "float_support.h"
#include "graph_support.h"

using namespace support;

#if defined(__x86_64__) && defined(__GLIBC__)

namespace {

/// A level of nodes that compare the environment with the evaluation's. With cut-offs, the library compares numbers; without
/// them it computes with integers only.
struct Watched {
    GraphHandle graph = make_graph();
    hob_node_id input = {0, 0};
    unsigned expected = 0;
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> runs{0}, elsewhere{0}, wrong{0};
    hob_value next[4] = {};

    void see() {
        ++runs;
        if (chosen_bits() != expected) ++wrong;
        if (std::this_thread::get_id() != caller) ++elsewhere;
    }
    static hob_verdict node(void* self, hob_node_call* call) {
        Watched& watched = *static_cast<Watched*>(self);
        watched.see();
        volatile unsigned work = 0;
        for (unsigned step = 0; step < 20000; ++step) work = work + step;
        for (uint32_t n = 0; n < call->output_count; ++n) call->outputs[n] = watched.next[n];
        // A call of the library inside a node keeps the environment.
        if (hob_graph_cancel(nullptr) != HOB_RESULT_INVALID_ARGUMENT) ++watched.wrong;
        watched.see();
        return HOB_VERDICT_DONE;
    }
    static uint32_t is_equal(void* self, uint32_t, const hob_value*, const hob_value*) {
        static_cast<Watched*>(self)->see();
        return 0;
    }
    static void release_value(void* self, uint32_t, const hob_value*) { static_cast<Watched*>(self)->see(); }
    static void release(void* self) { static_cast<Watched*>(self)->see(); }

    explicit Watched(bool has_cutoffs) {
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.node_class = HOB_NODE_CLASS_INPUT;
        desc.output_count = 1;
        ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &input));
        const hob_node_output outputs[] = {
            {HOB_CUTOFF_EPSILON, 0, 1e-3, {{0, 0}}},
            {HOB_CUTOFF_EPSILON, 0, 0, {{0, 0}}},
            {HOB_CUTOFF_CALLBACK, 0, 0, {{0, 0}}},
            {HOB_CUTOFF_BYTES, HOB_NODE_OUTPUT_OWNED, 0, {{0, 0}}},
        };
        desc = HOB_NODE_DESC_INIT;
        desc.node_class = HOB_NODE_CLASS_PURE;
        desc.flags = HOB_NODE_SINK;
        desc.user_data = this;
        desc.evaluate = &node;
        desc.is_equal = &is_equal;
        desc.release_value = &release_value;
        desc.release = &release;
        desc.input_count = 1;
        desc.outputs = has_cutoffs ? outputs : nullptr;
        desc.output_count = has_cutoffs ? 4 : 1;
        for (int n = 0; n < 64; ++n) {
            hob_node_id id = {0, 0};
            ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &id));
            ENSURE_OK(hob_graph_connect(graph.get(), input, 0, id, 0));
        }
    }
};

uint64_t bits(double number) {
    uint64_t word;
    std::memcpy(&word, &number, sizeof word);
    return word;
}

/// An environment of a host: the default, one that rounds up and flushes denormals, or one with all traps, too.
enum class Manner { plain, flushing, trapping };

/// Evaluates frames in that environment. The nodes see it, and the caller keeps it.
void run(Manner manner, bool has_cutoffs, hob_evaluator evaluator, const hob_executor* executor) {
    Watched watched(has_cutoffs);
    // Numbers whose difference is inexact, denormal, infinite, invalid. The last one is a signalling NaN.
    const uint64_t words[] = {bits(0.1), bits(0.1000001), bits(3e-310), bits(1e-310), bits(INFINITY), bits(-INFINITY),
                              bits(1.7e308), bits(-1.7e308), bits(NAN), 0x7ff0000000000001};
    hob_evaluation_desc desc = HOB_EVALUATION_DESC_INIT;
    desc.evaluator = evaluator;
    bool is_kept = true;
    int failures = 0;
    for (uint64_t frame = 0; frame < 40; ++frame) {
        hob_value value = {{0, 0}};
        value.words[0] = frame;
        for (auto& next : watched.next) next.words[0] = words[frame % 10];
        watched.next[3].words[0] = frame + 1;
        std::fenv_t saved;
        std::fegetenv(&saved);
        if (manner == Manner::flushing) {
            std::fesetround(FE_UPWARD);
            _mm_setcsr(_mm_getcsr() | flush_denormals);
        }
        const auto evaluate = [&] {
            watched.expected = chosen_bits();
            const Environment before = Environment::now();
            failures += hob_graph_set_input(watched.graph.get(), watched.input, 0, &value) != HOB_RESULT_OK;
            failures += hob_graph_evaluate(watched.graph.get(), executor, &desc, nullptr) != HOB_RESULT_OK;
            is_kept &= before == Environment::now();
        };
        if (manner == Manner::trapping) {
            const Hostile environment;
            evaluate();
            if (frame == 39) watched.graph.reset();
        } else {
            evaluate();
            if (frame == 39) watched.graph.reset();
        }
        std::fesetenv(&saved);
    }
    ENSURE(failures == 0 && is_kept);
    ENSURE(watched.wrong == 0 && watched.runs > 64 * 40 * (has_cutoffs ? 3 : 1));
}

}  // namespace

TEST("float: nodes run in the host's environment on every thread, and no comparison between them traps") {
    const Executor pool = make_pool(3);
    for (const Manner manner : {Manner::plain, Manner::flushing, Manner::trapping}) {
        for (const hob_evaluator evaluator : evaluators) {
            for (const bool has_cutoffs : {true, false}) {
                run(manner, has_cutoffs, evaluator, nullptr);
                run(manner, has_cutoffs, evaluator, pool.get());
            }
        }
    }
}

TEST("float: hooks during an evaluation leave the nodes' environment as it was") {
    const Hooks cleared_at_the_end;
    hob_clock_hook clock = HOB_CLOCK_HOOK_INIT;
    clock.now_ns = [](void*) { return uint64_t{0}; };
    ENSURE_OK(hob_set_clock_hook(&clock));
    const Executor pool = make_pool(2);
    for (const Manner manner : {Manner::flushing, Manner::trapping}) {
        run(manner, true, HOB_EVALUATOR_PARALLEL, pool.get());
        run(manner, false, HOB_EVALUATOR_BITSET, nullptr);
    }
}

namespace {

/// Runs of a node behind one whose output has that cut-off, while the numbers follow each other in an environment.
int runs_behind_epsilon(bool is_default, hob_evaluator evaluator, double epsilon, const std::vector<double>& numbers) {
    const GraphHandle graph = make_graph();
    int runs = 0;
    hob_node_desc desc = HOB_NODE_DESC_INIT;
    desc.node_class = HOB_NODE_CLASS_INPUT;
    desc.output_count = 1;
    hob_node_id input = {0, 0}, filter = {0, 0}, sink = {0, 0};
    ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &input));
    const hob_node_output output = {HOB_CUTOFF_EPSILON, 0, epsilon, {{0, 0}}};
    desc.node_class = HOB_NODE_CLASS_PURE;
    desc.input_count = 1;
    desc.outputs = &output;
    desc.evaluate = [](void*, hob_node_call* call) {
        call->outputs[0] = call->inputs[0];
        return HOB_VERDICT_DONE;
    };
    ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &filter));
    desc.flags = HOB_NODE_SINK;
    desc.outputs = nullptr;
    desc.user_data = &runs;
    desc.evaluate = [](void* self, hob_node_call*) {
        ++*static_cast<int*>(self);
        return HOB_VERDICT_DONE;
    };
    ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &sink));
    ENSURE_OK(hob_graph_connect(graph.get(), input, 0, filter, 0));
    ENSURE_OK(hob_graph_connect(graph.get(), filter, 0, sink, 0));
    hob_evaluation_desc how = HOB_EVALUATION_DESC_INIT;
    how.evaluator = evaluator;
    std::fenv_t saved;
    std::fegetenv(&saved);
    if (!is_default) {
        std::fesetround(FE_UPWARD);
        _mm_setcsr(_mm_getcsr() | flush_denormals);
    }
    int failures = 0;
    for (const double number : numbers) {
        hob_value value = {{0, 0}};
        value.words[0] = bits(number);
        failures += hob_graph_set_input(graph.get(), input, 0, &value) != HOB_RESULT_OK;
        failures += hob_graph_evaluate(graph.get(), nullptr, &how, nullptr) != HOB_RESULT_OK;
    }
    std::fesetenv(&saved);
    ENSURE(failures == 0);
    return runs;
}

}  // namespace

TEST("float: a cut-off by epsilon does not depend on how the host rounds and flushes numbers") {
    for (const hob_evaluator evaluator : evaluators) {
        for (const bool is_default : {true, false}) {
            // 0.4 - 0.1 rounds to more than 0.3, unless the difference is rounded down before it is compared.
            EXPECT(runs_behind_epsilon(is_default, evaluator, 0.3, {0.4, 0.1, 0.4, 0.1}) == 4);
            EXPECT(runs_behind_epsilon(is_default, evaluator, 0, {2.2250738585072014e-308, 3e-308, 1e-310}) == 3);
        }
    }
}

#endif
