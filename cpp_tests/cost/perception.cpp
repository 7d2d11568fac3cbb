// Asks a perception for all its pipelines so many times. Callgrind counts the instructions: see
// trials/tests/perception_cost.rs.
//
//     perception CALL ROUNDS
//
// CALL, for each pipeline:
// - shared: an empty shared call.
// - query: hob_perception_query, for a consensus of 3 frames.
// - many: the same with hob_perception_query_many.
// - frame: begins a frame.
// - graft: begins a frame, then asks with hob_perception_query_many.

#include <hobgoblin/perception.h>
#include <hobgoblin/profile.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr uint32_t PIPELINES = 1024;
constexpr uint32_t SIDE = 256;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "%s: %s\n", what, hob_last_error());
    std::exit(1);
}

void check(hob_result result, const char* what) {
    if (result != HOB_RESULT_OK) fail(what);
}

hob_result perceive(void*, hob_cognition_call* call) {
    call->value.words[0] = 1;
    return HOB_RESULT_OK;
}

struct Eye {
    hob_perception* perception = nullptr;
    std::vector<hob_perception_pipeline_id> pipelines{PIPELINES};
    std::vector<hob_perception_question> questions;
    std::vector<hob_perception_answer> answers{PIPELINES};
    std::vector<unsigned char> pixels = std::vector<unsigned char>(SIDE * SIDE, 7);
    hob_value value{};

    Eye() {
        hob_perception_desc desc = HOB_PERCEPTION_DESC_INIT;
        desc.graft = HOB_PERCEPTION_CHOICE_ALWAYS;
        desc.prefetch = HOB_PERCEPTION_CHOICE_NEVER;
        check(hob_perception_create(&desc, &perception), "create");
        hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
        cognition.flags = HOB_COGNITION_PURE;
        cognition.perceive = &perceive;
        hob_cognition_id reader;
        check(hob_perception_add_cognition(perception, &cognition, &reader), "add a cognition");
        for (uint32_t at = 0; at < PIPELINES; at++) {
            hob_perception_step step{};
            step.cognition = reader;
            step.region = {at % 32 * 8, at / 32 * 8, 8, 8};
            hob_perception_pipeline_desc pipeline = HOB_PERCEPTION_PIPELINE_DESC_INIT;
            pipeline.steps = &step;
            pipeline.step_count = 1;
            check(hob_perception_add_pipeline(perception, &pipeline, &pipelines[at]), "add a pipeline");
            questions.push_back({pipelines[at], 3, 0});
        }
        for (int frame = 0; frame < 4; frame++) {
            begin();
            ask(1);
        }
    }

    void begin() {
        hob_frame frame = HOB_FRAME_INIT;
        frame.format = HOB_PIXEL_FORMAT_GRAY8;
        frame.pixels = pixels.data();
        frame.width = frame.height = SIDE;
        check(hob_perception_begin_frame(perception, &frame, nullptr), "begin a frame");
    }

    void ask(uint32_t frames) {
        for (const hob_perception_pipeline_id& pipeline : pipelines) {
            check(hob_perception_query(perception, pipeline, frames, &value), "query");
        }
    }

    void ask_all() {
        size_t count = 0;
        check(hob_perception_query_many(perception, questions.data(), sizeof questions[0], PIPELINES, answers.data(),
                                        sizeof answers[0], PIPELINES, &count),
              "query many");
    }
};

}  // namespace

int main(int count, char** words) {
    if (count != 3) return 2;
    const char* call = words[1];
    hob_profile* profile = nullptr;
    check(hob_profile_create(nullptr, &profile), "create a profile");
    Eye eye;
    for (int round = std::atoi(words[2]); round > 0; round--) {
        if (std::strcmp(call, "shared") == 0) {
            for (uint32_t at = 0; at < PIPELINES; at++) {
                if (hob_profile_task_count(profile) != 0) fail("count tasks");
            }
        } else if (std::strcmp(call, "query") == 0) {
            eye.ask(3);
        } else if (std::strcmp(call, "many") == 0) {
            eye.ask_all();
        } else {
            eye.begin();
            if (std::strcmp(call, "graft") == 0) eye.ask_all();
        }
    }
    hob_perception_destroy(eye.perception);
    hob_profile_destroy(profile);
}
