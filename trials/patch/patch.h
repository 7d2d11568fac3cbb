// The patch: a graph of numbers and pictures, with a name for each node, so that a script can edit it.
//
//     time -> swell, sway, wander (oscillators)      detail (user) -> condition 1
//     swell -> mood, condition 2                     condition 1, condition 2 -> apply
//     hue (user), golden ratio -> tint               tint, mood -> palette
//     palette, sway -> sky                           palette, time -> stars        sky, stars -> backdrop
//     lattice, time -> generator -> large data       lazy large data, apply, backdrop, palette, swell -> builder
//     palette, time, sway -> ribbons                 palette, time, swell -> moons
//     scene (user), lazy ribbons, lazy moons -> switch
//     scene -> gain                                  builder, switch, gain -> composite
//     composite, vignette -> picture
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <hobgoblin/graph.hpp>

#include "image.h"

namespace patch {

/// The host's data that nodes read.
/// A baked graph shares the lambdas, and so this data, with its original.
struct Stage {
    double seconds = 0;
    bool is_baked = false; ///< The graph that is being evaluated is the baked one.
};

/// The durations of a node's calls in the graph that is edited.
struct Meter {
    std::uint64_t calls = 0;
    double microseconds = 0;
};

/// The inputs of a running node.
class Inputs {
public:
    explicit Inputs(hob_node_call& the_call) : call(&the_call) {}

    double number(std::size_t input) const { return call->inputs[input].number; }
    /// Throws std::runtime_error if the input has no object: the node then fails.
    template <class T> const T& object(std::size_t input) const {
        const T* const found = hob::object<T>(call->inputs[input]);
        if (found == nullptr) refuse(input);
        return *found;
    }
    /// Whether a lazy input is up to date. If not, return std::nullopt: the node will be called again.
    bool is_ready(std::size_t input) const {
        if ((call->available >> input & 1) != 0) return true;
        call->need |= std::uint64_t{1} << input;
        return false;
    }

private:
    [[noreturn]] static void refuse(std::size_t input);

    hob_node_call* call;
};

/// The source of an input: another node, or a number.
struct Pin {
    Pin(hob_node_id the_source) : source(the_source) {}
    Pin(double the_number) : number(the_number) {}

    hob_node_id source{0, 0};
    double number = 0;
    bool is_lazy = false;
};

inline Pin lazy(hob_node_id source) {
    Pin pin(source);
    pin.is_lazy = true;
    return pin;
}

class Patch {
public:
    explicit Patch(Size the_size);

    struct Node {
        std::string name;
        hob_node_class node_class;
        hob_node_id id;
        std::shared_ptr<Meter> meter;
        bool is_removed = false;
        std::uint64_t runs = 0, cutoffs = 0; ///< Until the last frame.
        hob_value value = {{0, 0}};          ///< After the last frame.
    };

    /// Brings the picture up to date at a moment.
    hob_evaluation_summary evaluate(double seconds, const hob::Executor* executor, hob_evaluator evaluator);
    const Picture& picture() const { return *hob::object<Picture>(graph_.value(id("picture"))); }
    double number(std::string_view name) const { return graph_.value(id(name)).number; }

    // ---- Edits. Names of nodes are unique.
    void set(std::string_view input, double number) { graph_.set_input(id(input), 0, hob_value_of_number(number)); }
    void rewire(std::string_view source, std::string_view target, std::uint32_t input) {
        graph_.connect(id(source), 0, id(target), input);
    }
    void insert_bloom();
    void insert_mirror();
    void remove(std::string_view name);

    hob::Graph& graph() { return graph_; }
    const hob::Graph& graph() const { return graph_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    const Node& node(std::string_view name) const;
    hob_node_id id(std::string_view name) const { return node(name).id; }
    Stage& stage() { return *stage_; }

private:
    /// Calls `run`, and measures it.
    template <class Run> class Metered {
    public:
        Metered(Run the_run, std::shared_ptr<const Stage> the_stage, std::shared_ptr<Meter> the_meter)
            : run(std::move(the_run)), stage(std::move(the_stage)), meter(std::move(the_meter)) {}
        auto operator()(hob_node_call& call) {
            const auto start = std::chrono::steady_clock::now();
            auto result = run(Inputs(call));
            const std::chrono::duration<double, std::micro> duration = std::chrono::steady_clock::now() - start;
            if (!stage->is_baked) {
                ++meter->calls;
                meter->microseconds += duration.count();
            }
            return result;
        }

    private:
        Run run;
        std::shared_ptr<const Stage> stage;
        std::shared_ptr<Meter> meter;
    };

    /// Adds a node whose output is a number: `run(Inputs)` returns it.
    template <class Run>
    hob_node_id number_node(const char* name, hob_node_class node_class, std::initializer_list<Pin> pins, Run run) {
        return add(name, node_class, pins, [&](const hob::NodeOptions& options, std::shared_ptr<Meter> meter) {
            return graph_.add(options, [metered = Metered<Run>(run, stage_, meter)](hob_node_call& call) mutable {
                call.outputs[0] = hob_value_of_number(metered(call));
            });
        });
    }
    /// Adds a node whose output is an object: `run(Inputs)` returns a T or a std::optional<T>.
    template <class T, class Run>
    hob_node_id object_node(const char* name, hob_node_class node_class, std::initializer_list<Pin> pins, Run run,
                            bool is_sink = false) {
        return add(name, node_class, pins, [&](hob::NodeOptions& options, std::shared_ptr<Meter> meter) {
            options.is_sink = is_sink;
            return graph_.add_object<T>(options, Metered<Run>(run, stage_, meter));
        });
    }
    /// Adds a node that passes one of two lazy inputs on, which the first input chooses.
    hob_node_id switch_node(const char* name, std::initializer_list<Pin> pins);
    void user_input(const char* name, double number);

    template <class Add>
    hob_node_id add(const char* name, hob_node_class node_class, std::initializer_list<Pin> pins, const Add& add_to_graph) {
        std::vector<hob_node_input> inputs;
        for (const Pin& pin : pins)
            inputs.push_back({pin.is_lazy ? HOB_NODE_INPUT_LAZY : 0u, 0, hob_value_of_number(pin.number)});
        hob::NodeOptions options;
        options.name = name;
        options.node_class = node_class;
        options.inputs = inputs;
        const auto meter = std::make_shared<Meter>();
        const hob_node_id node = add_to_graph(options, meter);
        std::uint32_t input = 0;
        for (const Pin& pin : pins) {
            if (pin.source.index1 != 0) graph_.connect(pin.source, 0, node, input);
            ++input;
        }
        nodes_.push_back({name, node_class, node, meter});
        return node;
    }
    void add_numbers();
    void add_pictures();
    void count_cutoffs();

    Size size;
    std::shared_ptr<Stage> stage_ = std::make_shared<Stage>();
    std::vector<Node> nodes_;
    hob::Graph graph_;
};

const char* name_of(hob_node_class node_class);

} // namespace patch
