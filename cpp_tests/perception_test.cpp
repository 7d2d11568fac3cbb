// Perceptions: runs after changes, consensus, failures, images, hints, and statistics.
#include <cstring>
#include <functional>

#include "executor_support.h"
#include "malloc_count.h"
#include "perception_support.h"

using namespace support;
using namespace support::eyes;

TEST("perception: a cognition runs only after a change in its region") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum left, right;
    const auto one = pipeline(eye, {step(add(eye, left), {10, 10, 20, 20})});
    const auto other = pipeline(eye, {step(add(eye, right), {25, 25, 20, 20})});
    Screen screen;
    screen.at(12, 12) = 5;
    for (int frame = 0; frame < 10; ++frame) {
        if (frame == 5) screen.at(40, 40) = 7;
        if (frame == 7) screen.at(45, 45) = 9;  // outside of both
        if (frame == 8) screen.at(26, 26) = 1;  // inside of both
        screen.show(eye);
        ENSURE(number(eye, one) == (frame < 8 ? 5 : 6));
        ENSURE(number(eye, other) == (frame < 5 ? 0 : frame < 8 ? 7 : 8));
    }
    ENSURE(left.runs == 2 && right.runs == 3);
    const auto all = statistics(eye);
    ENSURE(all.frames == 10 && all.runs == 5 && all.grafts == 15 && all.pipelines == 2 && all.steps == 2);
}

TEST("perception: frames of other strides, alpha and gaps are the same picture") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto id = pipeline(eye, {step(add(eye, sum), {0, 0, 50, 50})});
    Screen screen;
    screen.show(eye);
    ENSURE(number(eye, id) == 0);
    for (size_t at = 3; at < screen.pixels.size(); at += 4) screen.pixels[at] = 99;
    screen.show(eye);
    ENSURE(number(eye, id) == 0 && sum.runs == 1);
    std::vector<uint8_t> wide((width + 10) * height * 4, 77);
    for (uint32_t y = 0; y < height; ++y) {
        std::memcpy(&wide[y * (width + 10) * 4], &screen.pixels[y * width * 4], width * 4);
    }
    hob_frame frame = screen.frame();
    frame.pixels = wide.data();
    frame.stride = (width + 10) * 4;
    ENSURE_OK(hob_perception_begin_frame(eye.get(), &frame, nullptr));
    ENSURE(number(eye, id) == 0 && sum.runs == 1);
}

TEST("perception: equal steps are one, and equal results end the work") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto threshold = add(eye, HOB_OPERATOR_THRESHOLD, 100), reader = add(eye, sum);
    const auto first = pipeline(eye, {step(threshold, {0, 0, 100, 100}), step(reader, {0, 0, 20, 20})});
    const auto second = pipeline(eye, {step(threshold, {0, 0, 100, 100}), step(reader, {50, 50, 20, 20})});
    ENSURE(statistics(eye).steps == 3);
    Screen screen;
    screen.show(eye);
    (void)outcome(eye, first);
    (void)outcome(eye, second);
    ENSURE(sum.runs == 2);
    screen.at(60, 60) = 50;  // below the threshold
    screen.show(eye);
    (void)outcome(eye, first);
    (void)outcome(eye, second);
    ENSURE(sum.runs == 2 && statistics(eye).cut_offs == 1);
}

TEST("perception: a frame of another size that fails leaves the answers and the executor") {
    auto desc = grafting();
    desc.memory_limit = 2 << 20;
    const Eye eye = make_eye(&desc);
    struct Looking {
        const hob_executor* seen = nullptr;
        static hob_result perceive(void* self, hob_cognition_call* call) {
            static_cast<Looking*>(self)->seen = call->executor;
            return HOB_RESULT_OK;
        }
    } looking;
    hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
    cognition.perceive = &Looking::perceive;
    cognition.user_data = &looking;
    hob_cognition_id id = {0, 0};
    ENSURE_OK(hob_perception_add_cognition(eye.get(), &cognition, &id));
    Sum sum;
    const auto kept = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
    const auto late = pipeline(eye, {step(id, {0, 0, 8, 8})});
    const Executor own = make_pool(1), other = make_pool(1);
    Screen screen;
    screen.at(3, 3) = 9;
    screen.show(eye, own.get());
    ENSURE(number(eye, kept) == 9);
    std::vector<uint8_t> large(2000 * 1000 * 4);
    hob_frame frame = HOB_FRAME_INIT;
    frame.pixels = large.data();
    frame.width = 2000;
    frame.height = 1000;
    ENSURE(hob_perception_begin_frame(eye.get(), &frame, other.get()) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(number(eye, kept) == 9 && sum.runs == 1 && statistics(eye).frames == 1);
    ENSURE(outcome(eye, late) == HOB_RESULT_OK && looking.seen == own.get());
}

TEST("perception: built-in cognitions ignore fields of other kinds, and refuse images without a size") {
    const Eye eye = make_eye();
    hob_operator_desc desc = HOB_OPERATOR_DESC_INIT;
    hob_cognition_id id = {0, 0};
    desc.kind = HOB_OPERATOR_MEAN;
    desc.radius = desc.factor = 9999;
    desc.flags = 1u << 31;
    ENSURE(hob_perception_add_operator(eye.get(), &desc, &id) == HOB_RESULT_UNSUPPORTED && last_error_has("flags"));
    desc.flags = HOB_OPERATOR_RIGHT | HOB_OPERATOR_BINARY;
    ENSURE_OK(hob_perception_add_operator(eye.get(), &desc, &id));
    const auto mean = pipeline(eye, {step(id, {0, 0, 2, 1})});
    const uint8_t spot[4] = {255, 255, 255, 0};
    hob_image image = HOB_IMAGE_INIT;
    image.pixels = spot;
    image.height = 1;
    desc.kind = HOB_OPERATOR_TEMPLATE;
    desc.image = &image;
    ENSURE(hob_perception_add_operator(eye.get(), &desc, &id) == HOB_RESULT_INVALID_ARGUMENT);
    image.width = 1;
    ENSURE_OK(hob_perception_add_operator(eye.get(), &desc, &id));
    const auto find = pipeline(eye, {step(id, {100, 50, 40, 40})});
    Screen screen;
    for (uint32_t channel = 0; channel < 3; ++channel) {
        screen.pixels[channel] = 1;
        screen.pixels[(61 * width + 103) * 4 + channel] = 255;
    }
    screen.show(eye);
    ENSURE(number(eye, mean) == 0.5);
    hob_value place = {{0, 0}};
    ENSURE_OK(hob_perception_query(eye.get(), find, 1, &place));
    ENSURE(place.words[0] == (UINT64_C(11) << 32 | 3) && place.words[1] == 0);  // relative to the region
}

TEST("perception: a value counts only if the last frames agree") {
    for (const hob_perception_choice graft : {HOB_PERCEPTION_CHOICE_ALWAYS, HOB_PERCEPTION_CHOICE_NEVER}) {
        hob_perception_desc desc = HOB_PERCEPTION_DESC_INIT;
        desc.graft = graft;
        desc.history = 3;
        const Eye eye = make_eye(&desc);
        Sum sum;
        const auto id = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
        ENSURE(outcome(eye, id) == HOB_RESULT_NO_CONSENSUS);
        Screen screen;
        for (int frame = 0; frame < 20; ++frame) {
            screen.at(1, 1) = static_cast<uint8_t>(frame / 5);
            screen.show(eye);
            ENSURE(number(eye, id) == frame / 5);
            ENSURE(outcome(eye, id, 3) == (frame % 5 >= 2 ? HOB_RESULT_OK : HOB_RESULT_NO_CONSENSUS));
        }
        hob_value value = {{0, 0}};
        ENSURE_OK(hob_perception_query_past(eye.get(), id, 3, &value));
        ENSURE(value.number == 3);
        ENSURE(outcome(eye, id, 65) == HOB_RESULT_LIMIT_EXCEEDED && last_error_has("at most 63"));
        hob_perception_pipeline_statistics found = HOB_PERCEPTION_PIPELINE_STATISTICS_INIT;
        ENSURE_OK(hob_perception_get_pipeline_statistics(eye.get(), id, &found));
        ENSURE(found.first_frame == 16 && found.queries == 42);
    }
}

TEST("perception: as many frames are kept as a query asks for, within the limit") {
    auto desc = grafting();
    desc.memory_limit = 3 << 20;
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto id = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
    Screen screen;
    const auto play = [&](int frame) {
        screen.at(1, 1) = static_cast<uint8_t>(frame < 10 ? frame : 10);
        screen.show(eye);
        return outcome(eye, id, 6);
    };
    for (int frame = 0; frame < 10; ++frame) ENSURE(play(frame) == HOB_RESULT_NO_CONSENSUS);
    for (int frame = 10; frame < 20; ++frame) {
        ENSURE(play(frame) == (frame < 15 ? HOB_RESULT_NO_CONSENSUS : HOB_RESULT_OK));
    }
    hob_value value = {{0, 0}};
    ENSURE_OK(hob_perception_query_past(eye.get(), id, 5, &value));
    ENSURE(statistics(eye).restarts == 1);
    ENSURE(outcome(eye, id, 20) == HOB_RESULT_LIMIT_EXCEEDED && last_error_has("19 past frames take"));
}

TEST("perception: a pipeline answers after any number of frames without a query") {
    for (const int pause : {1, 62, 63, 64, 65, 66, 127, 128, 129, 300}) {
        const auto desc = grafting();
        const Eye eye = make_eye(&desc);
        Sum sum;
        const auto id = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
        Screen screen;
        screen.show(eye);
        ENSURE(number(eye, id) == 0);
        screen.at(1, 1) = 7;
        for (int frame = 0; frame < pause; ++frame) screen.show(eye);
        ENSURE(number(eye, id) == 7 && number(eye, id, 1) == 7);
        ENSURE(outcome(eye, id, 3) == (pause < 3 ? HOB_RESULT_NO_CONSENSUS : HOB_RESULT_OK));
    }
}

TEST("perception: a tolerance does not depend on whether results are taken over") {
    for (const auto graft :
         {HOB_PERCEPTION_CHOICE_ALWAYS, HOB_PERCEPTION_CHOICE_NEVER, HOB_PERCEPTION_CHOICE_MEASURED}) {
        hob_perception_desc desc = HOB_PERCEPTION_DESC_INIT;
        desc.graft = graft;
        const Eye eye = make_eye(&desc);
        Sum sum;
        auto tolerant = step(add(eye, sum), {0, 0, 1, 1});
        tolerant.tolerance = 3;
        const auto id = pipeline(eye, {tolerant});
        Screen screen;
        for (int frame = 0; frame < 40; ++frame) {
            screen.at(0, 0) = static_cast<uint8_t>(100 + frame);
            screen.show(eye);
            ENSURE(number(eye, id) == 100 + frame / 4 * 4);
        }
    }
}

TEST("perception: a query that keeps more frames forgets nothing") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum one, other;
    const auto asked = pipeline(eye, {step(add(eye, one), {0, 0, 8, 8})});
    const auto late = pipeline(eye, {step(add(eye, other), {8, 8, 8, 8})});
    Screen screen;
    for (int frame = 0; frame < 12; ++frame) {
        screen.at(9, 9) = static_cast<uint8_t>(frame);
        screen.show(eye);
        if (frame == 5) (void)outcome(eye, asked, 6);
    }
    hob_value value = {{0, 0}};
    for (uint32_t age = 0; age < 6; ++age) {
        ENSURE_OK(hob_perception_query_past(eye.get(), late, age, &value));
        ENSURE(value.number == 11 - age);
    }
    const Eye young = make_eye(&desc);
    const auto id = pipeline(young, {step(add(young, other), {8, 8, 8, 8})});
    for (int frame = 0; frame < 4; ++frame) {
        screen.at(9, 9) = static_cast<uint8_t>(frame);
        screen.show(young);
        if (frame == 2) (void)outcome(young, id, 8);
    }
    ENSURE_OK(hob_perception_query_past(young.get(), id, 1, &value));
    ENSURE(value.number == 2);
    ENSURE_OK(hob_perception_query_past(young.get(), id, 3, &value));
    ENSURE(value.number == 0);
    ENSURE(hob_perception_query_past(young.get(), id, 4, &value) == HOB_RESULT_NO_CONSENSUS);
}

TEST("perception: past frames are computed when they are asked for") {
    auto desc = grafting();
    desc.history = 4;
    desc.prefetch = HOB_PERCEPTION_CHOICE_NEVER;
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto id = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
    Screen screen;
    for (int frame = 0; frame < 5; ++frame) {
        screen.at(1, 1) = static_cast<uint8_t>(frame < 2 ? 1 : 2);
        screen.show(eye);
    }
    ENSURE(sum.runs == 0);
    hob_value value = {{0, 0}};
    ENSURE_OK(hob_perception_query(eye.get(), id, 3, &value));
    ENSURE(value.number == 2 && sum.runs == 1);
    ENSURE(outcome(eye, id, 4) == HOB_RESULT_NO_CONSENSUS && sum.runs == 2);
    ENSURE_OK(hob_perception_query_past(eye.get(), id, 4, &value));
    ENSURE(value.number == 1 && sum.runs == 2 && statistics(eye).past_runs == 1);
}

TEST("perception: a failure concerns only the pipelines that need the cognition") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum good, bad;
    bad.result = HOB_RESULT_MALFORMED;
    const auto reader = add(eye, bad);
    const auto fails = pipeline(eye, {step(reader, {0, 0, 8, 8})});
    const auto nested = pipeline(eye, {step(add(eye, good))}, {fails});
    const auto works = pipeline(eye, {step(add(eye, good), {0, 0, 8, 8})});
    const auto outside = pipeline(eye, {step(add(eye, good), {316, 0, 8, 8})});
    Screen screen;
    screen.show(eye);
    ENSURE(outcome(eye, fails) == HOB_RESULT_COGNITION_FAILED && failure(eye, fails) == "no digits");
    ENSURE(outcome(eye, nested) == HOB_RESULT_COGNITION_FAILED && failure(eye, nested) == "no digits");
    ENSURE(outcome(eye, outside) == HOB_RESULT_COGNITION_FAILED);
    ENSURE(failure(eye, outside).find("must be inside of the image of 320 x 200") != std::string::npos);
    ENSURE(number(eye, works) == 0 && failure(eye, works).empty() && good.runs == 1);
    bad.result = HOB_RESULT_OK;
    screen.at(1, 1) = 3;
    screen.show(eye);
    ENSURE(number(eye, fails) == 3 && failure(eye, fails).empty());
    ENSURE_OK(hob_perception_remove_pipeline(eye.get(), works));
    ENSURE(outcome(eye, works) == HOB_RESULT_NOT_FOUND);
}

TEST("perception: another size begins anew") {
    const Eye eye = make_eye();
    Sum sum;
    const auto id = pipeline(eye, {step(add(eye, sum), {300, 0, 8, 8})});
    Screen screen;
    for (int frame = 0; frame < 3; ++frame) screen.show(eye);
    ENSURE(number(eye, id, 3) == 0);
    hob_frame small = screen.frame();
    small.width = 100;
    small.stride = width * 4;
    ENSURE_OK(hob_perception_begin_frame(eye.get(), &small, nullptr));
    ENSURE(outcome(eye, id) == HOB_RESULT_COGNITION_FAILED);
    screen.show(eye);
    ENSURE(number(eye, id) == 0 && outcome(eye, id, 2) == HOB_RESULT_NO_CONSENSUS && statistics(eye).restarts == 3);
}

TEST("perception: wrong frames are refused, and the last one stays") {
    const Eye eye = make_eye();
    Sum sum;
    const auto id = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
    Screen screen;
    screen.at(1, 1) = 4;
    screen.show(eye);
    const auto refused = [&](const std::function<void(hob_frame&)>& spoil, const char* part) {
        hob_frame frame = screen.frame();
        spoil(frame);
        ENSURE(hob_perception_begin_frame(eye.get(), &frame, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(last_error_has(part));
        ENSURE(number(eye, id) == 4);
    };
    refused([](hob_frame& frame) { frame.pixels = nullptr; }, "hob_frame.pixels is NULL");
    refused([](hob_frame& frame) { frame.stride = width * 4 - 1; }, "less than a row of 1280 bytes");
    refused([](hob_frame& frame) { frame.width = 0; }, "0 x 200 pixels");
    refused([](hob_frame& frame) { frame.height = 40000; }, "320 x 40000 pixels");
    refused([](hob_frame& frame) { frame.stride = SIZE_MAX / 2; }, "exceed the address space");
    refused([](hob_frame& frame) { frame.format = HOB_PIXEL_FORMAT_COUNT32; }, "for results only");
    refused([](hob_frame& frame) { frame.format = HOB_PIXEL_FORMAT_NV12; }, "hob_frame.chroma is NULL");
    refused([](hob_frame& frame) { frame.move_count = 3; }, "hob_frame.moves is NULL");
}

TEST("perception: pipelines that are asked for are computed when a frame begins, on several threads") {
    const Executor pool = make_pool(3);
    auto desc = grafting();
    desc.prefetch_divisor = UINT32_MAX;
    const Eye eye = make_eye(&desc);
    Sum sums[20];
    std::vector<hob_perception_question> questions;
    for (uint32_t n = 0; n < 20; ++n) {
        questions.push_back({pipeline(eye, {step(add(eye, sums[n]), {n * 10, 0, 10, 10})}), 1, 0});
    }
    Screen screen;
    std::vector<hob_perception_answer> answers(20);
    for (int frame = 0; frame < 20; ++frame) {
        for (uint32_t n = 0; n < 20; ++n) screen.at(n * 10, 1) = static_cast<uint8_t>(frame);
        screen.show(eye, pool.get());
        size_t count = 0;
        ENSURE_OK(hob_perception_query_many(eye.get(), questions.data(), sizeof questions[0], 20, answers.data(),
                                            sizeof answers[0], 20, &count));
        ENSURE(count == 20);
        for (const auto& answer : answers) ENSURE(answer.result == HOB_RESULT_OK && answer.value.number == frame);
    }
    const auto all = statistics(eye);
    ENSURE(all.runs == 400 && all.prefetch_runs >= 200 && all.prefetched == 20 && all.workers == 4);
    ENSURE_OK(hob_perception_set_prefetch(eye.get(), questions[0].pipeline, HOB_PREFETCH_NEVER));
    screen.at(0, 1) = 99;
    screen.at(10, 1) = 99;
    screen.show(eye, pool.get());
    ENSURE(statistics(eye).prefetched == 1 && sums[0].runs == 20 && sums[1].runs == 21);
}

TEST("perception: an image is a view of the present frame") {
    const Eye eye = make_eye();
    const auto mask = pipeline(eye, {step(add(eye, HOB_OPERATOR_THRESHOLD, 20), {8, 8, 16, 16})});
    Sum sum;
    const auto value = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
    Screen screen;
    hob_image image = HOB_IMAGE_INIT;
    ENSURE(hob_perception_get_image(eye.get(), mask, &image) == HOB_RESULT_NO_CONSENSUS);
    for (uint32_t frame = 0; frame < 16; ++frame) {
        std::memset(&screen.at(8 + frame, 10), 200, 4);
        screen.show(eye);
        ENSURE_OK(hob_perception_get_image(eye.get(), mask, &image));
        ENSURE(image.format == HOB_PIXEL_FORMAT_GRAY8 && image.width == 16 && image.height == 16);
        const auto* const pixels = static_cast<const uint8_t*>(image.pixels);
        for (uint32_t x = 0; x < 16; ++x) ENSURE(pixels[2 * image.stride + x] == (x <= frame ? 255 : 0));
    }
    ENSURE(hob_perception_get_image(eye.get(), value, &image) == HOB_RESULT_INVALID_ARGUMENT);
}

TEST("perception: owned values are released once, when no kept frame has them") {
    static int made, released;
    made = released = 0;
    {
        auto desc = grafting();
        desc.history = 2;
        const Eye eye = make_eye(&desc);
        hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
        cognition.flags = HOB_COGNITION_PURE | HOB_COGNITION_OWNED;
        cognition.perceive = [](void*, hob_cognition_call* call) {
            const auto* const pixels = static_cast<const uint8_t*>(call->inputs[0].pixels);
            call->value.pointer = new int(pixels[0]);
            call->value.words[1] = static_cast<uint64_t>(++made);
            return HOB_RESULT_OK;
        };
        cognition.is_equal = [](void*, const hob_value* one, const hob_value* other) -> uint32_t {
            return *static_cast<int*>(one->pointer) == *static_cast<int*>(other->pointer);
        };
        cognition.release_value = [](void*, const hob_value* value) {
            ++released;
            delete static_cast<int*>(value->pointer);
        };
        hob_cognition_id id = {0, 0};
        ENSURE_OK(hob_perception_add_cognition(eye.get(), &cognition, &id));
        const auto reader = pipeline(eye, {step(id, {0, 0, 4, 4})});
        Screen screen;
        for (int frame = 0; frame < 30; ++frame) {
            screen.at(0, 0) = static_cast<uint8_t>(frame / 3);
            screen.at(2, 2) = static_cast<uint8_t>(frame);  // a change that does not matter
            screen.show(eye);
            hob_value value = {{0, 0}};
            const hob_result result = hob_perception_query(eye.get(), reader, 3, &value);
            ENSURE(result == (frame % 3 == 2 ? HOB_RESULT_OK : HOB_RESULT_NO_CONSENSUS));
            if (result == HOB_RESULT_OK) ENSURE(*static_cast<int*>(value.pointer) == frame / 3);
        }
        ENSURE(made >= 30 && made - released <= 4);
    }
    ENSURE(made == released);
}

TEST("perception: moved pixels have the results of their old place") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto reader = add(eye, sum, HOB_COGNITION_PURE | HOB_COGNITION_INVARIANT);
    std::vector<hob_perception_pipeline_id> rows;
    for (uint32_t row = 0; row < 11; ++row) rows.push_back(pipeline(eye, {step(reader, {0, row * 17, width, 17})}));
    Screen screen;
    for (uint32_t frame = 0; frame < 20; ++frame) {
        const uint32_t runs = sum.runs;
        std::memmove(&screen.at(0, 0), &screen.at(0, 17), width * 17 * 10 * 4);
        std::memset(&screen.at(0, 170), static_cast<int>(frame + 1), width * 17 * 4);
        hob_frame now = screen.frame();
        const hob_frame_move move = {{0, 17, width, 170}, 0, 0};
        now.moves = &move;
        now.move_count = 1;
        ENSURE_OK(hob_perception_begin_frame(eye.get(), &now, nullptr));
        for (uint32_t row = 0; row < 11; ++row) {
            const uint32_t painted = frame + 1 + row >= 11 ? frame + 1 + row - 10 : 0;
            ENSURE(number(eye, rows[row]) == painted * width * 17.0);
        }
        if (frame > 0) ENSURE(sum.runs - runs <= 1);
    }
    ENSURE(statistics(eye).moves >= 19 * 10 - 60);
}

TEST("perception: a wrong hint is found, and then hints are not trusted") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto id = pipeline(eye, {step(add(eye, sum))});
    Screen screen;
    screen.show(eye);
    (void)outcome(eye, id);
    int found = -1;
    for (int frame = 0; frame < 80; ++frame) {
        screen.at(200, 150) = static_cast<uint8_t>(frame + 1);
        hob_frame now = screen.frame();
        const hob_rect wrong = {0, 0, 10, 10};
        now.dirty = &wrong;
        now.dirty_count = 1;
        now.trust = HOB_FRAME_TRUST_AUDIT;
        ENSURE_OK(hob_perception_begin_frame(eye.get(), &now, nullptr));
        const bool is_right = number(eye, id) == frame + 1;
        if (statistics(eye).is_distrusted == 1) {
            if (found < 0) found = frame;
            ENSURE(is_right);
        }
    }
    ENSURE(found >= 0 && found < 60);
}

TEST("perception: a wrong hint about pixels that flip in a rhythm is found") {
    for (const uint32_t rhythm : {1u, 2u, 4u}) {
        const auto desc = grafting();
        const Eye eye = make_eye(&desc);
        Sum sum;
        (void)pipeline(eye, {step(add(eye, sum))});
        Screen screen;
        uint32_t frame = 0;
        for (; frame < 400 && statistics(eye).is_distrusted == 0; ++frame) {
            screen.at(100, 100) = static_cast<uint8_t>(frame / rhythm % 2);
            hob_frame now = screen.frame();
            const hob_rect none = {0, 0, 0, 0};
            now.dirty = &none;
            now.trust = HOB_FRAME_TRUST_AUDIT;
            ENSURE_OK(hob_perception_begin_frame(eye.get(), &now, nullptr));
        }
        ENSURE(frame < 200);
    }
}

TEST("perception: a cognition that reads outside of its region is found by the audit") {
    auto desc = grafting();
    desc.audit_share = 0.02;
    const Eye eye = make_eye(&desc);
    hob_cognition_desc liar = HOB_COGNITION_DESC_INIT;
    liar.flags = HOB_COGNITION_PURE;
    liar.perceive = [](void*, hob_cognition_call* call) {
        call->value.number = static_cast<const uint8_t*>(call->inputs[0].pixels)[10 * 4];
        return HOB_RESULT_OK;
    };
    hob_cognition_id id = {0, 0};
    const uint32_t flags = liar.flags;
    liar.flags |= 1u << 31;
    ENSURE(hob_perception_add_cognition(eye.get(), &liar, &id) == HOB_RESULT_UNSUPPORTED && last_error_has("flags"));
    liar.flags = flags;
    ENSURE_OK(hob_perception_add_cognition(eye.get(), &liar, &id));
    const auto lies = pipeline(eye, {step(id, {0, 0, 8, 8})});
    Sum sum;
    const auto watched = pipeline(eye, {step(add(eye, sum), {0, 0, 20, 8})});
    Screen screen;
    int found = -1;
    for (int frame = 0; frame < 200 && found < 0; ++frame) {
        screen.at(10, 0) = static_cast<uint8_t>(frame / 10);
        screen.show(eye);
        (void)outcome(eye, lies);
        (void)outcome(eye, watched);
        if (statistics(eye).findings > 0) found = frame;
    }
    ENSURE(found >= 0 && statistics(eye).findings == 1);
}

TEST("perception: calls from a cognition are refused, and a destroyed one does nothing") {
    static hob_perception* inside;
    static hob_result result;
    const Eye eye = make_eye();
    inside = eye.get();
    hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
    cognition.perceive = [](void*, hob_cognition_call*) {
        hob_frame frame = HOB_FRAME_INIT;
        result = hob_perception_begin_frame(inside, &frame, nullptr);
        hob_perception_destroy(inside);
        return HOB_RESULT_OK;
    };
    hob_cognition_id id = {0, 0};
    ENSURE_OK(hob_perception_add_cognition(eye.get(), &cognition, &id));
    const auto reader = pipeline(eye, {step(id, {0, 0, 4, 4})});
    Screen screen;
    screen.show(eye);
    result = HOB_RESULT_OK;
    ENSURE(number(eye, reader) == 0 && result != HOB_RESULT_OK);
    screen.show(eye);
    ENSURE(number(eye, reader) == 0);
}

TEST("perception: a warm frame does not allocate") {
    const Executor pool = make_pool(1);
    auto desc = grafting();
    desc.prefetch_divisor = UINT32_MAX;
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto reader = pipeline(eye, {step(add(eye, sum), {0, 0, 20, 20})});
    const auto mask = pipeline(eye, {step(add(eye, HOB_OPERATOR_THRESHOLD, 20), {8, 8, 160, 160})});
    const auto count = pipeline(eye, {step(add(eye, HOB_OPERATOR_COUNT_NON_ZERO))}, {mask});
    Screen screen;
    const auto play = [&](int frame) {
        screen.at(9, 9) = static_cast<uint8_t>(frame * 40);
        screen.show(eye, pool.get());
        (void)outcome(eye, reader, 3);
        (void)outcome(eye, count, 2);
    };
    for (int frame = 0; frame < 50; ++frame) play(frame);
    const auto before = malloc_calls();
    for (int frame = 0; frame < 200; ++frame) play(frame / 3);
    ENSURE(malloc_calls() == before);
}
