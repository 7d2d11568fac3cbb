// hobgoblin.hpp: perceptions whose cognitions are lambdas.
#include <hobgoblin/perception.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support.h"

namespace {

hob_frame frame_of(const std::vector<uint8_t>& pixels) {
    hob_frame frame = HOB_FRAME_INIT;
    frame.pixels = pixels.data();
    frame.width = 64;
    frame.height = 32;
    frame.format = HOB_PIXEL_FORMAT_GRAY8;
    return frame;
}

}  // namespace

TEST("hpp: cognitions are lambdas, and run only after a change") {
    hob_perception_desc desc = HOB_PERCEPTION_DESC_INIT;
    desc.graft = HOB_PERCEPTION_CHOICE_ALWAYS;
    hob::Perception eye(desc);
    std::vector<uint8_t> pixels(64 * 32);
    auto owned = std::make_shared<int>(0);
    const auto reader = eye.add_cognition("first", HOB_COGNITION_PURE, [owned](hob_cognition_call& call) {
        ++*owned;
        call.value.number = static_cast<const uint8_t*>(call.inputs[0].pixels)[0];
    });
    const auto first = eye.add_pipeline({"first", "game", {}, HOB_PREFETCH_PROFILE}, {hob::step(reader, {8, 8, 8, 8})});
    hob_operator_desc threshold = HOB_OPERATOR_DESC_INIT;
    threshold.kind = HOB_OPERATOR_THRESHOLD;
    threshold.level = 10;
    const auto mask = eye.add_pipeline({"mask"}, {hob::step(eye.add_operator(threshold), {8, 8, 8, 8})});
    const auto nested = eye.add_pipeline({"nested", {}, {mask}}, {hob::step(reader)});
    const hob::Executor executor = hob::Executor::create_pool(1);
    for (int frame = 0; frame < 6; ++frame) {
        pixels[8 * 64 + 8] = static_cast<uint8_t>(frame / 3 * 20);
        eye.begin_frame(frame_of(pixels), executor);
        const auto value = eye.query(first, 3);
        ENSURE(value.has_value() == (frame % 3 == 2));
        if (value) ENSURE(value->number == frame / 3 * 20);
        ENSURE(eye.query(nested)->number == (frame < 3 ? 0 : 255));
        ENSURE(*static_cast<const uint8_t*>(eye.image(mask).pixels) == (frame < 3 ? 0 : 255));
    }
    ENSURE(*owned == 4 && owned.use_count() == 2 && eye.query_past(first, 2)->number == 20);
    const hob_perception_question questions[] = {{first, 3, 0}, {nested, 1, 0}};
    hob_perception_answer answers[2];
    eye.query_many(questions, answers);
    ENSURE(answers[0].value.number == 20 && answers[1].value.number == 255 && answers[0].first_frame == 4);
    hob::Perception moved = std::move(eye);
    ENSURE(eye.capi() == nullptr && moved.statistics().frames == 6 && moved.pipeline_statistics(first).queries >= 7);
    std::vector<uint8_t> picture(64 * 32 * 4);
    hob_image target = HOB_IMAGE_INIT;
    target.pixels = picture.data();
    target.width = 64;
    target.height = 32;
    moved.draw_overlay(target);
    const auto white = std::count(picture.begin(), picture.end(), uint8_t{240});  // text
    ENSURE(white > 100 && moved.save_json().find("\"state\": \"game\"") != std::string::npos);
    moved.set_prefetch(first, HOB_PREFETCH_ALWAYS);
    moved.remove_pipeline(first);
    ENSURE(moved.try_query(first).code() == HOB_RESULT_NOT_FOUND && moved.failure(nested).empty());
    moved = hob::Perception();
    ENSURE(owned.use_count() == 1);
}

TEST("hpp: frames are borrowed, and a cognition has an expected duration") {
    hob_perception_desc desc = HOB_PERCEPTION_DESC_INIT;
    desc.history = 1;
    desc.borrows_frames = 1;
    hob::Perception eye(desc);
    hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
    cognition.cost_ns = 1000;
    const void* seen = nullptr;
    const auto reader = eye.add_cognition(cognition, [&](hob_cognition_call& call) { seen = call.inputs[0].pixels; });
    const auto first = eye.add_pipeline({"first"}, {hob::step(reader, {0, 0, 8, 8})});
    const std::vector<uint8_t> buffers[2] = {std::vector<uint8_t>(64 * 32), std::vector<uint8_t>(64 * 32)};
    for (int frame = 0; frame < 6; ++frame) {
        const auto& pixels = buffers[frame % 2];
        eye.begin_frame(frame_of(pixels));
        ENSURE(eye.query(first) && seen == pixels.data());
        ENSURE(eye.try_begin_frame(frame_of(pixels)).code() == HOB_RESULT_INVALID_ARGUMENT);
    }
    ENSURE(eye.statistics().copied_bytes == 0);
}

TEST("hpp: an exception fails its pipeline, and is rethrown after the call") {
    hob::Perception eye;
    std::vector<uint8_t> pixels(64 * 32);
    bool throws = false;
    hob_cognition_desc desc = HOB_COGNITION_DESC_INIT;
    const auto bad = eye.add_cognition(desc, [&](hob_cognition_call&) {
        if (throws) throw std::runtime_error("no digits");
        return HOB_RESULT_OK;
    });
    const auto pipeline = eye.add_pipeline({"bad"}, {hob::step(bad, {0, 0, 4, 4})});
    eye.begin_frame(frame_of(pixels));
    ENSURE(eye.query(pipeline).has_value());
    throws = true;
    eye.begin_frame(frame_of(pixels));
    bool caught = false;
    try {
        (void)eye.try_query(pipeline);
    } catch (const std::runtime_error& error) {
        caught = std::string(error.what()) == "no digits";
    }
    ENSURE(caught && eye.failure(pipeline) == "no digits");
    ENSURE(eye.try_query(pipeline).code() == HOB_RESULT_COGNITION_FAILED);
}
