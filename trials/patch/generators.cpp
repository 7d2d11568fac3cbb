#include "generators.h"

#include <algorithm>
#include <cmath>

namespace patch {

namespace {

constexpr float turn = 6.28318531f;

float clamped(float x) { return std::min(std::max(x, 0.0f), 1.0f); }

float smooth_step(float from, float to, float x) {
    const float part = clamped((x - from) / (to - from));
    return part * part * (3 - 2 * part);
}

/// The place of a pixel's centre; see generators.h.
struct Place {
    float x, y;
};

Place place_of(int x, int y, Size size) {
    const float height = static_cast<float>(size.height);
    return {(static_cast<float>(x) + 0.5f - 0.5f * static_cast<float>(size.width)) / height,
            (static_cast<float>(y) + 0.5f) / height - 0.5f};
}

/// Oklab (Björn Ottosson, 2020) in polar form: steps of equal size look equal, unlike those of RGB.
Color from_oklch(float lightness, float chroma, float hue) {
    // A screen cannot show all of these colours. The next greyer one that it can show has the same hue.
    for (;; chroma *= 0.95f) {
        const float a = chroma * std::cos(hue * turn), b = chroma * std::sin(hue * turn);
        const float l = std::pow(lightness + 0.3963377774f * a + 0.2158037573f * b, 3.0f),
                    m = std::pow(lightness - 0.1055613458f * a - 0.0638541728f * b, 3.0f),
                    s = std::pow(lightness - 0.0894841775f * a - 1.2914855480f * b, 3.0f);
        const Color color = {4.0767416621f * l - 3.3077115913f * m + 0.2309699292f * s,
                             -1.2684380046f * l + 2.6097574011f * m - 0.3413193965f * s,
                             -0.0041960863f * l - 0.7034186147f * m + 1.7076147010f * s};
        if (chroma < 0.01f || std::min({color.r, color.g, color.b}) >= 0) return color;
    }
}

/// PCG (Melissa O'Neill, 2014): the same numbers on all machines, unlike std::uniform_real_distribution.
struct Random {
    std::uint32_t state;

    std::uint32_t word() {
        const std::uint32_t old = state;
        state = old * 747796405u + 2891336453u;
        const std::uint32_t mixed = ((old >> ((old >> 28) + 4)) ^ old) * 277803737u;
        return (mixed >> 22) ^ mixed;
    }
    /// 0 to 1.
    float part() { return static_cast<float>(word() >> 8) / 16777216.0f; }
};

float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }

/// Perlin's gradient noise, about -0.7 to 0.7.
float noise(const Flow& flow, float x, float y) {
    const float floor_x = std::floor(x), floor_y = std::floor(y);
    const int column = static_cast<int>(floor_x) & 255, row = static_cast<int>(floor_y) & 255;
    const float in_x = x - floor_x, in_y = y - floor_y;
    const auto slope = [&](int dx, int dy) {
        const std::size_t first = flow.order[static_cast<std::size_t>((column + dx) & 255)];
        const std::size_t at = flow.order[first + static_cast<std::size_t>((row + dy) & 255)];
        return flow.x[at] * (in_x - static_cast<float>(dx)) + flow.y[at] * (in_y - static_cast<float>(dy));
    };
    const float u = fade(in_x), v = fade(in_y);
    const float top = slope(0, 0) + u * (slope(1, 0) - slope(0, 0));
    const float bottom = slope(0, 1) + u * (slope(1, 1) - slope(0, 1));
    return top + v * (bottom - top);
}

/// Octaves of noise, as long as their cells are larger than `smallest`: finer ones would only flicker.
float octaves(const Flow& flow, float x, float y, int count, float smallest) {
    float sum = 0, amplitude = 0.5f, cell = 1;
    for (int octave = 0; octave < count; ++octave) {
        sum += amplitude * smooth_step(smallest, 2 * smallest, cell) * noise(flow, x, y);
        // A turn between octaves hides the grid.
        const float next_x = 1.6f * x + 1.2f * y + 17.3f;
        y = 1.6f * y - 1.2f * x + 9.1f;
        x = next_x;
        amplitude *= 0.5f;
        cell *= 0.5f;
    }
    return sum;
}

} // namespace

Color Palette::at(float position) const {
    const float place = clamped(position) * static_cast<float>(colors.size() - 1);
    const std::size_t below = std::min(static_cast<std::size_t>(place), colors.size() - 2);
    return mix(colors[below], colors[below + 1], place - static_cast<float>(below));
}

Palette make_palette(double hue, double mood) {
    Palette palette{};
    const float shade = static_cast<float>(hue), bright = static_cast<float>(mood);
    for (std::size_t i = 0; i < palette.colors.size(); ++i) {
        const float part = static_cast<float>(i) / static_cast<float>(palette.colors.size() - 1);
        const float lightness = 0.13f + (0.80f + 0.04f * bright) * part;
        const float chroma = 0.035f + (0.135f + 0.025f * bright) * std::sin(0.5f * turn * part);
        palette.colors[i] = from_oklch(lightness, chroma, shade + 0.50f * part);
    }
    return palette;
}

Lattice make_lattice(std::uint32_t seed) {
    Lattice lattice{};
    Random random{seed};
    for (std::size_t i = 0; i < 256; ++i) {
        lattice.order[i] = static_cast<std::uint8_t>(i);
        lattice.angles[i] = turn * random.part();
    }
    for (std::size_t i = 255; i > 0; --i) std::swap(lattice.order[i], lattice.order[random.word() % (i + 1)]);
    std::copy_n(lattice.order.begin(), 256, lattice.order.begin() + 256);
    return lattice;
}

Flow make_flow(const Lattice& lattice, double seconds) {
    Flow flow{lattice.order, {}, {}, static_cast<float>(seconds)};
    for (std::size_t i = 0; i < 256; ++i) {
        const float speed = 0.35f + 0.3f * static_cast<float>(i % 7) / 6;
        const float angle = lattice.angles[i] + (i % 2 == 0 ? speed : -speed) * flow.seconds;
        flow.x[i] = std::cos(angle);
        flow.y[i] = std::sin(angle);
    }
    return flow;
}

Field warped_noise(const Flow& flow, Size size) {
    Field field(size);
    const float scale = 1.35f, smallest = 3 * scale / static_cast<float>(size.height), drift = 0.05f * flow.seconds;
    for (int y = 0; y < size.height; ++y) {
        float* row = field.row(y);
        for (int x = 0; x < size.width; ++x) {
            const Place at = place_of(x, y, size);
            const float u = scale * at.x + drift, v = 1.6f * scale * at.y;
            const float first_x = octaves(flow, u, v, 3, smallest), first_y = octaves(flow, u + 5.2f, v + 1.3f, 3, smallest);
            const float wide_x = u + 1.9f * first_x, wide_y = v + 1.9f * first_y;
            const float second_x = octaves(flow, wide_x + 1.7f, wide_y + 9.2f, 3, smallest),
                        second_y = octaves(flow, wide_x + 8.3f, wide_y + 2.8f, 3, smallest);
            const float sum = octaves(flow, u + 1.5f * second_x, v + 1.5f * second_y, 6, smallest);
            row[x] = clamped(0.5f + 0.95f * sum + 0.25f * (second_x * second_x + second_y * second_y));
        }
    }
    return field;
}

Light make_sky(const Palette& palette, double sway, Size size) {
    Light light(size);
    const float tilt = 0.10f * static_cast<float>(sway), sun_x = 0.30f * static_cast<float>(sway);
    for (int y = 0; y < size.height; ++y) {
        Color* row = light.row(y);
        for (int x = 0; x < size.width; ++x) {
            const Place at = place_of(x, y, size);
            const float down = smooth_step(-0.65f, 0.75f, at.y + tilt * at.x);
            const float dx = at.x - sun_x, dy = at.y - 0.52f;
            const float glow = std::exp(-(0.9f * dx * dx + 4.5f * dy * dy));
            row[x] = palette.at(0.05f + 0.26f * down) * (0.55f + 0.35f * down) + palette.at(0.74f) * (0.34f * glow * glow);
        }
    }
    return light;
}

Light make_stars(const Palette& palette, double seconds, Size size) {
    Light light(size);
    const float height = static_cast<float>(size.height), aspect = static_cast<float>(size.width) / height;
    Random random{99};
    for (int star = 0; star < 260; ++star) {
        const float at_x = (random.part() - 0.5f) * aspect, at_y = random.part() * random.part() - 0.5f;
        const float size_part = random.part(), phase = turn * random.part(), speed = 1.5f + 2.5f * random.part();
        const float spread = std::max(0.0018f + 0.0022f * size_part * size_part, 0.6f / height);
        const float twinkle = 0.65f + 0.35f * std::sin(phase + speed * static_cast<float>(seconds));
        const Color color = palette.at(0.80f + 0.2f * random.part()) * (0.05f + 0.75f * std::pow(size_part, 6.0f)) * twinkle;
        const float x = (at_x + 0.5f * aspect) * height - 0.5f, y = (at_y + 0.5f) * height - 0.5f, reach = 3 * spread * height;
        for (int row = std::max(0, static_cast<int>(y - reach)); row < size.height && static_cast<float>(row) <= y + reach; ++row)
            for (int column = std::max(0, static_cast<int>(x - reach));
                 column < size.width && static_cast<float>(column) <= x + reach; ++column) {
                const float dx = static_cast<float>(column) - x, dy = static_cast<float>(row) - y;
                Color& pixel = light.row(row)[column];
                pixel = pixel + color * std::exp(-(dx * dx + dy * dy) / (spread * height * spread * height));
            }
    }
    return light;
}

Light with_clouds(Light sky, const Field& field, const Palette& palette, double strength) {
    const float part = static_cast<float>(strength);
    for (std::size_t i = 0; i < sky.pixels.size(); ++i) {
        const float shape = field.pixels[i];
        const float cover = smooth_step(0.25f, 0.95f, shape);
        const Color cloud = palette.at(0.06f + 0.72f * cover) * (0.30f + 0.55f * cover);
        sky.pixels[i] = mix(sky.pixels[i], cloud, part * (0.25f + 0.65f * cover));
    }
    return sky;
}

Light make_ribbons(const Palette& palette, double seconds, double sway, Size size) {
    Light light(size);
    constexpr int strands = 30;
    const float t = static_cast<float>(seconds), lean = static_cast<float>(sway);
    const float height = static_cast<float>(size.height);
    const float thin = std::max(0.0024f, 0.75f / height), wide = 0.030f;
    for (int strand = 0; strand < strands; ++strand) {
        const float part = static_cast<float>(strand) / (strands - 1);
        const auto curve = [&](float x) {
            const float centre = 0.11f * std::sin(1.9f * x + 0.55f * t) + 0.05f * std::sin(3.7f * x - 0.8f * t + lean);
            const float spread = 0.10f + 0.13f * (0.5f + 0.5f * std::sin(1.4f * x - 0.45f * t));
            return centre + lean * 0.10f * x + spread * std::sin(2.1f * x + 2.6f * part + 0.7f * t) * (0.35f + 0.65f * part);
        };
        const Color color = palette.at(0.42f + 0.50f * part);
        const float strength = (0.16f + 0.46f * part * part) * (0.75f + 0.25f * std::sin(9 * part + t));
        for (int x = 0; x < size.width; ++x) {
            const float at_x = place_of(x, 0, size).x, at_y = curve(at_x);
            const float slope = (curve(at_x + 0.002f) - at_y) / 0.002f;
            // The vertical distance is longer than the distance from the curve by this factor.
            const float steepness = std::sqrt(1 + slope * slope);
            const float ends = 1 - smooth_step(0.55f, 1.0f, std::abs(at_x) * height / static_cast<float>(size.width) * 2);
            const float reach = 2.6f * wide * steepness;
            const int first = std::max(0, static_cast<int>((at_y - reach + 0.5f) * height)),
                      last = std::min(size.height - 1, static_cast<int>((at_y + reach + 0.5f) * height));
            for (int y = first; y <= last; ++y) {
                const float distance = (place_of(x, y, size).y - at_y) / steepness;
                const float core = distance / thin, glow = distance / wide;
                const float amount = std::exp(-core * core) + 0.10f * std::exp(-glow * glow);
                Color& pixel = light.row(y)[x];
                pixel = pixel + color * (amount * strength * ends);
            }
        }
    }
    return light;
}

Light make_moons(const Palette& palette, double seconds, double swell, Size size) {
    Light light(size);
    constexpr int moons = 7;
    const float t = static_cast<float>(seconds), edge = 1.2f / static_cast<float>(size.height);
    for (int moon = 0; moon < moons; ++moon) {
        const float part = static_cast<float>(moon) / (moons - 1), phase = 2.39996f * static_cast<float>(moon);
        const float centre_x = (0.16f + 0.50f * part) * std::cos(phase + (0.75f - 0.45f * part) * t),
                    centre_y = (0.10f + 0.24f * part) * std::sin(phase + (0.75f - 0.45f * part) * t);
        const float radius = (moon == 0 ? 0.125f : 0.035f + 0.045f * (0.5f + 0.5f * std::sin(5 * phase))) *
                             (0.94f + 0.12f * static_cast<float>(swell));
        const Color rim = palette.at(0.55f + 0.35f * part), halo = palette.at(0.48f + 0.30f * part);
        for (int y = 0; y < size.height; ++y) {
            Color* row = light.row(y);
            for (int x = 0; x < size.width; ++x) {
                const Place at = place_of(x, y, size);
                const float dx = at.x - centre_x, dy = at.y - centre_y, distance = std::sqrt(dx * dx + dy * dy);
                const float far = distance / radius;
                const float shine = 0.22f / (1 + 1.6f * far * far) * (1 - smooth_step(3, 9, far));
                const float inside = 1 - smooth_step(radius - edge, radius + edge, distance);
                Color sum = halo * (shine * (1 - inside));
                if (inside > 0) {
                    const float out = std::sqrt(std::max(0.0f, 1 - far * far));
                    // Lit from the centre of the orbits and from above, so that they show phases.
                    const float lit = clamped((-0.55f * dx - 0.75f * dy) / radius + 0.36f * out);
                    sum = sum + palette.at(0.22f + 0.72f * lit) * (inside * (0.10f + 1.15f * lit)) +
                          rim * (inside * 0.30f * std::pow(1 - out, 2.5f));
                }
                row[x] = row[x] + sum;
            }
        }
    }
    return light;
}

} // namespace patch
