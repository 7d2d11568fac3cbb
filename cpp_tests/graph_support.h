// Graphs for tests: nodes as closures, with a log of their runs. MIT OR Apache-2.0.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "support.h"

namespace support {

struct DestroyGraph {
    void operator()(hob_graph* graph) const { hob_graph_destroy(graph); }
};
using GraphHandle = std::unique_ptr<hob_graph, DestroyGraph>;

inline GraphHandle make_graph() {
    hob_graph* graph = nullptr;
    ENSURE_OK(hob_graph_create(nullptr, &graph));
    ENSURE(graph != nullptr);
    return GraphHandle(graph);
}

constexpr hob_evaluator evaluators[] = {HOB_EVALUATOR_AUTO, HOB_EVALUATOR_LAZY, HOB_EVALUATOR_LIST, HOB_EVALUATOR_BITSET,
                                        HOB_EVALUATOR_PARALLEL};

/// A node that does nothing.
inline hob_node_desc plain_desc(size_t inputs, size_t outputs, hob_node_class node_class = HOB_NODE_CLASS_PURE) {
    hob_node_desc desc = HOB_NODE_DESC_INIT;
    desc.node_class = node_class;
    desc.input_count = inputs;
    desc.output_count = outputs;
    desc.evaluate = [](void*, hob_node_call*) { return HOB_VERDICT_DONE; };
    return desc;
}

/// A graph of closures.
class Net {
public:
    using Run = std::function<hob_verdict(hob_node_call&)>;
    using Sum = std::function<double(const std::vector<double>&)>;

    explicit Net(hob_evaluator evaluator = HOB_EVALUATOR_AUTO, const hob_executor* executor = nullptr)
        : graph(make_graph()), evaluator_(evaluator), executor_(executor) {}

    /// A node with that desc. Sets its name, `evaluate` and `user_data`.
    hob_node_id add(const char* name, hob_node_desc desc, Run run) {
        nodes_.push_back({this, name, std::move(run)});
        desc.name = hob_str_from(name);
        desc.user_data = &nodes_.back();
        desc.evaluate = &Node::evaluate;
        hob_node_id id = {0, 0};
        ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &id));
        ENSURE(id.index1 != 0);
        return id;
    }
    /// A node with one output: a function of its linked inputs.
    hob_node_id add(const char* name, hob_node_class node_class, const std::vector<hob_node_id>& inputs, Sum sum) {
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.node_class = node_class;
        desc.input_count = inputs.size();
        desc.output_count = 1;
        const hob_node_id node = add(name, desc, [this, name, sum = std::move(sum)](hob_node_call& call) {
            note(name);
            std::vector<double> numbers;
            for (uint32_t n = 0; n < call.input_count; ++n) numbers.push_back(call.inputs[n].number);
            call.outputs[0].number = sum(numbers);
            return HOB_VERDICT_DONE;
        });
        link(inputs, node);
        return node;
    }
    hob_node_id pure(const char* name, const std::vector<hob_node_id>& inputs, Sum sum = &total) {
        return add(name, HOB_NODE_CLASS_PURE, inputs, std::move(sum));
    }
    /// A node that counts frames.
    hob_node_id time() {
        return add("Time", HOB_NODE_CLASS_VOLATILE, {}, [this](const std::vector<double>&) { return ++frame_; });
    }
    hob_node_id input(const char* name, double number) {
        hob_node_output output = {HOB_CUTOFF_BYTES, 0, 0, hob_value_of_number(number)};
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.node_class = HOB_NODE_CLASS_INPUT;
        desc.name = hob_str_from(name);
        desc.outputs = &output;
        desc.output_count = 1;
        hob_node_id id = {0, 0};
        ENSURE_OK(hob_graph_add_node(graph.get(), &desc, &id));
        return id;
    }
    /// A node whose first input chooses one of its lazy inputs, from 1 on. 0 or less: none, and its value is -1.
    hob_node_id choice(const char* name, hob_node_id chooser, const std::vector<hob_node_id>& lazy) {
        std::vector<hob_node_input> pins(lazy.size() + 1, hob_node_input{HOB_NODE_INPUT_LAZY, 0, {{0, 0}}});
        pins[0].flags = 0;
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.node_class = HOB_NODE_CLASS_PURE;
        desc.inputs = pins.data();
        desc.input_count = pins.size();
        desc.output_count = 1;
        const hob_node_id node = add(name, desc, [this, name](hob_node_call& call) {
            const int at = static_cast<int>(call.inputs[0].number);
            if (at > 0 && (call.available & (uint64_t{1} << at)) == 0) {
                call.need = uint64_t{1} << at;
                return HOB_VERDICT_NEED;
            }
            note(name);
            call.outputs[0].number = at > 0 ? call.inputs[at].number : -1;
            return HOB_VERDICT_DONE;
        });
        std::vector<hob_node_id> inputs = lazy;
        inputs.insert(inputs.begin(), chooser);
        link(inputs, node);
        return node;
    }
    hob_node_id sink(hob_node_id node) {
        ENSURE_OK(hob_graph_set_sink(graph.get(), node, 1));
        return node;
    }
    void link(const std::vector<hob_node_id>& inputs, hob_node_id node) {
        for (uint32_t n = 0; n < inputs.size(); ++n) ENSURE_OK(hob_graph_connect(graph.get(), inputs[n], 0, node, n));
    }

    void set(hob_node_id node, double number, uint32_t input = 0) {
        const hob_value value = hob_value_of_number(number);
        ENSURE_OK(hob_graph_set_input(graph.get(), node, input, &value));
    }
    hob_evaluation_summary evaluate(uint64_t node_limit = 0) {
        hob_evaluation_desc desc = HOB_EVALUATION_DESC_INIT;
        desc.evaluator = evaluator_;
        desc.node_limit = node_limit;
        hob_evaluation_summary summary = HOB_EVALUATION_SUMMARY_INIT;
        ENSURE_OK(hob_graph_evaluate(graph.get(), executor_, &desc, &summary));
        return summary;
    }
    /// Evaluates, and returns the names of the nodes that ran.
    std::string ran() {
        log_.clear();
        ENSURE(evaluate().is_complete == 1);
        return log_;
    }
    double number(hob_node_id node) const {
        hob_value value = hob_value_of_number(-99);
        ENSURE_OK(hob_graph_get_value(graph.get(), node, 0, &value));
        return value.number;
    }
    uint64_t runs(hob_node_id node) const {
        uint64_t runs = 99;
        ENSURE_OK(hob_graph_get_node_runs(graph.get(), node, &runs));
        return runs;
    }
    std::string failure(hob_node_id node, hob_node_id* source = nullptr) const {
        char text[256];
        size_t size = 0;
        ENSURE_OK(hob_graph_get_failure(graph.get(), node, text, sizeof text, &size, source));
        return std::string(text, size);
    }
    hob_node_why why(hob_node_id node) const {
        hob_node_reason found = HOB_NODE_REASON_INIT;
        ENSURE_OK(hob_graph_get_reason(graph.get(), node, &found));
        return found.why;
    }
    std::string why_text(hob_node_id node) const {
        char text[512];
        size_t size = 0;
        ENSURE_OK(hob_graph_get_reason_text(graph.get(), node, text, sizeof text, &size));
        return std::string(text, size);
    }
    hob_graph_statistics statistics() const {
        hob_graph_statistics found = HOB_GRAPH_STATISTICS_INIT;
        ENSURE_OK(hob_graph_get_statistics(graph.get(), &found));
        return found;
    }

    void note(const char* name) {
        const std::lock_guard<std::mutex> lock(mutex_);
        log_ += log_.empty() ? name : std::string(" ") + name;
    }
    static double total(const std::vector<double>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

private:
    struct Node {
        Net* net;
        const char* name;
        Run run;

        static hob_verdict evaluate(void* self, hob_node_call* call) { return static_cast<Node*>(self)->run(*call); }
    };

    std::deque<Node> nodes_;
    std::mutex mutex_;
    std::string log_;
    double frame_ = 0;

public:
    /// Destroyed before the nodes.
    GraphHandle graph;

private:
    hob_evaluator evaluator_;
    const hob_executor* executor_;
};

inline bool is_same(hob_node_id a, hob_node_id b) {
    return a.index1 == b.index1 && a.generation == b.generation;
}

}  // namespace support
