#include "show.h"

#include "script.h"

namespace patch {

std::string text_of(const Method& method) {
    static const char* const names[] = {"auto", "lazy", "list", "bitset", "parallel"};
    std::string text = names[method.evaluator];
    if (method.threads >= 0) text += " with " + std::to_string(method.threads + 1) + " threads";
    return text;
}

Show::Show(Size size, int the_frames, const Method& the_method) : frames(the_frames), method(the_method), patch(size) {
    if (method.threads >= 0) executor = hob::Executor::create_pool(static_cast<std::uint32_t>(method.threads));
}

std::optional<Frame> Show::next() {
    if (frame_ == frames) return std::nullopt;
    Frame frame;
    frame.number = frame_;
    frame.seconds = length_seconds * frame_ / frames;
    frame.edits = edit(patch, frame_, frames);
    const auto data_runs = [this] { return patch.node("large data").runs + patch.node("generator").runs; };
    const std::uint64_t data_runs_before = data_runs();
    frame.runs = patch.evaluate(frame.seconds, executor ? &*executor : nullptr, method.evaluator).runs;
    frame.is_applied = patch.number("apply") != 0;
    frame.data_runs = data_runs() - data_runs_before;
    if (frame_ == first_frame_of(baked_part, frames)) {
        bake();
        frame.edits.push_back("bake: " + std::to_string(baked_->statistics().nodes) + " of " +
                              std::to_string(patch.graph().statistics().nodes) + " nodes are kept");
    }
    if (baked_) {
        frame.has_baked = true;
        frame.baked_runs = evaluate_baked(*baked_).runs;
        if (baked_first_runs_ == 0) baked_first_runs_ = frame.baked_runs;
        frame.is_baked_equal = *baked_picture() == patch.picture();
    }
    ++frame_;
    return frame;
}

void Show::bake() {
    baked_ = patch.graph().bake();
    // With all nodes kept, a graph that starts as a saved and loaded one does: it shows how much baking saves.
    std::vector<hob_node_id> all;
    for (const Patch::Node& node : patch.nodes())
        if (!node.is_removed) all.push_back(node.id);
    hob::Graph whole = patch.graph().bake(all);
    whole_first_runs_ = evaluate_baked(whole).runs;
}

hob_evaluation_summary Show::evaluate_baked(hob::Graph& graph) {
    patch.stage().is_baked = true;
    hob_evaluation_desc desc = HOB_EVALUATION_DESC_INIT;
    desc.evaluator = method.evaluator;
    return graph.evaluate(executor ? &*executor : nullptr, desc);
}

const Picture* Show::baked_picture() const {
    return baked_ ? hob::object<Picture>(baked_->value(baked_->copy(patch.id("picture")))) : nullptr;
}

std::vector<Row> Show::rows() const {
    std::vector<Row> rows;
    for (const Patch::Node& node : patch.nodes()) {
        Row row;
        row.name = node.name;
        row.node_class = name_of(node.node_class);
        row.runs = node.runs;
        row.cutoffs = node.cutoffs;
        if (node.meter->calls > 0) row.mean_us = node.meter->microseconds / static_cast<double>(node.meter->calls);
        if (node.is_removed) {
            row.why = "was removed";
        } else {
            row.why = patch.graph().reason_text(node.id);
            const std::string quoted_name = "\"" + node.name + "\" "; // the row has it already
            if (row.why.compare(0, quoted_name.size(), quoted_name) == 0) row.why.erase(0, quoted_name.size());
            if (baked_) {
                const auto copy = baked_->try_copy(node.id);
                const bool is_used = patch.graph().reason(node.id).why != HOB_NODE_WHY_NO_SINK;
                row.baked = copy ? "kept" : is_used ? "stored" : "unused";
                if (copy) row.baked_runs = baked_->runs(*copy);
            }
        }
        rows.push_back(row);
    }
    return rows;
}

} // namespace patch
