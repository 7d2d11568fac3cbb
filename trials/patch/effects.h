// Nodes that change light.
#pragma once

#include "image.h"

namespace patch {

/// A kaleidoscope: the light between two of its mirrors, repeated.
Light mirrored(const Light& light, int mirrors, double turn);

/// The sum of both.
Light added(Light one, const Light& other);

/// `light` before `back`.
Light composed(const Light& back, const Light& light, double gain);

/// Spreads light by a blur whose radius is a part of the picture's height.
Light with_bloom(const Light& light, double radius, double amount);

/// How much light reaches each pixel through the lens: 1 in the centre.
Field make_vignette(Size size);

/// The picture that a screen shows: a curve for film, sRGB, and noise of half a step, so that no bands show.
Picture graded(const Light& light, const Field& vignette);

} // namespace patch
