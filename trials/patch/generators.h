// Nodes that make light and noise from numbers. They are functions of their arguments: no state, no clock.
//
// Positions are in units of the picture's height, with the origin in the centre, so that all sizes show the same scene.
#pragma once

#include <array>
#include <cstdint>

#include "image.h"

namespace patch {

/// Colours along a way from shade (0) to light (1).
struct Palette {
    std::array<Color, 256> colors;

    bool operator==(const Palette& other) const { return colors == other.colors; }
    /// The colour at 0 to 1. Positions outside are clamped.
    Color at(float position) const;
};

/// `hue` is a part of a turn; `mood` is 0 (calm) to 1 (bright).
Palette make_palette(double hue, double mood);

/// A repeatable random order, and a direction for each of its elements: the basis of gradient noise.
struct Lattice {
    std::array<std::uint8_t, 512> order;
    std::array<float, 256> angles;

    bool operator==(const Lattice& other) const { return order == other.order && angles == other.angles; }
};

Lattice make_lattice(std::uint32_t seed);

/// The lattice at a moment: its directions turn at different speeds, so that the noise flows instead of sliding.
struct Flow {
    std::array<std::uint8_t, 512> order;
    std::array<float, 256> x, y;
    float seconds = 0;

    bool operator==(const Flow& other) const {
        return seconds == other.seconds && order == other.order && x == other.x && y == other.y;
    }
};

Flow make_flow(const Lattice& lattice, double seconds);

/// Noise from 0 to 1, displaced by noise that is displaced by noise: the expensive node.
Field warped_noise(const Flow& flow, Size size);

/// An evening sky.
Light make_sky(const Palette& palette, double sway, Size size);

/// Stars that twinkle, fewer of them near the ground.
Light make_stars(const Palette& palette, double seconds, Size size);

/// Clouds of the field's shape before the sky.
/// At `strength` 0 they are invisible.
Light with_clouds(Light sky, const Field& field, const Palette& palette, double strength);

/// Strands of silk across the picture.
Light make_ribbons(const Palette& palette, double seconds, double sway, Size size);

/// Glowing spheres on their orbits.
Light make_moons(const Palette& palette, double seconds, double swell, Size size);

} // namespace patch
