#include "effects.h"

#include <algorithm>
#include <cmath>

namespace patch {

namespace {

/// The light between four pixels. Beyond the edge it is that of the edge.
Color sample(const Light& light, float x, float y) {
    const float most_x = static_cast<float>(light.size.width - 1), most_y = static_cast<float>(light.size.height - 1);
    x = std::min(std::max(x, 0.0f), most_x);
    y = std::min(std::max(y, 0.0f), most_y);
    const int left = std::min(static_cast<int>(x), std::max(light.size.width - 2, 0)),
              top = std::min(static_cast<int>(y), std::max(light.size.height - 2, 0));
    const int right = std::min(left + 1, light.size.width - 1), bottom = std::min(top + 1, light.size.height - 1);
    const float in_x = x - static_cast<float>(left), in_y = y - static_cast<float>(top);
    return mix(mix(light.row(top)[left], light.row(top)[right], in_x),
               mix(light.row(bottom)[left], light.row(bottom)[right], in_x), in_y);
}

/// The curve of film in ACES, as Krzysztof Narkowicz (2016) has fitted it.
float film(float x) { return (x * (2.51f * x + 0.03f)) / (x * (2.43f * x + 0.59f) + 0.14f); }

float srgb(float x) {
    x = std::min(std::max(x, 0.0f), 1.0f);
    return x <= 0.0031308f ? 12.92f * x : 1.055f * std::pow(x, 1 / 2.4f) - 0.055f;
}

/// -1 to 1, with a peak at 0. The same for a pixel in all frames.
float grain(std::uint32_t x, std::uint32_t y, std::uint32_t channel) {
    std::uint32_t word = x * 374761393u + y * 668265263u + channel * 2246822519u;
    word = (word ^ (word >> 13)) * 1274126177u;
    word ^= word >> 16;
    return (static_cast<float>(word & 0xFFFFu) - static_cast<float>(word >> 16)) / 65535.0f;
}

} // namespace

Light mirrored(const Light& light, int mirrors, double turn) {
    Light result(light.size);
    const float sector = 6.28318531f / static_cast<float>(mirrors), start = static_cast<float>(turn);
    const float centre_x = 0.5f * static_cast<float>(light.size.width - 1),
                centre_y = 0.5f * static_cast<float>(light.size.height - 1);
    for (int y = 0; y < light.size.height; ++y) {
        Color* row = result.row(y);
        for (int x = 0; x < light.size.width; ++x) {
            const float dx = static_cast<float>(x) - centre_x, dy = static_cast<float>(y) - centre_y;
            const float radius = std::sqrt(dx * dx + dy * dy);
            float angle = std::atan2(dy, dx) + start;
            angle -= sector * std::floor(angle / sector);
            if (angle > 0.5f * sector) angle = sector - angle;
            // The mirrors meet above the middle, and look down to the right.
            angle += 0.6f;
            row[x] = sample(light, centre_x + radius * std::cos(angle), 0.5f * centre_y + radius * std::sin(angle));
        }
    }
    return result;
}

Light added(Light one, const Light& other) {
    for (std::size_t i = 0; i < one.pixels.size(); ++i) one.pixels[i] = one.pixels[i] + other.pixels[i];
    return one;
}

Light composed(const Light& back, const Light& light, double gain) {
    Light result(back.size);
    for (std::size_t i = 0; i < result.pixels.size(); ++i) {
        const Color front = light.pixels[i] * static_cast<float>(gain);
        const float cover = std::min(0.85f, (front.r + front.g + front.b) / 3);
        result.pixels[i] = back.pixels[i] * (1 - cover) + front;
    }
    return result;
}

Light with_bloom(const Light& light, double radius, double amount) {
    const Size size = light.size;
    const float sigma = std::max(0.5f, static_cast<float>(radius) * static_cast<float>(size.height));
    const int reach = static_cast<int>(std::ceil(2.5f * sigma));
    std::vector<float> weights;
    float sum = 0;
    for (int at = -reach; at <= reach; ++at) {
        const float far = static_cast<float>(at) / sigma;
        weights.push_back(std::exp(-0.5f * far * far));
        sum += weights.back();
    }
    for (float& weight : weights) weight /= sum;
    Light across(size), blurred(size);
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            Color mean;
            for (int at = -reach; at <= reach; ++at)
                mean = mean + light.row(y)[std::clamp(x + at, 0, size.width - 1)] * weights[static_cast<std::size_t>(at + reach)];
            across.row(y)[x] = mean;
        }
    for (int y = 0; y < size.height; ++y)
        for (int at = -reach; at <= reach; ++at) {
            const Color* from = across.row(std::clamp(y + at, 0, size.height - 1));
            Color* to = blurred.row(y);
            const float weight = weights[static_cast<std::size_t>(at + reach)];
            for (int x = 0; x < size.width; ++x) to[x] = to[x] + from[x] * weight;
        }
    const float part = static_cast<float>(amount);
    for (std::size_t i = 0; i < blurred.pixels.size(); ++i)
        blurred.pixels[i] = light.pixels[i] * (1 - 0.25f * part) + blurred.pixels[i] * part;
    return blurred;
}

Field make_vignette(Size size) {
    Field field(size);
    const float aspect = static_cast<float>(size.width) / static_cast<float>(size.height);
    for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
            const float u = (static_cast<float>(x) + 0.5f) / static_cast<float>(size.width) * 2 - 1,
                        v = ((static_cast<float>(y) + 0.5f) / static_cast<float>(size.height) * 2 - 1) / std::sqrt(aspect);
            const float fall = 1 / (1 + 0.22f * (u * u + v * v));
            field.row(y)[x] = fall * fall;
        }
    return field;
}

Picture graded(const Light& light, const Field& vignette) {
    Picture picture(light.size);
    std::size_t at = 0;
    for (int y = 0; y < light.size.height; ++y)
        for (int x = 0; x < light.size.width; ++x) {
            const std::size_t pixel = at / 3;
            const Color color = light.pixels[pixel] * vignette.pixels[pixel];
            std::uint32_t channel = 0;
            for (const float value : {color.r, color.g, color.b}) {
                const float step = 255 * srgb(film(value)) + 0.5f +
                                   0.5f * grain(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), channel++);
                picture.rgb[at++] = static_cast<std::uint8_t>(std::clamp(step, 0.0f, 255.0f));
            }
        }
    return picture;
}

} // namespace patch
