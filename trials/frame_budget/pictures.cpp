#include "pictures.h"

#include <filesystem>
#include <stdexcept>

#include "../common/png.h"

namespace frame_budget {

namespace {

// The empty scene, half-way, the crowd, the crowd in the mist, the way back, the mist alone.
constexpr std::array<double, 6> parts_to_show{0.15, 0.27, 0.41, 0.51, 0.70, 0.88};

/// The same third of each picture, side by side: as wide as one of them.
Image strip_of(const std::array<Image, 3>& images) {
    const std::size_t width = static_cast<std::size_t>(images.front().width),
                      height = static_cast<std::size_t>(images.front().height);
    const std::size_t part = width / images.size(), from = width * 2 / 5, border = 2;
    Image strip{static_cast<int>(part * images.size()), images.front().height, {}};
    strip.rgb.reserve(part * images.size() * height * 3);
    for (std::size_t y = 0; y < height; ++y)
        for (const Image& image : images)
            for (std::size_t x = 0; x < part; ++x)
                for (std::size_t channel = 0; channel < 3; ++channel) {
                    const bool is_border = &image != &images.front() && x < border;
                    strip.rgb.push_back(is_border ? std::uint8_t{255}
                                                  : image.rgb[(y * width + from + x) * 3 + channel]);
                }
    return strip;
}

} // namespace

Pictures::Pictures(std::string the_directory) : directory(std::move(the_directory)) {
    if (directory.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) throw std::runtime_error("cannot make the directory " + directory + ": " + error.message());
}

void Pictures::take(Renderer& renderer, const SceneFrame& frame, double part_done) {
    if (directory.empty() || next == parts_to_show.size() || part_done < parts_to_show[next]) return;
    ++next;
    const auto with = [&](const Choices& choices) {
        FrameTag tag;
        tag.contestant = picture_only;
        tag.choices = choices;
        renderer.prepare(choices);
        renderer.render(frame, choices, tag);
        return renderer.read_image();
    };
    const Image goblin = renderer.read_image();
    const std::array<Image, 3> images{with(lowest_choices), goblin, with(highest_choices)};
    const auto write = [&](const char* name, const Image& image) {
        const std::string file = "frame_" + std::to_string(next) + "_" + name + ".png";
        trials::write_png((std::filesystem::path(directory) / file).string(), image.width, image.height, image.rgb);
    };
    write("lowest", images[0]);
    write("goblin", images[1]);
    write("highest", images[2]);
    write("strip", strip_of(images));
}

} // namespace frame_budget
