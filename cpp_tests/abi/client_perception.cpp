// Perceptions of a client that was compiled with other headers than its library. MIT OR Apache-2.0.
#include "client.h"

namespace abi {

#if __has_include(<hobgoblin/perception.h>)

namespace {

struct Reader {
    uint32_t runs = 0, released = 0;

    static hob_result perceive(void* self, hob_cognition_call* call) {
        CHECK(call->struct_size >= 136 && call->input_count == 1 && call->input_stride >= 64);
        ++static_cast<Reader*>(self)->runs;
        const auto* const input = call->inputs;
        CHECK(input->width == 4 && input->height == 2 && input->left == 1 && input->top == 1);
        call->value.number = static_cast<const unsigned char*>(input->pixels)[input->stride + 3];
        return HOB_RESULT_OK;
    }
    static void release(void* self) { ++static_cast<Reader*>(self)->released; }
};

}  // namespace

void drive_perception() {
    Guarded<hob_perception_desc> eye_desc;
    eye_desc->history = 4;
    eye_desc->graft = HOB_PERCEPTION_CHOICE_ALWAYS;
    hob_perception* eye = nullptr;
    CHECK_OK(hob_perception_create(eye_desc.get(), &eye));

    Reader reader;
    Guarded<hob_cognition_desc> desc;
    desc->name = text("reader");
    desc->flags = HOB_COGNITION_PURE;
    desc->perceive = &Reader::perceive;
    desc->user_data = &reader;
    desc->release = &Reader::release;
    desc->support = 1;
    hob_cognition_id cognition = {0, 0}, threshold = {0, 0};
    CHECK_OK(hob_perception_add_cognition(eye, desc.get(), &cognition));
    Guarded<hob_operator_desc> operation;
    operation->kind = HOB_OPERATOR_THRESHOLD;
    operation->level = 9;
    CHECK_OK(hob_perception_add_operator(eye, operation.get(), &threshold));

    const hob_perception_step steps[] = {{threshold, {8, 8, 16, 8}, nullptr, 0, 0, 0},
                                         {cognition, {2, 2, 4, 2}, nullptr, 0, 0, 0}};
    Guarded<hob_perception_pipeline_desc> pipeline;
    pipeline->name = text("pipeline");
    pipeline->steps = steps;
    pipeline->step_stride = sizeof steps[0];
    pipeline->step_count = 2;
    hob_perception_pipeline_id id = {0, 0}, image_id = {0, 0};
    CHECK_OK(hob_perception_add_pipeline(eye, pipeline.get(), &id));
    pipeline->step_count = 1;
    CHECK_OK(hob_perception_add_pipeline(eye, pipeline.get(), &image_id));

    static unsigned char pixels[64 * 32];
    Guarded<hob_frame> frame;
    frame->format = HOB_PIXEL_FORMAT_GRAY8;
    frame->pixels = pixels;
    frame->width = 64;
    frame->height = 32;
    for (int number = 0; number < 4; ++number) {
        // The region of the second step begins at 10, 10.
        pixels[11 * 64 + 13] = number < 2 ? 3 : 30;
        CHECK_OK(hob_perception_begin_frame(eye, frame.get(), nullptr));
        hob_value value = {{0, 0}};
        CHECK_OK(hob_perception_query(eye, id, 1, &value));
        CHECK(value.number == (number < 2 ? 0 : 255));
    }
    CHECK(reader.runs == 2);
    hob_value value = {{0, 0}};
    CHECK_OK(hob_perception_query_past(eye, id, 2, &value));
    CHECK(value.number == 0);
    const hob_perception_question question = {id, 2, 0};
    hob_perception_answer answer;
    size_t count = 0;
    CHECK_OK(hob_perception_query_many(eye, &question, sizeof question, 1, &answer, sizeof answer, 1, &count));
    CHECK(count == 1 && answer.result == HOB_RESULT_OK && answer.value.number == 255 && answer.first_frame == 3);
    Guarded<hob_image> image;
    CHECK_OK(hob_perception_get_image(eye, image_id, image.get()));
    CHECK(image->width == 16 && image->format == HOB_PIXEL_FORMAT_GRAY8);
    Guarded<hob_perception_statistics> statistics;
    CHECK_OK(hob_perception_get_statistics(eye, statistics.get()));
    CHECK(statistics->frames == 4 && statistics->pipelines == 2);
    Guarded<hob_perception_pipeline_statistics> found;
    CHECK_OK(hob_perception_get_pipeline_statistics(eye, id, found.get()));
    CHECK(found->queries == 5 && found->first_frame == 3);
    static unsigned char picture[64 * 32 * 4];
    Guarded<hob_image> target;
    target->pixels = picture;
    target->width = 64;
    target->height = 32;
    CHECK_OK(hob_perception_draw_overlay(eye, target.get()));
    CHECK(picture[(2 * 64 + 2) * 4] == 240);  // text
    char json[4096];
    size_t json_size = 0;
    CHECK_OK(hob_perception_save_json(eye, json, sizeof json, &json_size));
    CHECK(json_size > 100 && json[0] == '{');
    CHECK_OK(hob_perception_set_prefetch(eye, id, HOB_PREFETCH_ALWAYS));
    char message[8];
    size_t size = 1;
    CHECK_OK(hob_perception_get_failure(eye, id, message, sizeof message, &size));
    CHECK(size == 0);
    CHECK_OK(hob_perception_remove_pipeline(eye, id));
    hob_perception_destroy(eye);
    CHECK(reader.released == 1);
}

#else

void drive_perception() {}

#endif

}  // namespace abi
