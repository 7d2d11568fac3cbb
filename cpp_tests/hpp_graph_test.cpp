// hobgoblin.hpp: graphs whose nodes are lambdas.
#include <hobgoblin/graph.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "support.h"

namespace {

hob::NodeOptions pure(std::string_view name, size_t inputs) {
    hob::NodeOptions options;
    options.name = name;
    options.node_class = HOB_NODE_CLASS_PURE;
    options.input_count = inputs;
    return options;
}

}  // namespace

TEST("hpp: nodes are lambdas, and run only after a change") {
    hob::Graph graph;
    const auto speed = graph.add_input("speed", hob_value_of_number(2));
    auto owned = std::make_shared<int>(3);
    const auto scaled = graph.add(pure("scaled", 1), [owned](hob_node_call& call) {
        call.outputs[0].number = *owned * call.inputs[0].number;
    });
    ENSURE(owned.use_count() == 2);
    const hob_node_input pins[] = {{0, 0, {{0, 0}}}, {HOB_NODE_INPUT_LAZY, 0, {{50, 0}}}};
    auto options = pure("large", 0);
    options.inputs = pins;
    options.is_sink = true;
    const auto large = graph.add(options, [](hob_node_call& call) {
        if (call.inputs[0].number > 10 && call.available == 0) {
            call.need = 2;
            return HOB_VERDICT_NEED;
        }
        call.outputs[0] = call.inputs[call.available != 0 ? 1 : 0];
        return HOB_VERDICT_DONE;
    });
    graph.connect(speed, 0, scaled, 0);
    graph.connect(scaled, 0, large, 0);
    auto summary = graph.evaluate();
    ENSURE(summary.is_complete == 1 && graph.value(large).number == 6 && graph.runs(large) == 1);
    ENSURE(graph.evaluate().runs == 0 && graph.reason(large).why == HOB_NODE_WHY_NO_CHANGE);
    ENSURE(graph.reason_text(large) == "\"large\" did not run: no input changed");
    graph.set_input(speed, 0, hob_value_of_number(20));
    const hob::Executor executor = hob::Executor::create_pool(1);
    ENSURE(graph.evaluate(executor).requests == 1 && graph.value(large).number == 50);

    hob::Graph moved = std::move(graph);
    ENSURE(graph.capi() == nullptr && moved.value(large).number == 50);
    moved.invalidate(scaled);
    hob_evaluation_desc desc = HOB_EVALUATION_DESC_INIT;
    desc.evaluator = HOB_EVALUATOR_LIST;
    ENSURE(moved.evaluate(&executor, desc).evaluator == HOB_EVALUATOR_LIST && moved.runs(scaled) == 3);
    moved.disconnect(large, 0);
    moved.set_sink(large, false);
    ENSURE(moved.save_json().find("\"scaled\"") != std::string::npos);
    ENSURE(moved.save_dot().find("digraph") != std::string::npos);
    ENSURE(moved.statistics().links == 1 && moved.evaluate().runs == 0);
    moved.remove(scaled);
    ENSURE(owned.use_count() == 1 && moved.try_value(scaled).code() == HOB_RESULT_NOT_FOUND);
}

TEST("hpp: an exception fails its node, and is rethrown after the evaluation") {
    for (const bool uses_pool : {false, true}) {
        hob::Graph graph;
        const hob::Executor executor = uses_pool ? hob::Executor::create_pool(2) : hob::Executor();
        bool throws = true;
        auto options = pure("thrower", 0);
        options.node_class = HOB_NODE_CLASS_VOLATILE;
        const auto thrower = graph.add(options, [&](hob_node_call& call) {
            if (throws) throw std::runtime_error(std::string(300, 'm'));
            call.outputs[0].number = 1;
        });
        auto dependant = pure("dependant", 1);
        dependant.is_sink = true;
        const auto reader = graph.add(dependant, [](hob_node_call& call) { call.outputs[0] = call.inputs[0]; });
        int other_runs = 0;
        auto other = pure("other", 0);
        other.is_sink = true;
        const auto odd = graph.add(other, [&](hob_node_call&) {
            ++other_runs;
            throw 5;
        });
        graph.connect(thrower, 0, reader, 0);
        bool is_thrown = false;
        try {
            (void)graph.try_evaluate(executor);
        } catch (const std::runtime_error& error) {
            is_thrown = std::string(error.what()).size() == 300;
        } catch (int number) {
            is_thrown = number == 5;
        }
        ENSURE(is_thrown && other_runs == 1 && graph.failure(odd).empty());
        ENSURE(graph.failure(reader) == std::string(159, 'm') && graph.failure_path(reader).size() == 2);
        throws = false;
        ENSURE(graph.evaluate(executor).broken == 1 && graph.value(reader).number == 1);
        ENSURE(graph.failure(reader).empty() && graph.failure_path(reader).empty());
    }
}

TEST("hpp: a refused edit of a graph throws, and its lambda is destroyed") {
    hob_graph_desc desc = HOB_GRAPH_DESC_INIT;
    desc.max_nodes = 1;
    auto graph = hob::Graph::try_create(desc).value();
    const auto shared = std::make_shared<int>(1);
    const auto node = graph.add(pure("only", 1), [shared](hob_node_call&) {});
    ENSURE(graph.try_add(pure("refused", 1), [shared](hob_node_call&) {}).code() == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(shared.use_count() == 2);
    bool is_thrown = false;
    try {
        graph.connect(node, 0, node, 0);
    } catch (const hob::Error& error) {
        is_thrown = error.code() == HOB_RESULT_INVALID_ARGUMENT;
    }
    ENSURE(is_thrown);
    graph.connect_feedback(node, 0, node, 0);
    graph.set_sink(node, true);
    graph.cancel();
    ENSURE(graph.evaluate().is_complete == 0 && graph.evaluate().is_complete == 1);
}

TEST("hpp: a baked graph shares the lambdas, and outlives its original") {
    auto graph = std::make_unique<hob::Graph>();
    const auto shared = std::make_shared<int>(2);
    const auto speed = graph->add_input("speed", hob_value_of_number(3));
    const auto scaled = graph->add(pure("scaled", 1), [shared](hob_node_call& call) {
        call.outputs[0].number = *shared * call.inputs[0].number;
    });
    auto options = pure("clock", 1);
    options.node_class = HOB_NODE_CLASS_VOLATILE;
    options.is_sink = true;
    const auto clock = graph->add(options, [shared, frame = 0](hob_node_call& call) mutable {
        if (++frame == 4) throw std::runtime_error("late");
        call.outputs[0].number = call.inputs[0].number + frame;
    });
    graph->connect(speed, 0, scaled, 0);
    graph->connect(scaled, 0, clock, 0);
    ENSURE(graph->try_bake().code() == HOB_RESULT_INVALID_ARGUMENT);
    graph->evaluate();
    hob::Graph baked = graph->bake();
    const hob_node_id kept[] = {scaled};
    hob::Graph larger = graph->bake(hob::ArrayView<hob_node_id>::of(kept, 1));
    ENSURE(baked.statistics().nodes == 1 && larger.statistics().nodes == 2);
    ENSURE(baked.try_copy(scaled).code() == HOB_RESULT_NOT_FOUND && larger.copy(scaled).index1 != 0);
    ENSURE(larger.try_copy(speed).code() == HOB_RESULT_NOT_FOUND);
    ENSURE(larger.evaluate().runs == 2 && larger.value(larger.copy(clock)).number == 8);
    graph.reset();
    ENSURE(shared.use_count() == 3);
    ENSURE(baked.evaluate().runs == 1 && baked.value(baked.copy(clock)).number == 9);
    bool is_thrown = false;
    try {
        baked.evaluate();
    } catch (const std::runtime_error& error) {
        is_thrown = std::string(error.what()) == "late";
    }
    ENSURE(is_thrown);
}

TEST("hpp: a graph is written and loaded, and finds a node that is not pure") {
    hob::Graph graph;
    auto options = pure("liar", 0);
    options.type_name = "counter";
    options.is_sink = true;
    const auto liar = graph.add(options, [count = 0](hob_node_call& call) mutable { call.outputs[0].number = ++count; });
    auto clock_options = pure("clock", 0);
    clock_options.type_name = "clock";
    clock_options.node_class = HOB_NODE_CLASS_VOLATILE;
    clock_options.is_sink = true;
    graph.add(clock_options, [time = 0](hob_node_call& call) mutable { call.outputs[0].number = ++time; });
    graph.set_memory_limit(1 << 20);
    ENSURE(graph.node_statistics(liar).runs == 0);
    graph.set_audit(1);
    for (int frame = 0; frame < 20; ++frame) graph.evaluate();
    ENSURE(graph.runs(liar) == 1 && graph.findings().size() == 1 && graph.findings()[0].node.index1 == liar.index1);
    graph.set_audit(0);
    ENSURE(graph.findings().size() == 1 && graph.try_set_audit(2).code() == HOB_RESULT_INVALID_ARGUMENT);

    const std::string json = graph.save_json();
    ENSURE(graph.save_dot().find("label=\"liar") != std::string::npos);
    ENSURE(graph.emit_c("patch").find("hob_verdict counter(void *user_data, hob_node_call *call);") != std::string::npos);
    ENSURE(graph.emitted_nodes().size() == 2 && graph.try_emit_c("1").code() == HOB_RESULT_INVALID_ARGUMENT);
    const auto shared = std::make_shared<int>(1);
    const auto resolve = [&](hob::Graph::Loading& node) {
        node.set([shared](hob_node_call& call) { call.outputs[0].number = 7; });
        return node.type_name() == "counter" || node.desc().node_class == HOB_NODE_CLASS_VOLATILE;
    };
    hob::Graph loaded = hob::Graph::load(json, resolve);
    const auto copy = loaded.copy({liar.index1, 0});
    ENSURE(loaded.evaluate().runs == 2 && loaded.value(copy).number == 7 && loaded.save_json() == json);
    ENSURE(shared.use_count() == 3);
    ENSURE(hob::Graph::try_load(json, [&](hob::Graph::Loading& node) {
               node.set([shared](hob_node_call&) {});
               return node.id() == 1;
           }).code() == HOB_RESULT_NOT_FOUND);
    bool is_thrown = false;
    try {
        (void)hob::Graph::try_load(json, [](hob::Graph::Loading&) -> bool { throw 5; });
    } catch (int number) {
        is_thrown = number == 5;
    }
    ENSURE(is_thrown && shared.use_count() == 3);
    ENSURE(hob::Graph::try_load(json.substr(1), resolve).code() == HOB_RESULT_MALFORMED);
}

namespace {

/// Counts those that exist.
struct Sheet {
    explicit Sheet(int the_number) : number(the_number) { ++live; }
    Sheet(Sheet&& other) noexcept : number(other.number) { ++live; }
    Sheet(const Sheet& other) : number(other.number) { ++live; }
    ~Sheet() { --live; }
    bool operator==(const Sheet& other) const {
        if (number == 13 || other.number == 13) throw std::runtime_error("unlucky");
        return number == other.number;
    }

    int number;
    static int live;
};
int Sheet::live = 0;

}  // namespace

TEST("hpp: a graph owns the objects of a node, and equal ones count as no change") {
    {
        hob::Graph graph;
        const auto input = graph.add_input("input", hob_value_of_number(4));
        const auto half = graph.add_object<Sheet>(pure("half", 1), [](hob_node_call& call) {
            return Sheet(static_cast<int>(call.inputs[0].number) / 2);
        });
        const hob_node_input pins[] = {{HOB_NODE_INPUT_LAZY, 0, {{0, 0}}}, {0, 0, {{0, 0}}}};
        auto options = pure("copy", 0);
        options.inputs = pins;
        options.is_sink = true;
        const auto copy = graph.add_object<Sheet>(options, [](hob_node_call& call) -> std::optional<Sheet> {
            if (call.inputs[1].number != 0) return std::nullopt;
            if (call.available != 0) return *hob::object<Sheet>(call.inputs[0]);
            call.need = 1;
            return std::nullopt;
        });
        graph.connect(input, 0, half, 0);
        graph.connect(half, 0, copy, 0);
        const auto summary = graph.evaluate();
        ENSURE(summary.runs == 3 && summary.requests == 1 && Sheet::live == 2);
        ENSURE(hob::object<Sheet>(graph.value(copy))->number == 2);
        const auto before = graph.value(half);
        graph.set_input(input, 0, hob_value_of_number(5));
        ENSURE(graph.evaluate().runs == 2 && graph.value(half).pointer == before.pointer && Sheet::live == 2);

        // Another object is another value, wherever it is.
        graph.set_input(input, 0, hob_value_of_number(6));
        ENSURE(graph.evaluate().runs == 3 && graph.value(half).words[1] != before.words[1] && Sheet::live == 2);
        graph.set_input(copy, 1, hob_value_of_number(1));
        ENSURE(graph.evaluate().broken == 1 && graph.failure(copy).empty() && Sheet::live == 2);
        graph.set_input(copy, 1, hob_value_of_number(0));

        // A comparison that throws counts as a change.
        graph.set_input(input, 0, hob_value_of_number(26));
        bool is_thrown = false;
        try {
            graph.evaluate();
        } catch (const std::runtime_error& error) {
            is_thrown = std::string(error.what()) == "unlucky";
        }
        ENSURE(is_thrown && hob::object<Sheet>(graph.value(copy))->number == 13 && Sheet::live == 2);

        // A baked graph makes objects of its own.
        graph.set_input(input, 0, hob_value_of_number(8));
        try {
            graph.evaluate();
        } catch (const std::runtime_error&) {
        }
        hob::Graph baked = graph.bake();
        ENSURE(Sheet::live == 2 && baked.evaluate().runs == 2 && Sheet::live == 4);
        ENSURE(hob::object<Sheet>(baked.value(baked.copy(copy)))->number == 4);
        graph.disconnect(copy, 0);
        graph.remove(half);
        ENSURE(Sheet::live == 3);
    }
    ENSURE(Sheet::live == 0);
}

TEST("hpp: a loaded graph owns objects again") {
    hob::Graph graph;
    auto options = pure("sheet", 1);
    options.is_sink = true;
    options.type_name = "sheet";
    const auto make = [](hob_node_call& call) { return Sheet(static_cast<int>(call.inputs[0].number)); };
    const auto sheet = graph.add_object<Sheet>(options, make);
    graph.set_input(sheet, 0, hob_value_of_number(3));
    hob::Graph loaded = hob::Graph::load(graph.save_json(), [&](hob::Graph::Loading& node) {
        node.set_object<Sheet>(make);
        return true;
    });
    const auto copy = loaded.copy(sheet);
    ENSURE(loaded.evaluate().runs == 1 && hob::object<Sheet>(loaded.value(copy))->number == 3 && Sheet::live == 1);
    loaded.remove(copy);
    ENSURE(Sheet::live == 0);
}

TEST("hpp: a baked graph keeps the nodes that pass an object on") {
    auto graph = std::make_unique<hob::Graph>();
    const auto chosen = graph->add_input("chosen", hob_value_of_number(1));
    auto options = pure("sheet", 0);
    options.node_class = HOB_NODE_CLASS_CONSTANT;
    const auto sheet = graph->add_object<Sheet>(options, [](hob_node_call&) { return Sheet(5); });
    const auto part = graph->add(pure("switch", 2), [](hob_node_call& call) {
        if (call.inputs[0].number == 1) call.outputs[0] = call.inputs[1];
    });
    auto last = pure("number", 1);
    last.node_class = HOB_NODE_CLASS_VOLATILE;
    last.is_sink = true;
    const auto number = graph->add(last, [](hob_node_call& call) {
        call.outputs[0].number = hob::object<Sheet>(call.inputs[0])->number;
    });
    graph->connect(chosen, 0, part, 0);
    graph->connect(sheet, 0, part, 1);
    graph->connect(part, 0, number, 0);
    graph->evaluate();
    hob::Graph baked = graph->bake();
    const auto copy = baked.copy(part);
    ENSURE(baked.statistics().nodes == 3 && baked.value(copy).pointer == nullptr);
    graph.reset();
    ENSURE(Sheet::live == 0 && baked.evaluate().runs == 3 && Sheet::live == 1);
    ENSURE(baked.value(baked.copy(number)).number == 5 && baked.evaluate().runs == 1);
}
