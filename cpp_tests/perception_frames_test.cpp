// Frames that stay in the host's memory, and expected durations.
#include <cstring>
#include <deque>
#include <memory>
#include <random>

#include "executor_support.h"
#include "malloc_count.h"
#include "perception_support.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

using namespace support;
using namespace support::eyes;

namespace {

hob_perception_desc borrowing(uint32_t history) {
    auto desc = grafting();
    desc.history = history;
    desc.borrows_frames = 1;
    return desc;
}

/// Memory of a frame. Where the system has pages, reading it after its end crashes.
class Buffer {
public:
    explicit Buffer(const Screen& screen) : size_(screen.pixels.size()) {
#if defined(__unix__) || defined(__APPLE__)
        pixels_ = static_cast<uint8_t*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0));
        ENSURE(pixels_ != MAP_FAILED);
#else
        pixels_ = new uint8_t[size_];
#endif
        std::memcpy(pixels_, screen.pixels.data(), size_);
#if defined(__unix__) || defined(__APPLE__)
        ENSURE(mprotect(pixels_, size_, PROT_READ) == 0);  // the library does not write to it
#endif
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
#if defined(__unix__) || defined(__APPLE__)
        munmap(pixels_, size_);
#else
        delete[] pixels_;
#endif
    }
    hob_frame frame() const {
        hob_frame frame = HOB_FRAME_INIT;
        frame.pixels = pixels_;
        frame.width = width;
        frame.height = height;
        return frame;
    }

private:
    size_t size_;
    uint8_t* pixels_ = nullptr;
};

/// Two eyes with the same pipelines: one copies, the other borrows.
struct Pair {
    Sum sums[2][3];
    std::vector<hob_perception_pipeline_id> ids[2];
    Eye eyes[2];

    explicit Pair(uint32_t history) {
        for (int borrows = 0; borrows < 2; ++borrows) {
            auto desc = borrowing(history);
            desc.borrows_frames = static_cast<uint32_t>(borrows);
            if (history != 2) desc.prefetch = HOB_PERCEPTION_CHOICE_NEVER;
            const Eye& eye = eyes[borrows] = make_eye(&desc);
            auto& all = ids[borrows];
            all.push_back(pipeline(eye, {step(add(eye, sums[borrows][0]), {0, 0, 30, 30})}));
            const auto mask = add(eye, HOB_OPERATOR_THRESHOLD, 100), blur = add(eye, HOB_OPERATOR_BOX, 2);
            all.push_back(pipeline(eye, {step(mask, {8, 8, 90, 60}), step(add(eye, HOB_OPERATOR_COUNT_NON_ZERO))}));
            all.push_back(pipeline(eye, {step(blur, {61, 31, 99, 77}), step(add(eye, HOB_OPERATOR_MEAN))}));
            auto tolerant = step(add(eye, sums[borrows][1]), {0, 0, 40, 40});
            tolerant.tolerance = 9;
            all.push_back(pipeline(eye, {tolerant}));
            all.push_back(pipeline(eye, {step(add(eye, sums[borrows][2], 0), {3, 3, 4, 4})}));
        }
    }
};

}  // namespace

TEST("perception: borrowed frames give the answers of copied ones, and no other frame is read") {
    for (const uint32_t history : {1u, 2u, 5u}) {
        Pair pair(history);
        std::minstd_rand random(history);
        const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
        std::deque<std::unique_ptr<Buffer>> buffers;
        Screen screen;
        const Executor pool = make_pool(2);
        uint32_t agreed = 0;
        for (int number = 0; number < 120; ++number) {
            for (uint32_t edits = below(3); edits > 0; --edits) {
                const uint32_t x = below(100), y = below(60);
                std::memset(&screen.at(x, y), static_cast<int>(below(256)), 4 * (1 + below(60)));
            }
            if (number % 40 == 39) std::memset(&screen.at(0, 0), number, width * height * 4);
            buffers.push_back(std::make_unique<Buffer>(screen));
            if (buffers.size() > history + 1) buffers.pop_front();
            hob_frame copied = screen.frame(), lent = buffers.back()->frame();
            const hob_rect dirty = {0, 0, width, height};
            if (number % 5 == 0) {
                copied.dirty = lent.dirty = &dirty;
                copied.dirty_count = lent.dirty_count = 1;
            }
            if (number >= 60 && number < 70) copied.height = lent.height = 150;  // begins anew, twice
            const hob_executor* const executor = number % 2 == 0 ? pool.get() : nullptr;
            ENSURE_OK(hob_perception_begin_frame(pair.eyes[0].get(), &copied, executor));
            ENSURE_OK(hob_perception_begin_frame(pair.eyes[1].get(), &lent, executor));
            for (size_t n = 0; n < pair.ids[0].size(); ++n) {
                if (below(3) == 0) continue;
                const uint32_t frames = 1 + below(history + 1), age = below(history + 1);
                hob_value one = {{0, 0}}, other = {{0, 0}};
                const auto result = hob_perception_query(pair.eyes[0].get(), pair.ids[0][n], frames, &one);
                ENSURE(hob_perception_query(pair.eyes[1].get(), pair.ids[1][n], frames, &other) == result);
                ENSURE(result != HOB_RESULT_OK || std::memcmp(&one, &other, sizeof one) == 0);
                agreed += result == HOB_RESULT_OK && frames > 1;
                const auto past = hob_perception_query_past(pair.eyes[0].get(), pair.ids[0][n], age, &one);
                ENSURE(hob_perception_query_past(pair.eyes[1].get(), pair.ids[1][n], age, &other) == past);
                ENSURE(past != HOB_RESULT_OK || std::memcmp(&one, &other, sizeof one) == 0);
            }
        }
        const auto copied = statistics(pair.eyes[0]), lent = statistics(pair.eyes[1]);
        ENSURE(copied.copied_bytes > 0 && lent.copied_bytes == 0 && agreed > 20);
        ENSURE(lent.runs == copied.runs && lent.past_runs == copied.past_runs);
        ENSURE(history == 2 ? lent.prefetch_runs > 0 : lent.past_runs > 0);
        // The copies alone are larger than all that a borrowing perception has.
        ENSURE(lent.memory_used + (history + 1) * width * 150 * 4 <= copied.memory_used);
        buffers.clear();
    }  // destroyed after the end of its frames
}

TEST("perception: a borrowed frame in memory that must not change is refused") {
    const auto desc = borrowing(2);
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto id = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
    Screen screens[3];
    for (int n = 0; n < 3; ++n) {
        screens[n].at(1, 1) = static_cast<uint8_t>(n + 1);
        screens[n].show(eye);
        ENSURE(number(eye, id) == n + 1);
    }
    for (const int n : {2, 1}) {
        const hob_frame frame = screens[n].frame();
        ENSURE(hob_perception_begin_frame(eye.get(), &frame, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
        ENSURE(last_error_has(n == 2 ? "in the memory of the frame 1 before" : "in the memory of the frame 2 before"));
        ENSURE(last_error_has("rotate 3 buffers") && number(eye, id) == 3 && statistics(eye).frames == 3);
    }
    screens[0].at(1, 1) = 9;
    screens[0].show(eye);
    ENSURE(number(eye, id) == 9);
}

TEST("perception: borrowed frames are only as many as promised, and hints about them are not trusted") {
    const auto desc = borrowing(2);
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto id = pipeline(eye, {step(add(eye, sum), {0, 0, 8, 8})});
    Screen screens[3];
    for (int n = 0; n < 9; ++n) {
        screens[n % 3].at(1, 1) = static_cast<uint8_t>(n / 3);
        screens[n % 3].show(eye);
        ENSURE(number(eye, id) == n / 3);
        ENSURE(outcome(eye, id, 3) == (n % 3 == 2 ? HOB_RESULT_OK : HOB_RESULT_NO_CONSENSUS));
    }
    ENSURE(outcome(eye, id, 4) == HOB_RESULT_LIMIT_EXCEEDED && last_error_has("3 past frames: the host promised to keep 2"));
    hob_value value = {{0, 0}};
    ENSURE(hob_perception_query_past(eye.get(), id, 3, &value) == HOB_RESULT_LIMIT_EXCEEDED);
    hob_frame frame = screens[0].frame();
    frame.trust = HOB_FRAME_TRUST_AUDIT;
    ENSURE(hob_perception_begin_frame(eye.get(), &frame, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(last_error_has("only if frames are copied") && statistics(eye).frames == 9);
}

TEST("perception: a warm frame that is borrowed does not allocate") {
    const auto desc = borrowing(1);
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto reader = pipeline(eye, {step(add(eye, sum), {0, 0, 20, 20})});
    Screen screens[2];
    const auto play = [&](int frame) {
        screens[frame % 2].at(9, 9) = static_cast<uint8_t>(frame / 3);
        screens[frame % 2].show(eye);
        (void)outcome(eye, reader, 2);
    };
    for (int frame = 0; frame < 50; ++frame) play(frame);
    const auto before = malloc_calls();
    for (int frame = 0; frame < 200; ++frame) play(frame);
    ENSURE(malloc_calls() == before);
}

TEST("perception: expected durations split the first frame over threads") {
    struct Looking {
        std::atomic<int> alone{0}, together{0};
        static hob_result perceive(void* self, hob_cognition_call* call) {
            auto& looking = *static_cast<Looking*>(self);
            ++(call->executor != nullptr ? looking.alone : looking.together);
            return HOB_RESULT_OK;
        }
    };
    const Executor pool = make_pool(3);
    for (const uint32_t cost_ns : {0u, 1000u, 1000000u}) {
        auto desc = grafting();
        desc.prefetch = HOB_PERCEPTION_CHOICE_ALWAYS;
        const Eye eye = make_eye(&desc);
        Looking looking;
        hob_cognition_desc cognition = HOB_COGNITION_DESC_INIT;
        cognition.flags = HOB_COGNITION_PURE;
        cognition.perceive = &Looking::perceive;
        cognition.user_data = &looking;
        cognition.cost_ns = cost_ns;
        hob_cognition_id id = {0, 0};
        ENSURE_OK(hob_perception_add_cognition(eye.get(), &cognition, &id));
        std::vector<hob_perception_pipeline_id> pipelines;
        for (uint32_t n = 0; n < 8; ++n) pipelines.push_back(pipeline(eye, {step(id, {n * 10, 0, 10, 10})}));
        hob_perception_pipeline_statistics found = HOB_PERCEPTION_PIPELINE_STATISTICS_INIT;
        ENSURE_OK(hob_perception_get_pipeline_statistics(eye.get(), pipelines[0], &found));
        ENSURE(found.mean_ns == 0);  // only what was measured
        Screen screen;
        screen.show(eye, pool.get());
        ENSURE(looking.alone + looking.together == 8);
        ENSURE(looking.alone == (cost_ns == 1000 ? 8 : 0));
        ENSURE_OK(hob_perception_get_pipeline_statistics(eye.get(), pipelines[0], &found));
        ENSURE(found.mean_ns > 0);
    }
}
