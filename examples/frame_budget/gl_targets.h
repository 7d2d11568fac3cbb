// Everything the passes draw into, made once for the largest choice: changing a setting allocates nothing.
#pragma once

#include <array>
#include <map>

#include "gl_objects.h"

namespace frame_budget {

struct GlTarget {
    GlTexture texture;
    GLuint framebuffer = 0;
};

struct GlTargets {
    GlTargets(const Gl& gl, int width, int height);

    GlTexture surface, shape, depth; ///< The geometry buffer: albedo and coverage; normal and fog; depth.
    GLuint geometry = 0;
    std::map<int, GLuint> multisampled; ///< The same by samples per pixel.
    std::map<int, GlTarget> shadow;     ///< By size.
    GlTarget mirror;                    ///< What the lake reflects, half the size; alpha where there is something.
    GlTarget light;                     ///< The lit scene, in the used corner.
    std::array<GlTarget, 2> occlusion;  ///< Raw and smooth, half the size.
    std::array<GlTarget, 2> mist;       ///< Raw and smooth, a third of the size.
    std::array<GlTarget, 2> bright;     ///< Bloom, back and forth, a quarter of the size.
    GlTarget rays;                      ///< A quarter of the size.
    GlTarget output;

    // What stands in for a feature that is off, and the noise.
    GlTexture no_shadow, white, black, clear, noise;
};

} // namespace frame_budget
