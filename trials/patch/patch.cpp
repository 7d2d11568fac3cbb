#include "patch.h"

#include <cmath>
#include <stdexcept>

#include "effects.h"
#include "generators.h"

namespace patch {

namespace {

constexpr double turn = 6.283185307179586;

constexpr hob_node_class pure = HOB_NODE_CLASS_PURE, constant = HOB_NODE_CLASS_CONSTANT;

/// A low-frequency oscillator: 0 at the start, and 1 after half a period.
double lfo(double seconds, double period) { return 0.5 - 0.5 * std::cos(turn * seconds / period); }

/// 0 below `from`, 1 above `to`.
double ramp(double from, double to, double x) {
    const double part = std::fmin(std::fmax((x - from) / (to - from), 0), 1);
    return part * part * (3 - 2 * part);
}

/// The swell at which clouds begin to show.
constexpr double first_clouds = 0.3;

} // namespace

void Inputs::refuse(std::size_t input) {
    throw std::runtime_error("input " + std::to_string(input) + " has no object");
}

Patch::Patch(Size the_size) : size(the_size) {
    add_numbers();
    add_pictures();
}

void Patch::add_numbers() {
    // The baked graph shares this lambda, so it must not count frames itself: both graphs would count.
    const auto time = number_node("time", HOB_NODE_CLASS_VOLATILE, {}, [stage = stage_](Inputs) { return stage->seconds; });
    const auto swell = number_node("swell", pure, {time, 4.0}, [](Inputs in) { return lfo(in.number(0), in.number(1)); });
    number_node("sway", pure, {time, 7.3}, [](Inputs in) { return std::sin(turn * in.number(0) / in.number(1)); });
    number_node("wander", pure, {time, 8.0}, [](Inputs in) { return 0.4 * lfo(in.number(0), in.number(1)); });
    // In steps that nobody sees: most frames have the same mood as the last one, and need no new palette.
    number_node("mood", pure, {swell}, [](Inputs in) { return std::round(in.number(0) * 24) / 24; });

    user_input("detail", 0);
    const auto condition_1 = number_node("condition 1", pure, {id("detail")}, [](Inputs in) { return in.number(0) > 0.5 ? 1.0 : 0.0; });
    const auto condition_2 = number_node("condition 2", pure, {swell}, [](Inputs in) { return in.number(0) > first_clouds ? 1.0 : 0.0; });
    number_node("apply", pure, {condition_1, condition_2}, [](Inputs in) { return in.number(0) * in.number(1); });

    user_input("hue", 0);
    const auto golden = number_node("golden ratio", constant, {}, [](Inputs) { return (std::sqrt(5.0) - 1) / 2; });
    number_node("tint", pure, {id("hue"), golden}, [](Inputs in) { return 0.68 - in.number(0) * in.number(1); });

    user_input("scene", 0);
    number_node("gain", pure, {id("scene")}, [](Inputs in) { return in.number(0) < 0.5 ? 1.0 : 1.1; });
}

void Patch::add_pictures() {
    const auto all = size;
    const auto time = id("time"), swell = id("swell"), sway = id("sway");
    const auto palette = object_node<Palette>("palette", pure, {id("tint"), id("mood")}, [](Inputs in) {
        return make_palette(in.number(0), in.number(1));
    });
    const auto lattice = object_node<Lattice>("lattice", constant, {}, [](Inputs) { return make_lattice(7); });
    const auto generator = object_node<Flow>("generator", pure, {lattice, time}, [](Inputs in) {
        return make_flow(in.object<Lattice>(0), in.number(1));
    });
    const auto data = object_node<Field>("large data", pure, {generator}, [all](Inputs in) {
        return warped_noise(in.object<Flow>(0), all);
    });
    const auto sky = object_node<Light>("sky", pure, {palette, sway}, [all](Inputs in) {
        return make_sky(in.object<Palette>(0), in.number(1), all);
    });
    const auto stars = object_node<Light>("stars", pure, {palette, time}, [all](Inputs in) {
        return make_stars(in.object<Palette>(0), in.number(1), all);
    });
    const auto backdrop = object_node<Light>("backdrop", pure, {sky, stars}, [](Inputs in) {
        return added(in.object<Light>(0), in.object<Light>(1));
    });
    const auto builder = object_node<Light>(
        "builder", pure, {lazy(data), id("apply"), backdrop, palette, swell}, [](Inputs in) -> std::optional<Light> {
            const Light& before = in.object<Light>(2);
            if (in.number(1) == 0) return before;
            if (!in.is_ready(0)) return std::nullopt;
            return with_clouds(before, in.object<Field>(0), in.object<Palette>(3), ramp(first_clouds, 0.75, in.number(4)));
        });
    const auto ribbons = object_node<Light>("ribbons", pure, {palette, time, sway}, [all](Inputs in) {
        return make_ribbons(in.object<Palette>(0), in.number(1), in.number(2), all);
    });
    const auto moons = object_node<Light>("moons", pure, {palette, time, swell}, [all](Inputs in) {
        return make_moons(in.object<Palette>(0), in.number(1), in.number(2), all);
    });
    const auto part = switch_node("switch", {id("scene"), lazy(ribbons), lazy(moons)});
    const auto composite = object_node<Light>("composite", pure, {builder, part, id("gain")}, [](Inputs in) {
        return composed(in.object<Light>(0), in.object<Light>(1), in.number(2));
    });
    const auto vignette = object_node<Field>("vignette", constant, {}, [all](Inputs) { return make_vignette(all); });
    const bool is_sink = true;
    object_node<Picture>("picture", pure, {composite, vignette}, [](Inputs in) {
        return graded(in.object<Light>(0), in.object<Field>(1));
    }, is_sink);
}

hob_node_id Patch::switch_node(const char* name, std::initializer_list<Pin> pins) {
    // It passes the object of another node on, and owns none.
    return add(name, pure, pins, [&](const hob::NodeOptions& options, std::shared_ptr<Meter> meter) {
        const auto choose = [](Inputs in) -> std::size_t {
            const std::size_t chosen = in.number(0) < 0.5 ? 1 : 2;
            return in.is_ready(chosen) ? chosen : 0;
        };
        return graph_.add(options, [metered = Metered<decltype(choose)>(choose, stage_, meter)](hob_node_call& call) mutable {
            const std::size_t chosen = metered(call);
            if (chosen == 0) return HOB_VERDICT_NEED;
            call.outputs[0] = call.inputs[chosen];
            return HOB_VERDICT_DONE;
        });
    });
}

void Patch::user_input(const char* name, double number) {
    nodes_.push_back({name, HOB_NODE_CLASS_INPUT, graph_.add_input(name, hob_value_of_number(number)),
                      std::make_shared<Meter>()});
}

void Patch::insert_bloom() {
    object_node<Light>("bloom", pure, {id("composite"), 0.03, 0.45}, [](Inputs in) {
        return with_bloom(in.object<Light>(0), in.number(1), in.number(2));
    });
    rewire("bloom", "picture", 0);
}

void Patch::insert_mirror() {
    object_node<Light>("mirror", pure, {id("switch"), id("sway")}, [](Inputs in) {
        return mirrored(in.object<Light>(0), 8, 0.4 * in.number(1));
    });
    rewire("mirror", "composite", 1);
}

void Patch::remove(std::string_view name) {
    graph_.remove(id(name));
    for (Node& node : nodes_)
        if (node.name == name) node.is_removed = true;
}

const Patch::Node& Patch::node(std::string_view name) const {
    for (const Node& node : nodes_)
        if (node.name == name && !node.is_removed) return node;
    throw std::logic_error("the patch has no node \"" + std::string(name) + "\"");
}

hob_evaluation_summary Patch::evaluate(double seconds, const hob::Executor* executor, hob_evaluator evaluator) {
    stage_->seconds = seconds;
    stage_->is_baked = false;
    hob_evaluation_desc desc = HOB_EVALUATION_DESC_INIT;
    desc.evaluator = evaluator;
    const hob_evaluation_summary summary = graph_.evaluate(executor, desc);
    count_cutoffs();
    return summary;
}

void Patch::count_cutoffs() {
    // After a run without a change, the last value stays.
    for (Node& node : nodes_) {
        if (node.is_removed) continue;
        const hob_value value = graph_.value(node.id);
        const std::uint64_t runs = graph_.runs(node.id);
        const bool is_equal = value.words[0] == node.value.words[0] && value.words[1] == node.value.words[1];
        if (node.runs > 0 && runs > node.runs && is_equal) ++node.cutoffs;
        node.runs = runs;
        node.value = value;
    }
}

const char* name_of(hob_node_class node_class) {
    switch (node_class) {
    case HOB_NODE_CLASS_VOLATILE: return "volatile";
    case HOB_NODE_CLASS_PURE: return "pure";
    case HOB_NODE_CLASS_CONSTANT: return "constant";
    case HOB_NODE_CLASS_INPUT: return "input";
    case HOB_NODE_CLASS_EFFECT: return "effect";
    }
    return "unknown";
}

} // namespace patch
