// Perceptions for debugging: the overlay, counts as JSON, and the fit of glyphs.
#include <cstring>

#include "perception_support.h"

using namespace support;
using namespace support::eyes;

namespace {

/// The frame as a picture, with the overlay over it.
std::vector<uint8_t> overlay(const Eye& eye, const Screen& screen) {
    std::vector<uint8_t> picture = screen.pixels;
    hob_image target = HOB_IMAGE_INIT;
    target.pixels = picture.data();
    target.width = width;
    target.height = height;
    ENSURE_OK(hob_perception_draw_overlay(eye.get(), &target));
    return picture;
}

}  // namespace

TEST("perception: the overlay outlines regions by their changes") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto id = add(eye, sum);
    for (const hob_rect& rect : {hob_rect{200, 100, 20, 10}, {210, 105, 20, 10}, {250, 100, 20, 10}, {280, 100, 8, 8}})
        (void)pipeline(eye, {step(id, rect)});
    Screen screen;
    screen.show(eye);
    screen.at(225, 110) = 99;  // in the second region only
    screen.show(eye);
    const auto picture = overlay(eye, screen);
    const auto color = [&](uint32_t x, uint32_t y) {
        const uint8_t* const at = &picture[(y * width + x) * 4];
        return at[0] > 100 ? "blue" : at[2] > 200 ? at[1] > 200 ? "yellow" : "red" : at[1] > 200 ? "green" : "none";
    };
    const auto is = [&](uint32_t x, uint32_t y, const char* name) { return std::strcmp(color(x, y), name) == 0; };
    ENSURE(is(200, 100, "yellow") && is(200, 109, "yellow") && is(219, 100, "yellow"));
    ENSURE(is(210, 105, "red") && is(229, 114, "red") && is(210, 109, "red") && is(219, 105, "red"));
    ENSURE(is(250, 100, "green") && is(269, 109, "green") && is(280, 107, "green"));
    ENSURE(is(201, 101, "none") && is(249, 100, "none") && is(270, 109, "none") && is(225, 109, "none"));
    ENSURE(picture[(110 * width + 225) * 4] == 99);
}

TEST("perception: the overlay has counts and variations as text") {
    auto desc = grafting();
    desc.history = 4;
    const Eye eye = make_eye(&desc);
    Sum sum;
    const auto reader = pipeline(eye, {step(add(eye, sum), {200, 100, 20, 10})});
    Screen screen;
    const auto lines = [&] {
        const auto picture = overlay(eye, screen);
        uint32_t count = 0;
        for (uint32_t y = 1; y < 90; y += 6)  // a line is 6 rows high
            for (uint32_t at = y * width * 4; at < (y + 5) * width * 4; ++at)
                if (picture[at] == 240) {
                    ++count;
                    break;
                }
        return count;
    };
    screen.show(eye);
    (void)outcome(eye, reader);
    const uint32_t without = lines();
    (void)outcome(eye, reader, 3);
    ENSURE(without == 2 && lines() == without + 1);
}

TEST("perception: the overlay refuses targets that are no picture of the frame") {
    const Eye eye = make_eye();
    std::vector<uint8_t> picture(width * height * 4);
    hob_image target = HOB_IMAGE_INIT;
    target.pixels = picture.data();
    target.width = width;
    target.height = height;
    ENSURE(hob_perception_draw_overlay(eye.get(), &target) == HOB_RESULT_NOT_FOUND);
    Screen().show(eye);
    ENSURE_OK(hob_perception_draw_overlay(eye.get(), &target));
    target.height = height - 1;
    ENSURE(hob_perception_draw_overlay(eye.get(), &target) == HOB_RESULT_INVALID_ARGUMENT);
    target.height = height;
    for (const auto format : {HOB_PIXEL_FORMAT_RGBX8, HOB_PIXEL_FORMAT_GRAY8, HOB_PIXEL_FORMAT_NV12}) {
        target.format = format;
        target.chroma = picture.data();
        ENSURE(hob_perception_draw_overlay(eye.get(), &target) == HOB_RESULT_INVALID_ARGUMENT);
    }
    target.format = HOB_PIXEL_FORMAT_BGRA8;
    ENSURE_OK(hob_perception_draw_overlay(eye.get(), &target));
}

TEST("perception: JSON has all counts and the pipelines") {
    const auto desc = grafting();
    const Eye eye = make_eye(&desc);
    Sum sum;
    hob_perception_step reads = step(add(eye, sum), {200, 100, 20, 10});
    hob_perception_pipeline_desc options = HOB_PERCEPTION_PIPELINE_DESC_INIT;
    options.name = HOB_STR("a \"name\"");
    options.state = HOB_STR("play");
    options.steps = &reads;
    options.step_count = 1;
    hob_perception_pipeline_id reader = {0, 0};
    ENSURE_OK(hob_perception_add_pipeline(eye.get(), &options, &reader));
    Screen screen;
    for (int frame = 0; frame < 3; ++frame) {
        screen.show(eye);
        (void)outcome(eye, reader);
    }
    std::size_t size = 0;
    ENSURE_OK(hob_perception_save_json(eye.get(), nullptr, 0, &size));
    std::string json(size, ' ');
    ENSURE(hob_perception_save_json(eye.get(), &json[0], size - 1, &size) == HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE_OK(hob_perception_save_json(eye.get(), &json[0], size, &size));
    for (const char* part : {"{\"is_distrusted\": 0, ", "\"pipelines\": 1, ", "\"frames\": 3, ", "\"runs\": 1, ",
                             "\"order_shares\": [", "\"name\": \"a \\\"name\\\"\", \"state\": \"play\"}\n]}\n"})
        ENSURE(json.find(part) != std::string::npos);
}

TEST("perception: frames agree on a number, even if its glyphs fit better in one of them") {
    const Eye eye = make_eye();
    uint8_t ink[8 * 8];
    for (int at = 0; at < 64; ++at) ink[at] = at % 8 < 4 ? 200 : 50;
    hob_image picture = HOB_IMAGE_INIT;
    picture.format = HOB_PIXEL_FORMAT_GRAY8;
    picture.pixels = ink;
    picture.width = picture.height = 8;
    const hob_glyph seven = {7, 0, &picture, nullptr};
    hob_operator_desc desc = HOB_OPERATOR_DESC_INIT;
    desc.kind = HOB_OPERATOR_GLYPHS;
    desc.glyphs = &seven;
    desc.glyph_count = 1;
    desc.tolerance = 30;
    hob_cognition_id id = {0, 0};
    ENSURE_OK(hob_perception_add_operator(eye.get(), &desc, &id));
    const auto reader = pipeline(eye, {step(id, {16, 16, 8, 8})});
    Screen screen;
    for (uint8_t frame = 0; frame < 6; ++frame) {
        for (uint32_t at = 0; at < 64; ++at)
            std::memset(&screen.at(16 + at % 8, 16 + at / 8), ink[at] + 2 * frame, 4);
        screen.show(eye);
        hob_value value = {{0, 0}};
        const hob_result result = hob_perception_query(eye.get(), reader, 3, &value);
        ENSURE(result == (frame < 2 ? HOB_RESULT_NO_CONSENSUS : HOB_RESULT_OK));
        if (result == HOB_RESULT_OK) ENSURE(value.integer == 7 && static_cast<uint32_t>(value.words[1]) == 1);
    }
}

namespace {

/// An `_init` function writes the size, and refuses NULL and a size below `first`, the first released one.
template <class T>
void starts(hob_result (*init)(T*, uint32_t), uint32_t first) {
    T value;
    ENSURE_OK(init(&value, sizeof value));
    ENSURE(value.struct_size == sizeof value);
    ENSURE(init(&value, first - 1) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(init(nullptr, sizeof value) == HOB_RESULT_INVALID_ARGUMENT);
}

}  // namespace

TEST("perception: structs start with their defaults") {
    starts(&hob_image_init, 48);
    starts(&hob_perception_desc_init, 48);
    starts(&hob_cognition_call_init, 136);
    starts(&hob_cognition_desc_init, 88);
    starts(&hob_operator_desc_init, 96);
    starts(&hob_perception_pipeline_desc_init, 72);
    starts(&hob_frame_init, 80);
    starts(&hob_perception_statistics_init, 256);
    starts(&hob_perception_pipeline_statistics_init, 40);
    hob_cognition_call call;
    ENSURE_OK(hob_cognition_call_init(&call, sizeof call));
    ENSURE(call.image_chroma_stride == 0 && HOB_COGNITION_CALL_INIT.image_chroma_stride == 0);
}
