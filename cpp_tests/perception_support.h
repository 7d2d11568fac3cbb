// Perceptions for tests: pictures to look at, and a cognition that counts its runs. MIT OR Apache-2.0.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "support.h"

namespace support {
namespace eyes {

constexpr uint32_t width = 320, height = 200;

struct DestroyEye {
    void operator()(hob_perception* eye) const { hob_perception_destroy(eye); }
};
using Eye = std::unique_ptr<hob_perception, DestroyEye>;

inline Eye make_eye(const hob_perception_desc* desc = nullptr) {
    hob_perception* eye = nullptr;
    ENSURE_OK(hob_perception_create(desc, &eye));
    return Eye(eye);
}

/// Always takes results over.
inline hob_perception_desc grafting() {
    hob_perception_desc desc = HOB_PERCEPTION_DESC_INIT;
    desc.graft = HOB_PERCEPTION_CHOICE_ALWAYS;
    return desc;
}

/// A picture that is shown to an eye.
struct Screen {
    std::vector<uint8_t> pixels = std::vector<uint8_t>(width * height * 4);

    uint8_t& at(uint32_t x, uint32_t y) { return pixels[(y * width + x) * 4]; }
    hob_frame frame() const {
        hob_frame frame = HOB_FRAME_INIT;
        frame.pixels = pixels.data();
        frame.width = width;
        frame.height = height;
        return frame;
    }
    void show(const Eye& eye, const hob_executor* executor = nullptr) const {
        const hob_frame now = frame();
        ENSURE_OK(hob_perception_begin_frame(eye.get(), &now, executor));
    }
};

/// Counts its runs, and sums the first bytes of the pixels.
struct Sum {
    uint32_t runs = 0;
    hob_result result = HOB_RESULT_OK;

    static hob_result perceive(void* self, hob_cognition_call* call) {
        Sum& sum = *static_cast<Sum*>(self);
        ++sum.runs;
        ENSURE(call->struct_size == sizeof *call && call->input_stride == sizeof *call->inputs);
        const hob_cognition_input& input = call->inputs[0];
        const auto* const pixels = static_cast<const uint8_t*>(input.pixels);
        for (uint32_t y = 0; y < input.height; ++y) {
            for (uint32_t x = 0; x < input.width; ++x) call->value.number += pixels[y * input.stride + x * 4];
        }
        if (sum.result != HOB_RESULT_OK) std::snprintf(call->message, call->message_capacity, "no digits");
        return sum.result;
    }
};

inline hob_cognition_id add(const Eye& eye, Sum& sum, uint32_t flags = HOB_COGNITION_PURE) {
    hob_cognition_desc desc = HOB_COGNITION_DESC_INIT;
    desc.name = HOB_STR("sum");
    desc.flags = flags;
    desc.perceive = &Sum::perceive;
    desc.user_data = &sum;
    hob_cognition_id id = {0, 0};
    ENSURE_OK(hob_perception_add_cognition(eye.get(), &desc, &id));
    return id;
}

inline hob_cognition_id add(const Eye& eye, hob_operator kind, uint32_t parameter = 0) {
    hob_operator_desc desc = HOB_OPERATOR_DESC_INIT;
    desc.kind = kind;
    desc.level = desc.radius = desc.factor = parameter;
    hob_cognition_id id = {0, 0};
    ENSURE_OK(hob_perception_add_operator(eye.get(), &desc, &id));
    return id;
}

inline hob_perception_pipeline_id pipeline(const Eye& eye, const std::vector<hob_perception_step>& steps,
                                           const std::vector<hob_perception_pipeline_id>& inputs = {}) {
    hob_perception_pipeline_desc desc = HOB_PERCEPTION_PIPELINE_DESC_INIT;
    desc.steps = steps.data();
    desc.step_count = static_cast<uint32_t>(steps.size());
    desc.inputs = inputs.data();
    desc.input_count = static_cast<uint32_t>(inputs.size());
    hob_perception_pipeline_id id = {0, 0};
    ENSURE_OK(hob_perception_add_pipeline(eye.get(), &desc, &id));
    return id;
}

inline hob_perception_step step(hob_cognition_id cognition, hob_rect region = {0, 0, 0, 0}) {
    return {cognition, region, nullptr, 0, 0, 0};
}

inline double number(const Eye& eye, hob_perception_pipeline_id id, uint32_t frames = 1) {
    hob_value value = {{0, 0}};
    ENSURE_OK(hob_perception_query(eye.get(), id, frames, &value));
    return value.number;
}

inline hob_result outcome(const Eye& eye, hob_perception_pipeline_id id, uint32_t frames = 1) {
    hob_value value = {{0, 0}};
    return hob_perception_query(eye.get(), id, frames, &value);
}

inline std::string failure(const Eye& eye, hob_perception_pipeline_id id) {
    char text[300] = {};
    ENSURE_OK(hob_perception_get_failure(eye.get(), id, text, sizeof text, nullptr));
    return text;
}

inline hob_perception_statistics statistics(const Eye& eye) {
    hob_perception_statistics all = HOB_PERCEPTION_STATISTICS_INIT;
    ENSURE_OK(hob_perception_get_statistics(eye.get(), &all));
    return all;
}

}  // namespace eyes
}  // namespace support
