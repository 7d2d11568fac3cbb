// A perception whose edits, frames and queries run out of memory.
#include <cstring>

#include "frame_scenarios.h"

namespace no_memory {
namespace {

hob_result first_pixel(void*, hob_cognition_call* call) {
    call->value.number = static_cast<const unsigned char*>(call->inputs[0].pixels)[0] + 1;
    return HOB_RESULT_OK;
}

void play(Run& run, uint32_t borrows_frames) {
    hob_perception* eye = nullptr;
    hob_executor* executor = nullptr;
    hob_perception_desc perception = HOB_PERCEPTION_DESC_INIT;
    perception.borrows_frames = borrows_frames;
    run("create", [&] { return hob_perception_create(&perception, &eye); });
    run("create executor", [&] { return hob_executor_create_pool(1, &executor); }, {HOB_RESULT_UNSUPPORTED});
    uint32_t released = 0, owned = 0;
    hob_cognition_id cognitions[5] = {};
    hob_cognition_desc desc = HOB_COGNITION_DESC_INIT;
    desc.name = HOB_STR("first pixel");
    desc.flags = HOB_COGNITION_PURE;
    desc.perceive = &first_pixel;
    desc.user_data = &released;
    desc.release = [](void* number) { ++*static_cast<uint32_t*>(number); };
    run("add_cognition", [&] {
        const hob_result result = hob_perception_add_cognition(eye, &desc, &cognitions[0]);
        if (result == HOB_RESULT_OK) ++owned;
        return result;
    });
    static unsigned char buffers[4][64 * 48 * 4], other[32 * 32 * 4];
    hob_image image = HOB_IMAGE_INIT;
    image.pixels = other;
    image.width = image.height = 4;
    hob_glyph glyph = {1, 0, &image, nullptr};
    const hob_operator kinds[] = {HOB_OPERATOR_THRESHOLD, HOB_OPERATOR_BOX, HOB_OPERATOR_TEMPLATE, HOB_OPERATOR_GLYPHS};
    for (uint32_t n = 0; n < 4; ++n) {
        hob_operator_desc operation = HOB_OPERATOR_DESC_INIT;
        operation.kind = kinds[n];
        operation.radius = 2;
        operation.image = &image;
        operation.glyphs = &glyph;
        operation.glyph_count = 1;
        run("add_operator", [&] { return hob_perception_add_operator(eye, &operation, &cognitions[n + 1]); });
    }
    hob_perception_pipeline_id pipelines[8] = {};
    for (uint32_t n = 0; n < 8; ++n) {
        hob_perception_step steps[2] = {};
        steps[0].cognition = cognitions[1 + n % 4];
        steps[0].region = {n, n, 16 + n, 16};
        steps[1].cognition = cognitions[0];
        hob_perception_pipeline_desc pipeline = HOB_PERCEPTION_PIPELINE_DESC_INIT;
        pipeline.name = HOB_STR("pipeline");
        pipeline.steps = steps;
        pipeline.step_count = n % 4 < 2 ? 2 : 1;
        pipeline.prefetch = n % 3 == 0 ? HOB_PREFETCH_ALWAYS : HOB_PREFETCH_PROFILE;
        run("add_pipeline", [&] { return hob_perception_add_pipeline(eye, &pipeline, &pipelines[n]); });
    }
    hob_frame frame = HOB_FRAME_INIT;
    frame.height = 48;
    const hob_rect dirty = {0, 0, 64, 48};
    const hob_frame_move move = {{0, 0, 8, 8}, 1, 1};
    for (uint32_t number = 0; number < 12; ++number) {
        // A frame that failed may begin again in the same memory.
        unsigned char* const pixels = buffers[number % 3];
        frame.pixels = pixels;
        frame.width = number < 6 ? 64 : 32;
        pixels[number * 5] = static_cast<unsigned char>(number);
        frame.dirty = number % 3 == 0 ? &dirty : nullptr;
        frame.dirty_count = number % 3 == 0 ? 1 : 0;
        frame.moves = number % 4 == 0 ? &move : nullptr;
        frame.move_count = number % 4 == 0 ? 1 : 0;
        run("begin_frame", [&] { return hob_perception_begin_frame(eye, &frame, executor); });
        for (const auto& pipeline : pipelines) {
            hob_value value;
            run("query", [&] {
                const hob_result result = hob_perception_query(eye, pipeline, 1 + number % 3, &value);
                return result == HOB_RESULT_NO_CONSENSUS || result == HOB_RESULT_COGNITION_FAILED ? HOB_RESULT_OK : result;
            });
            run("query_past", [&] {
                const hob_result result = hob_perception_query_past(eye, pipeline, number % 3, &value);
                return result == HOB_RESULT_NO_CONSENSUS || result == HOB_RESULT_COGNITION_FAILED ? HOB_RESULT_OK : result;
            });
        }
    }
    run("remove_pipeline", [&] { return hob_perception_remove_pipeline(eye, pipelines[2]); });
    run.heal();
    frame.pixels = buffers[3];
    if (eye != nullptr) {
        run.works("begin_frame with memory", [&] { return hob_perception_begin_frame(eye, &frame, nullptr); });
    }
    hob_perception_destroy(eye);
    hob_executor_destroy(executor);
    run.expect("each owner is released once", released == owned);
}

}  // namespace

void play_perception(Run& run) {
    play(run, 0);
    play(run, 1);
}

}  // namespace no_memory
