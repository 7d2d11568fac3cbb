// The values that the patch's nodes make, as objects that the graph owns. Equal ones count as no change.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace patch {

/// Linear light.
struct Color {
    float r = 0, g = 0, b = 0;

    bool operator==(const Color& other) const { return r == other.r && g == other.g && b == other.b; }
};

inline Color operator+(const Color& a, const Color& b) { return {a.r + b.r, a.g + b.g, a.b + b.b}; }
inline Color operator*(const Color& a, float b) { return {a.r * b, a.g * b, a.b * b}; }
inline Color mix(const Color& a, const Color& b, float part) { return a * (1 - part) + b * part; }

struct Size {
    int width = 0, height = 0;

    bool operator==(const Size& other) const { return width == other.width && height == other.height; }
    std::size_t pixels() const { return static_cast<std::size_t>(width) * static_cast<std::size_t>(height); }
};

/// One value for each pixel, top row first.
template <typename Pixel> struct Grid {
    explicit Grid(Size the_size) : size(the_size), pixels(the_size.pixels()) {}

    bool operator==(const Grid& other) const { return size == other.size && pixels == other.pixels; }
    Pixel* row(int y) { return pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width); }
    const Pixel* row(int y) const {
        return pixels.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(size.width);
    }

    Size size;
    std::vector<Pixel> pixels;
};

using Field = Grid<float>;
using Light = Grid<Color>;

/// A picture as a screen shows it: 3 bytes for each pixel.
struct Picture {
    explicit Picture(Size the_size) : size(the_size), rgb(the_size.pixels() * 3) {}

    bool operator==(const Picture& other) const { return size == other.size && rgb == other.rgb; }

    Size size;
    std::vector<std::uint8_t> rgb;
};

} // namespace patch
