#include "step.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "../common/charge.h"
#include "../common/driver_cache.h"
#include "../common/files.h"
#include "../common/interrupt.h"
#include "../common/progress.h"
#include "pipelines.h"

namespace pipeline_warmup_vk {

namespace {

using trials::Charge;
using Clock = std::chrono::steady_clock;

/// The usage mask of an area: its bit.
hob_pipeline_mask mask_of(std::size_t area) { return hob::pipeline_mask(std::uint64_t{1} << area); }

/// A recording follows the story. Players do not.
std::vector<std::size_t> route_of(bool sees_secrets) {
    return sees_secrets ? std::vector<std::size_t>{0, 2, 1, 4, 3, 5} : std::vector<std::size_t>{0, 1, 2, 3, 4, 5};
}

class Step {
public:
    Step(const Options& options, const Vulkan& vulkan, const Scene& scene);
    StepResult run();

private:
    struct Drawable {
        const Object* object;
        hob_pipeline_group_id group;
    };

    bool is_recording() const { return !options.recording.empty(); }
    void load(std::size_t place);
    void wait_until_loaded(const hob_pipeline_mask& mask);
    void enter_area(std::size_t frame);
    void run_frame(std::size_t frame);
    void use(const ScenePipeline& pipeline, std::size_t index);
    void draw_object(Drawable& drawable);
    void count_frame(double frame_ms);
    void compare_statistics();

    const Options& options;
    const Vulkan& vulkan;
    const Scene& scene;
    Script script;
    Renderer renderer;
    Pipelines pipelines;
    const hob::PipelineLibrary& library;
    std::vector<Drawable> drawables;
    std::vector<bool> was_used; ///< By pipeline.
    DrawList list;
    double last_frame_ms = 0;
    StepResult result;
};

Step::Step(const Options& the_options, const Vulkan& the_vulkan, const Scene& the_scene)
    : options(the_options), vulkan(the_vulkan), scene(the_scene),
      script{route_of(the_options.sees_secrets), the_options.frames_per_area}, renderer(the_vulkan, the_scene),
      pipelines(the_vulkan, renderer, the_scene,
                {the_options.user_directory, the_options.recording, the_options.warms_up}),
      library(pipelines.library()), was_used(the_scene.pipelines.size()) {
    if (!options.cache_file.empty()) result.opened = library.open_cache(options.cache_file);
    for (const Object& object : scene.objects) {
        if (object.is_secret && !options.sees_secrets) continue;
        std::vector<hob_fingerprint> keys;
        for (const Object::Part& part : object.parts) keys.push_back(scene.pipelines[part.pipeline].key);
        drawables.push_back({&object, library.add_group(keys)});
    }
}

/// A loading screen: as fast as the library goes, until all pipelines with a bit of the mask are compiled.
void Step::wait_until_loaded(const hob_pipeline_mask& mask) {
    const Charge charge(result.loading_ms);
    library.set_masks(mask);
    library.set_mode(HOB_PIPELINE_MODE_FAST);
    while (library.remaining() > 0 && !trials::interrupted()) {
        library.begin_frame();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

/// The loading screen before the area at a place of the route, where the run has one. After it, all pipelines are
/// compiled in the background.
void Step::load(std::size_t place) {
    const bool is_first = place == 0;
    if (options.loading == "none" || (!is_first && options.loading != "each")) return;
    wait_until_loaded(options.loading == "all" ? hob::pipeline_mask(0) : mask_of(script.route[place]));
    library.set_masks(hob::pipeline_mask(0));
    library.set_mode(HOB_PIPELINE_MODE_BACKGROUND);
}

void Step::enter_area(std::size_t frame) {
    if (frame % script.frames_per_area != 0) return;
    load(frame / script.frames_per_area);
    // New entries of a recording have the current mask.
    if (is_recording()) library.set_masks(mask_of(script.area_at(frame)));
}

/// Asks for a pipeline in view. One that no cache has is built here, in the frame: the hitch.
void Step::use(const ScenePipeline& pipeline, std::size_t index) {
    const hob_pipeline_state state = library.use(pipeline.key);
    const bool is_first = !was_used[index];
    was_used[index] = true;
    result.first_uses += is_first;
    result.ready += is_first && state == HOB_PIPELINE_STATE_READY;
    result.late += is_first && state != HOB_PIPELINE_STATE_READY && state != HOB_PIPELINE_STATE_UNKNOWN;
    if (state != HOB_PIPELINE_STATE_UNKNOWN) return;
    result.unknown += is_first;
    pipelines.build_now(pipeline);
}

/// Draws an object in all of its passes or, without groups, in those whose pipeline is ready.
void Step::draw_object(Drawable& drawable) {
    for (const Object::Part& part : drawable.object->parts) use(scene.pipelines[part.pipeline], part.pipeline);
    if (options.uses_groups && library.decide(drawable.group) != HOB_PIPELINE_DECISION_DRAW) {
        ++result.hidden;
        return;
    }
    std::size_t drawn = 0;
    for (const Object::Part& part : drawable.object->parts) {
        const VkPipeline pipeline = pipelines.find(scene.pipelines[part.pipeline].key);
        if (pipeline == nullptr) continue;
        list[static_cast<std::size_t>(part.pass)].push_back({pipeline, drawable.object->factory, drawable.object->placement});
        ++drawn;
    }
    result.partial += drawn > 0 && drawn < drawable.object->parts.size();
    result.hidden += drawn == 0;
}

void Step::run_frame(std::size_t frame) {
    const auto begin = Clock::now();
    // Compiles get the head-room of the frame before.
    const double head_room_ms = std::max(0.0, options.budget_ms() - last_frame_ms);
    library.begin_frame(static_cast<std::uint64_t>(head_room_ms * 1000));
    for (auto& calls : list) calls.clear();
    for (Drawable& drawable : drawables)
        if (script.is_visible(*drawable.object, frame)) draw_object(drawable);
    renderer.draw(list);
    const auto end = Clock::now();
    count_frame(std::chrono::duration<double, std::milli>(end - begin).count());
    // The screen shows frames at a fixed rate. After a late one, the next begins at once.
    std::this_thread::sleep_until(begin + std::chrono::duration<double, std::milli>(options.budget_ms()));
}

void Step::count_frame(double frame_ms) {
    last_frame_ms = frame_ms;
    ++result.frames;
    result.worst_ms = std::max(result.worst_ms, frame_ms);
    result.mean_ms += (frame_ms - result.mean_ms) / static_cast<double>(result.frames);
    result.over_budget += frame_ms > options.budget_ms();
}

/// The library counts the same.
void Step::compare_statistics() {
    const hob_pipeline_statistics counted = library.statistics();
    result.failed = counted.failed;
    result.miscounted = static_cast<std::size_t>(counted.ready_at_first_use != result.ready) +
                        (counted.missed != result.late) + (counted.unknown != result.unknown) +
                        (counted.ready != result.built);
}

StepResult Step::run() {
    result.name = options.step;
    result.device = vulkan.identity().description();
    {
        trials::Progress progress;
        for (std::size_t frame = 0; frame < script.frames() && !trials::interrupted(); ++frame) {
            enter_area(frame);
            run_frame(frame);
            progress.show(options.step, static_cast<double>(frame) / static_cast<double>(script.frames()));
        }
    }
    pipelines.finish();
    result.built = pipelines.built();
    result.create_ms = pipelines.create_ms();
    result.first_draw_ms = pipelines.first_draw_ms();
    result.interrupted = trials::interrupted();
    compare_statistics();
    return result;
}

} // namespace

StepResult run_step(const Options& options) {
    trials::switch_driver_cache_off();
    const Vulkan vulkan(options.device, {"pipeline_warmup_vk", VK_QUEUE_GRAPHICS_BIT, true});
    const Scene scene(static_cast<std::uint32_t>(options.build));
    if (!options.keys_file.empty()) trials::write_file(options.keys_file, scene.key_map_csv());
    return Step(options, vulkan, scene).run();
}

} // namespace pipeline_warmup_vk
