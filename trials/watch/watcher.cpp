#include "watcher.h"

#include <chrono>

#include "../common/interrupt.h"

namespace watch {

namespace {

constexpr std::uint32_t most_digits = 3;

hob_perception_desc description_of(const Method& method) {
    hob_perception_desc desc = HOB_PERCEPTION_DESC_INIT;
    desc.history = most_agreement - 1;
    desc.prefetch = method.prefetch;
    desc.graft = method.graft;
    return desc;
}

/// The built-in cognition that compares glyphs. The perception copies the pictures.
hob_cognition_id add_reader(hob::Perception& eye, const std::vector<Glyph>& glyphs, const Options& options) {
    std::vector<hob_image> images;
    for (const Glyph& glyph : glyphs) {
        hob_image image = HOB_IMAGE_INIT;
        image.pixels = glyph.pixels.data();
        image.width = glyph.width;
        image.height = glyph.height;
        images.push_back(image);
        image.format = HOB_PIXEL_FORMAT_GRAY8;
        image.pixels = glyph.mask.data();
        images.push_back(image);
    }
    std::vector<hob_glyph> pictures;
    for (std::size_t i = 0; i < glyphs.size(); ++i)
        pictures.push_back({glyphs[i].digit, 0, &images[2 * i], &images[2 * i + 1]});
    hob_operator_desc desc = HOB_OPERATOR_DESC_INIT;
    desc.kind = HOB_OPERATOR_GLYPHS;
    desc.name = HOB_STR("read");
    desc.flags = HOB_OPERATOR_COLOR | HOB_OPERATOR_RIGHT;
    desc.glyphs = pictures.data();
    desc.glyph_count = static_cast<std::uint32_t>(pictures.size());
    desc.max_digits = most_digits;
    desc.tolerance = options.tolerance;
    desc.correlation = options.correlation;
    return eye.add_operator(desc);
}

} // namespace

Watcher::Watcher(const Options& options, const std::vector<Glyph>& glyphs, const Method& method)
    : eye(description_of(method)) {
    if (method.workers > 1) executor = std::make_unique<hob::Executor>(hob::Executor::create_pool(method.workers - 1));
    const hob_cognition_id reader = add_reader(eye, glyphs, options);
    const Glyph& glyph = glyphs.front();
    for (const Field& field : options.fields) {
        const std::uint32_t width = std::min(field.right, most_digits * glyph.width);
        const hob_rect region = {field.right - width, field.top, width, glyph.height};
        pipelines.push_back(eye.add_pipeline({field.name, "status bar"}, {hob::step(reader, region)}));
    }
}

void Watcher::show(const Clip& clip, std::size_t number) {
    hob_frame frame = HOB_FRAME_INIT;
    frame.pixels = clip.frames[number].data();
    frame.width = clip.width;
    frame.height = clip.height;
    if (executor) eye.begin_frame(frame, *executor);
    else eye.begin_frame(frame);
}

std::int64_t Watcher::read(std::size_t field, std::uint32_t agreement) {
    const auto value = eye.query(pipelines[field], agreement);
    return value ? value->integer : no_label;
}

std::vector<std::uint8_t> Watcher::overlay(const Clip& clip, std::size_t frame) const {
    std::vector<std::uint8_t> picture = clip.frames[frame], rgb;
    hob_image target = HOB_IMAGE_INIT;
    target.pixels = picture.data();
    target.width = clip.width;
    target.height = clip.height;
    eye.draw_overlay(target);
    for (std::size_t at = 0; at < picture.size(); at += 4) rgb.insert(rgb.end(), {picture[at + 2], picture[at + 1], picture[at]});
    return rgb;
}

Run run(const Options& options, const Clip& clip, const std::vector<Glyph>& glyphs, const Method& method,
        bool with_agreement, const std::function<void(const Watcher&, std::size_t)>& after_frame) {
    Watcher watcher(options, glyphs, method);
    const std::size_t fields = options.fields.size();
    Run run;
    run.answers.resize(fields);
    run.agreed.assign(with_agreement ? most_agreement - 1 : 0, Labels(fields));
    for (std::size_t frame = 0; frame < clip.frames.size() && !trials::interrupted(); ++frame) {
        const auto start = std::chrono::steady_clock::now();
        watcher.show(clip, frame);
        for (std::size_t field = 0; field < fields; ++field) run.answers[field].push_back(watcher.read(field, 1));
        run.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        for (std::uint32_t i = 0; i < run.agreed.size(); ++i)
            for (std::size_t field = 0; field < fields; ++field) run.agreed[i][field].push_back(watcher.read(field, i + 2));
        if (after_frame) after_frame(watcher, frame);
    }
    run.statistics = watcher.statistics();
    run.json = watcher.json();
    return run;
}

} // namespace watch
