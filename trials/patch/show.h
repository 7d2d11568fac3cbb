// Plays the script, and bakes the patch when nobody edits it any more.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <hobgoblin/executor.hpp>

#include "patch.h"

namespace patch {

/// How the graph is evaluated.
struct Method {
    hob_evaluator evaluator = HOB_EVALUATOR_AUTO;
    int threads = -1; ///< Of an executor's pool, beside this thread. -1: no executor.
};

std::string text_of(const Method& method);

struct Frame {
    int number = 0;
    double seconds = 0;
    std::vector<std::string> edits; ///< Before it.
    std::uint64_t runs = 0;
    bool is_applied = false; ///< Condition 1 and condition 2.
    std::uint64_t data_runs = 0; ///< Runs of the lazy generator in it, and of its source.
    // Of the baked graph, if there is one.
    bool has_baked = false, is_baked_equal = false;
    std::uint64_t baked_runs = 0;
};

/// A node's row in the table.
struct Row {
    std::string name, node_class;
    std::uint64_t runs = 0, cutoffs = 0;
    double mean_us = 0;
    std::string why; ///< Why it ran in the last frame, or did not.
    std::string baked; ///< "kept", or the reason why it was removed: "stored", "unused". Empty without a baked graph.
    std::uint64_t baked_runs = 0;
};

class Show {
public:
    Show(Size size, int frames, const Method& method);

    /// Plays the next frame. Nothing at the end.
    std::optional<Frame> next();

    const Picture& picture() const { return patch.picture(); }
    /// The picture of the baked graph, if it has been evaluated.
    const Picture* baked_picture() const;
    std::vector<Row> rows() const;
    const Patch& edited() const { return patch; }
    const hob::Graph* baked() const { return baked_ ? &*baked_ : nullptr; }
    /// Runs in the first frame of a graph that has all nodes, and of the baked one. 0 before it was baked.
    std::uint64_t whole_first_runs() const { return whole_first_runs_; }
    std::uint64_t baked_first_runs() const { return baked_first_runs_; }

private:
    void bake();
    hob_evaluation_summary evaluate_baked(hob::Graph& graph);

    int frames, frame_ = 0;
    Method method;
    std::optional<hob::Executor> executor;
    Patch patch;
    std::optional<hob::Graph> baked_;
    std::uint64_t whole_first_runs_ = 0, baked_first_runs_ = 0;
};

} // namespace patch
