#include "pictures.h"

#include <filesystem>
#include <stdexcept>

#include "png.h"

namespace frame_budget {

namespace {

std::string file_name(int frame, std::string what) {
    for (char& c : what)
        if (c == ' ' || c == '/') c = '-';
    const std::string digits = std::to_string(frame);
    return "frame_" + std::string(5 - std::min<std::size_t>(digits.size(), 5), '0') + digits + "_" + what + ".png";
}

/// The same third of each picture, side by side: as wide as one of them.
Image strip_of(const std::vector<const Image*>& images) {
    const std::size_t width = static_cast<std::size_t>(images.front()->width),
                      height = static_cast<std::size_t>(images.front()->height);
    const std::size_t part = width / images.size(), from = width * 2 / 5, border = 2;
    Image strip{static_cast<int>(part * images.size()), images.front()->height, {}};
    strip.rgb.reserve(part * images.size() * height * 3);
    for (std::size_t y = 0; y < height; ++y)
        for (const Image* image : images)
            for (std::size_t x = 0; x < part; ++x)
                for (std::size_t channel = 0; channel < 3; ++channel) {
                    const bool is_border = image != images.front() && x < border;
                    strip.rgb.push_back(is_border ? std::uint8_t{255}
                                                  : image->rgb[(y * width + from + x) * 3 + channel]);
                }
    return strip;
}

} // namespace

Pictures::Pictures(std::string the_directory, int frame_count) : directory(std::move(the_directory)) {
    if (directory.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) throw std::runtime_error("cannot make the directory " + directory + ": " + error.message());
    // The empty scene, half-way, the crowd, the crowd in the mist, the way back, the mist alone.
    for (double part : {0.15, 0.27, 0.41, 0.51, 0.70, 0.88})
        frames_to_show.push_back(static_cast<int>(part * frame_count));
}

void Pictures::take(Renderer& renderer, int frame, const std::string& contestant) {
    if (std::find(frames_to_show.begin(), frames_to_show.end(), frame) == frames_to_show.end()) return;
    const Image& image = images[frame][contestant] = renderer.read_image();
    write_png((std::filesystem::path(directory) / file_name(frame, contestant)).string(), image);
}

void Pictures::write_strips(const std::string& left, const std::string& middle, const std::string& right) const {
    for (const auto& [frame, by_contestant] : images) {
        std::vector<const Image*> three;
        for (const std::string& name : {left, middle, right})
            if (const auto found = by_contestant.find(name); found != by_contestant.end())
                three.push_back(&found->second);
        if (three.size() == 3)
            write_png((std::filesystem::path(directory) / file_name(frame, "strip")).string(), strip_of(three));
    }
}

} // namespace frame_budget
