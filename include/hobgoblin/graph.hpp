// hobgoblin/graph.hpp: dataflow graphs. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_GRAPH_HPP
#define HOBGOBLIN_GRAPH_HPP

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base.hpp"
#include "executor.hpp"
#include "graph.h"

HOB_NAMESPACE_BEGIN

/// Parameters of a node; see hob_node_desc.
struct NodeOptions {
    /// A name for messages.
    std::string_view name;
    /// The host's name of its type; see hob_graph_load and hob_graph_emit.
    std::string_view type_name;
    /// When it runs.
    hob_node_class node_class = HOB_NODE_CLASS_VOLATILE;
    /// Number of input pins with defaults.
    std::size_t input_count = 0;
    /// Number of output pins with defaults.
    std::size_t output_count = 1;
    /// Pins. If they are not empty, their number counts.
    ArrayView<hob_node_input> inputs;
    /// Output pins.
    ArrayView<hob_node_output> outputs;
    /// Whether evaluations bring it up to date.
    bool is_sink = false;
};

namespace detail {

/// No two objects have the same number, so a new object at the address of a deleted one is another value.
inline uint64_t next_object_number() noexcept {
    static std::atomic<uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

template <class T, class = void>
struct HasEqual : std::false_type {};
template <class T>
struct HasEqual<T, std::void_t<decltype(static_cast<bool>(std::declval<const T&>() == std::declval<const T&>()))>>
    : std::true_type {};

}  // namespace detail

/// The object in an output of Graph::add_object.
/// NULL: the output has none yet, or the input has no link. It is valid until its node makes the next one: do not keep
/// it.
template <class T>
const T* object(const hob_value& value) noexcept {
    return static_cast<const T*>(value.pointer);
}

/// Evaluates only what changed; see hob_graph.
///
///     hob::Graph graph;
///     const auto speed = graph.add_input("speed", hob_value_of_number(1));
///     const auto twice = graph.add(options, [](hob_node_call& call) {
///         call.outputs[0].number = 2 * call.inputs[0].number;
///     });
///     graph.connect(speed, 0, twice, 0);
///     graph.evaluate();
///     use(graph.value(twice).number);
///
/// An exception from a node fails the node: its message is what(). The evaluation continues, and rethrows the first
/// exception at its end, also in its try_ form.
class Graph {
public:
#if HOB_EXCEPTIONS
    Graph() : Graph(try_create().value()) {}
#endif
    static Result<Graph> try_create() {
        hob_graph* graph = nullptr;
        const hob_result code = hob_graph_create(nullptr, &graph);
        return detail::result_of(code, Graph(graph));
    }
    static Result<Graph> try_create(const hob_graph_desc& desc) {
        hob_graph* graph = nullptr;
        const hob_result code = hob_graph_create(&desc, &graph);
        return detail::result_of(code, Graph(graph));
    }
    /// Takes ownership of a C handle.
    explicit Graph(hob_graph* graph)
        : Graph(graph, std::make_shared<detail::SharedPending>()) {}

    /// Adds a node: `run(hob_node_call&)` returns a hob_verdict, or nothing for HOB_VERDICT_DONE.
    template <class Run>
    Result<hob_node_id> try_add(const NodeOptions& options, Run run) {
        auto node = std::make_unique<Node<Run>>(Node<Run>{std::move(run), pending_.get()});
        hob_node_desc desc = described(options);
        node->describe(desc);
        hob_node_id id = {0, 0};
        const hob_result code = hob_graph_add_node(capi(), &desc, &id);
        if (code == HOB_RESULT_OK) (void)node.release();  // the graph owns it and calls Node::release
        return detail::result_of(code, id);
    }
    /// Adds a node whose only output is an object of type T, which the graph owns: `run(hob_node_call&)` returns it.
    ///
    ///     const auto blurred = graph.add_object<Image>(options, [](hob_node_call& call) {
    ///         return blur(*hob::object<Image>(call.inputs[0]));
    ///     });
    ///
    /// `run` may return a std::optional<T>. Without a value, the node needs the lazy inputs in `call.need`, or it
    /// failed if that is 0. If T has an operator==, an equal object counts as no change.
    template <class T, class Run>
    Result<hob_node_id> try_add_object(const NodeOptions& options, Run run) {
        auto node = std::make_unique<Node<Maker<T, Run>>>(
            Node<Maker<T, Run>>{Maker<T, Run>{std::move(run)}, pending_.get()});
        const hob_node_output output = Maker<T, Run>::output();
        hob_node_desc desc = described(options);
        desc.outputs = &output;
        desc.output_count = 1;
        node->describe(desc);
        hob_node_id id = {0, 0};
        const hob_result code = hob_graph_add_node(capi(), &desc, &id);
        if (code == HOB_RESULT_OK) (void)node.release();
        return detail::result_of(code, id);
    }
    /// Adds a node of HOB_NODE_CLASS_INPUT with one output.
    Result<hob_node_id> try_add_input(std::string_view name, const hob_value& value) {
        const hob_node_output output = {HOB_CUTOFF_BYTES, 0, 0, value};
        NodeOptions options;
        options.name = name;
        options.node_class = HOB_NODE_CLASS_INPUT;
        options.outputs = ArrayView<hob_node_output>::of(&output, 1);
        const hob_node_desc desc = described(options);
        hob_node_id id = {0, 0};
        const hob_result code = hob_graph_add_node(capi(), &desc, &id);
        return detail::result_of(code, id);
    }
    /// Removes a node and its links.
    Result<void> try_remove(hob_node_id node) { return detail::result_of(hob_graph_remove_node(capi(), node)); }
    /// Links an output to an input. A link to that input is replaced.
    Result<void> try_connect(hob_node_id source, uint32_t output, hob_node_id target, uint32_t input) {
        return detail::result_of(hob_graph_connect(capi(), source, output, target, input));
    }
    /// The input reads the value of the last frame.
    Result<void> try_connect_feedback(hob_node_id source, uint32_t output, hob_node_id target, uint32_t input) {
        return detail::result_of(hob_graph_connect_feedback(capi(), source, output, target, input));
    }
    /// Removes the link of an input.
    Result<void> try_disconnect(hob_node_id node, uint32_t input) {
        return detail::result_of(hob_graph_disconnect(capi(), node, input));
    }
    /// Sets whether evaluations bring the node up to date.
    Result<void> try_set_sink(hob_node_id node, bool is_sink) {
        return detail::result_of(hob_graph_set_sink(capi(), node, is_sink ? 1 : 0));
    }

    /// Sets an output of an input node, or an input without a link.
    Result<void> try_set_input(hob_node_id node, uint32_t input, const hob_value& value) {
        return detail::result_of(hob_graph_set_input(capi(), node, input, &value));
    }
    /// Lets a node run in the next frame.
    Result<void> try_invalidate(hob_node_id node) { return detail::result_of(hob_graph_invalidate(capi(), node)); }
    /// Brings all sinks up to date on this thread.
    Result<hob_evaluation_summary> try_evaluate() { return evaluated(nullptr, nullptr); }
    /// Brings all sinks up to date, on the threads of the executor, too.
    Result<hob_evaluation_summary> try_evaluate(const Executor& executor) { return evaluated(executor.capi(), nullptr); }
    /// Evaluates with all parameters. `executor` may be NULL: on this thread.
    Result<hob_evaluation_summary> try_evaluate(const Executor* executor, const hob_evaluation_desc& desc) {
        return evaluated(executor != nullptr ? executor->capi() : nullptr, &desc);
    }
    /// Ends the running evaluation before its next node, or else the next one. From any thread.
    void cancel() const noexcept { (void)hob_graph_cancel(capi()); }
    /// The value of an output after the last evaluation.
    Result<hob_value> try_value(hob_node_id node, uint32_t output = 0) const {
        hob_value value = {{0, 0}};
        const hob_result code = hob_graph_get_value(capi(), node, output, &value);
        return detail::result_of(code, value);
    }

    /// The message of a node's failure. Empty without a failure.
    Result<std::string> try_failure(hob_node_id node) const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_graph_get_failure(capi(), node, buffer, capacity, size, nullptr);
        });
    }
    /// The path from a broken node to the failed node.
    Result<std::vector<hob_node_id>> try_failure_path(hob_node_id node) const {
        return detail::read_all<std::vector<hob_node_id>>(
            [&](hob_node_id* nodes, std::size_t capacity, std::size_t* count) {
                return hob_graph_get_failure_path(capi(), node, nodes, sizeof(hob_node_id), capacity, count);
            });
    }
    /// Why a node ran in the last evaluation, or did not.
    Result<hob_node_reason> try_reason(hob_node_id node) const {
        return detail::filled_by(detail::sized<hob_node_reason>(),
                                 [&](hob_node_reason* reason) { return hob_graph_get_reason(capi(), node, reason); });
    }
    /// The reason as a sentence.
    Result<std::string> try_reason_text(hob_node_id node) const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_graph_get_reason_text(capi(), node, buffer, capacity, size);
        });
    }
    /// Nodes and links as JSON.
    Result<std::string> try_save_json() const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_graph_save_json(capi(), buffer, capacity, size);
        });
    }
    /// A picture for Graphviz.
    Result<std::string> try_save_dot() const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_graph_save_dot(capi(), buffer, capacity, size);
        });
    }
    /// Counts of the graph.
    Result<hob_graph_statistics> try_statistics() const {
        return detail::filled_by(detail::sized<hob_graph_statistics>(), [&](hob_graph_statistics* statistics) {
            return hob_graph_get_statistics(capi(), statistics);
        });
    }
    /// Runs, mean duration and bytes of a node.
    Result<hob_node_statistics> try_node_statistics(hob_node_id node) const {
        return detail::filled_by(detail::sized<hob_node_statistics>(), [&](hob_node_statistics* statistics) {
            return hob_graph_get_node_statistics(capi(), node, statistics);
        });
    }
    /// Number of a node's runs.
    Result<uint64_t> try_runs(hob_node_id node) const {
        return detail::filled_by(uint64_t{0}, [&](uint64_t* runs) { return hob_graph_get_node_runs(capi(), node, runs); });
    }

    /// A graph with stored constants; see hob_graph_bake. It shares the lambdas.
    Result<Graph> try_bake(ArrayView<hob_node_id> keep = {}) const {
        hob_graph* baked = nullptr;
        const hob_result code = hob_graph_bake(capi(), keep.data(), sizeof(hob_node_id), keep.size(), &baked);
        return detail::result_of(code, Graph(baked, pending_));
    }
    /// The node that was made of a node of the graph that was baked or saved; see hob_graph_get_copy.
    Result<hob_node_id> try_copy(hob_node_id original) const {
        return detail::filled_by(hob_node_id{0, 0},
                                 [&](hob_node_id* node) { return hob_graph_get_copy(capi(), original, node); });
    }
    /// Limits the bytes that owned values hold between frames; see hob_graph_set_memory_limit.
    Result<void> try_set_memory_limit(uint64_t bytes) {
        return detail::result_of(hob_graph_set_memory_limit(capi(), bytes));
    }
    /// Starts the audit with that share of extra runs; 0 stops it.
    Result<void> try_set_audit(double share) { return detail::result_of(hob_graph_set_audit(capi(), share)); }
    /// Contradictions that the audit has found.
    Result<std::vector<hob_graph_finding>> try_findings() const {
        return detail::read_all<std::vector<hob_graph_finding>>(
            [&](hob_graph_finding* findings, std::size_t capacity, std::size_t* count) {
                return hob_graph_get_findings(capi(), findings, sizeof(hob_graph_finding), capacity, count);
            });
    }
    /// C source that calls the functions with the nodes' type names.
    Result<std::string> try_emit_c(std::string_view prefix) const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_graph_emit(capi(), detail::text(prefix), buffer, capacity, size);
        });
    }
    /// The nodes in the order of their numbers in that source.
    Result<std::vector<hob_node_id>> try_emitted_nodes() const {
        return detail::read_all<std::vector<hob_node_id>>(
            [&](hob_node_id* nodes, std::size_t capacity, std::size_t* count) {
                return hob_graph_get_emitted_nodes(capi(), nodes, sizeof(hob_node_id), capacity, count);
            });
    }

    /// A node that is being loaded.
    class Loading {
    public:
        /// The index1 that it had.
        uint32_t id() const noexcept { return id_; }
        /// Its class, names and numbers of pins.
        const hob_node_desc& desc() const noexcept { return desc_; }
        /// The name of its type.
        std::string_view type_name() const noexcept { return detail::view(desc_.type_name); }
        /// Sets what it runs: as in try_add.
        template <class Run>
        void set(Run run) {
            auto* node = new Node<Run>{std::move(run), pending_};
            if (desc_.release != nullptr) desc_.release(desc_.user_data);  // of an earlier call
            node->describe(desc_);
        }
        /// Sets what it runs: as in try_add_object.
        template <class T, class Run>
        void set_object(Run run) {
            set(Maker<T, Run>{std::move(run)});
        }

    private:
        friend class Graph;
        Loading(uint32_t id, hob_node_desc& desc, detail::SharedPending* pending) noexcept
            : id_(id), desc_(desc), pending_(pending) {}
        uint32_t id_;
        hob_node_desc& desc_;
        detail::SharedPending* pending_;
    };
    /// Makes a graph of the JSON of try_save_json. `resolve(Loading&)` sets what each node runs, and returns false for
    /// an unknown type. Its exception is rethrown.
    template <class Resolve>
    static Result<Graph> try_load(std::string_view json, Resolve resolve) {
        auto pending = std::make_shared<detail::SharedPending>();
        Resolver<Resolve> resolver = {resolve, pending.get()};
        hob_graph* graph = nullptr;
        const hob_result code = hob_graph_load(json.data(), json.size(), &Resolver<Resolve>::call, &resolver, &graph);
        auto loaded = detail::result_of(code, Graph(graph, pending));
        pending->rethrow();
        return loaded;
    }

#if HOB_EXCEPTIONS
    // The throwing forms.
    template <class Run>
    hob_node_id add(const NodeOptions& options, Run run) {
        return try_add(options, std::move(run)).value();
    }
    template <class T, class Run>
    hob_node_id add_object(const NodeOptions& options, Run run) {
        return try_add_object<T>(options, std::move(run)).value();
    }
    hob_node_id add_input(std::string_view name, const hob_value& value) { return try_add_input(name, value).value(); }
    void remove(hob_node_id node) { try_remove(node).value(); }
    void connect(hob_node_id source, uint32_t output, hob_node_id target, uint32_t input) {
        try_connect(source, output, target, input).value();
    }
    void connect_feedback(hob_node_id source, uint32_t output, hob_node_id target, uint32_t input) {
        try_connect_feedback(source, output, target, input).value();
    }
    void disconnect(hob_node_id node, uint32_t input) { try_disconnect(node, input).value(); }
    void set_sink(hob_node_id node, bool is_sink) { try_set_sink(node, is_sink).value(); }
    void set_input(hob_node_id node, uint32_t input, const hob_value& value) {
        try_set_input(node, input, value).value();
    }
    void invalidate(hob_node_id node) { try_invalidate(node).value(); }
    hob_evaluation_summary evaluate() { return try_evaluate().value(); }
    hob_evaluation_summary evaluate(const Executor& executor) { return try_evaluate(executor).value(); }
    hob_evaluation_summary evaluate(const Executor* executor, const hob_evaluation_desc& desc) {
        return try_evaluate(executor, desc).value();
    }
    hob_value value(hob_node_id node, uint32_t output = 0) const { return try_value(node, output).value(); }
    std::string failure(hob_node_id node) const { return try_failure(node).value(); }
    std::vector<hob_node_id> failure_path(hob_node_id node) const { return try_failure_path(node).value(); }
    hob_node_reason reason(hob_node_id node) const { return try_reason(node).value(); }
    std::string reason_text(hob_node_id node) const { return try_reason_text(node).value(); }
    std::string save_json() const { return try_save_json().value(); }
    std::string save_dot() const { return try_save_dot().value(); }
    hob_graph_statistics statistics() const { return try_statistics().value(); }
    hob_node_statistics node_statistics(hob_node_id node) const { return try_node_statistics(node).value(); }
    uint64_t runs(hob_node_id node) const { return try_runs(node).value(); }
    Graph bake(ArrayView<hob_node_id> keep = {}) const { return try_bake(keep).value(); }
    hob_node_id copy(hob_node_id original) const { return try_copy(original).value(); }
    void set_memory_limit(uint64_t bytes) { try_set_memory_limit(bytes).value(); }
    void set_audit(double share) { try_set_audit(share).value(); }
    std::vector<hob_graph_finding> findings() const { return try_findings().value(); }
    std::string emit_c(std::string_view prefix) const { return try_emit_c(prefix).value(); }
    std::vector<hob_node_id> emitted_nodes() const { return try_emitted_nodes().value(); }
    template <class Resolve>
    static Graph load(std::string_view json, Resolve resolve) {
        return try_load(json, std::move(resolve)).value();
    }
#endif

    hob_graph* capi() noexcept { return graph_.get(); }
    const hob_graph* capi() const noexcept { return graph_.get(); }

private:
    Graph(hob_graph* graph, std::shared_ptr<detail::SharedPending> pending)
        : pending_(std::move(pending)), graph_(graph) {}

    /// Makes objects of type T, and wraps them into values.
    template <class T, class Run>
    struct Maker {
        using Object = T;
        Run run;

        static hob_node_output output() noexcept {
            const hob_cutoff cutoff = detail::HasEqual<T>::value ? HOB_CUTOFF_CALLBACK : HOB_CUTOFF_BYTES;
            return {cutoff, HOB_NODE_OUTPUT_OWNED, 0, {{0, 0}}};
        }
        hob_verdict operator()(hob_node_call& call) {
            std::optional<T> made = run(call);
            if (!made) return call.need != 0 ? HOB_VERDICT_NEED : HOB_VERDICT_FAILED;
            T* const object = new (std::nothrow) T(std::move(*made));
            if (object == nullptr) {
                copy_message(call, "out of memory");
                return HOB_VERDICT_FAILED;
            }
            call.outputs[0] = hob_value_of_pointer(object);
            call.outputs[0].words[1] = detail::next_object_number();
            return HOB_VERDICT_DONE;
        }
    };
    template <class Run>
    struct IsMaker : std::false_type {};
    template <class T, class Run>
    struct IsMaker<Maker<T, Run>> : std::true_type {};

    template <class Run>
    struct Node {
        Run run;
        detail::SharedPending* pending;

        void describe(hob_node_desc& desc) noexcept {
            desc.evaluate = &Node::evaluate;
            desc.user_data = this;
            desc.release = &Node::release;
            if constexpr (IsMaker<Run>::value) {
                desc.release_value = &Node::release_object;
                if constexpr (detail::HasEqual<typename Run::Object>::value) desc.is_equal = &Node::is_equal;
            }
        }
        static void release_object(void*, uint32_t, const hob_value* value) noexcept {
            delete object<typename Run::Object>(*value);
        }
        static uint32_t is_equal(void* self, uint32_t, const hob_value* old_value, const hob_value* new_value) noexcept {
            using Object = typename Run::Object;
            bool answer = false;
            static_cast<Node*>(self)->pending->guard(
                [&] { answer = *object<Object>(*old_value) == *object<Object>(*new_value); });
            return answer ? 1 : 0;
        }
        static hob_verdict evaluate(void* self, hob_node_call* call) noexcept {
            Node& node = *static_cast<Node*>(self);
            hob_verdict verdict = HOB_VERDICT_FAILED;
            node.pending->guard([&] { verdict = with_message(node.run, *call); });
            return verdict;
        }
        static void release(void* self) noexcept { delete static_cast<Node*>(self); }
    };

    template <class Resolve>
    struct Resolver {
        Resolve& resolve;
        detail::SharedPending* pending;

        static uint32_t call(void* self, uint32_t id, hob_node_desc* desc) noexcept {
            Resolver& resolver = *static_cast<Resolver*>(self);
            Loading node(id, *desc, resolver.pending);
            bool is_known = false;
            resolver.pending->guard([&] { is_known = resolver.resolve(node); });
            // The library does not take over what belongs to a type that is unknown.
            if (!is_known && desc->release != nullptr) desc->release(desc->user_data);
            return is_known ? 1 : 0;
        }
    };

    template <class Run>
    static hob_verdict call(Run& run, hob_node_call& call) {
        if constexpr (std::is_void_v<std::invoke_result_t<Run&, hob_node_call&>>) {
            run(call);
            return HOB_VERDICT_DONE;
        } else {
            return run(call);
        }
    }
    template <class Run>
    static hob_verdict with_message(Run& run, hob_node_call& node_call) {
#if HOB_EXCEPTIONS
        try {
            return call(run, node_call);
        } catch (const std::exception& exception) {
            copy_message(node_call, exception.what());
            throw;
        }
#else
        return call(run, node_call);
#endif
    }

    static void copy_message(hob_node_call& call, std::string_view message) noexcept {
        const std::size_t most = call.message_capacity - 1;
        const std::size_t size = message.size() < most ? message.size() : most;
        if (size > 0) std::memcpy(call.message, message.data(), size);
        call.message[size] = '\0';
    }

    static hob_node_desc described(const NodeOptions& options) noexcept {
        hob_node_desc desc = HOB_NODE_DESC_INIT;
        desc.node_class = options.node_class;
        desc.name = detail::text(options.name);
        desc.type_name = detail::text(options.type_name);
        desc.inputs = options.inputs.empty() ? nullptr : options.inputs.data();
        desc.input_count = options.inputs.empty() ? options.input_count : options.inputs.size();
        desc.outputs = options.outputs.empty() ? nullptr : options.outputs.data();
        desc.output_count = options.outputs.empty() ? options.output_count : options.outputs.size();
        desc.flags = options.is_sink ? HOB_NODE_SINK : 0;
        return desc;
    }
    Result<hob_evaluation_summary> evaluated(const hob_executor* executor, const hob_evaluation_desc* desc) {
        auto summary = detail::filled_by(
            detail::sized<hob_evaluation_summary>(), [&](hob_evaluation_summary* into) {
                return hob_graph_evaluate(capi(), executor, desc, into);
            });
        if (pending_) pending_->rethrow();  // a graph that was moved from has none
        return summary;
    }

    struct Destroy {
        void operator()(hob_graph* graph) const noexcept { hob_graph_destroy(graph); }
    };
    /// Shared with baked graphs: their nodes are the same lambdas.
    std::shared_ptr<detail::SharedPending> pending_;
    std::unique_ptr<hob_graph, Destroy> graph_;
};

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_GRAPH_HPP
