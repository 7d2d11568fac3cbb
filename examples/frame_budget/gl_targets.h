// Everything the passes draw into. What its size depends on is taken anew when that changes, as an engine does that does
// not hold the memory of choices that it does not use: so a change costs something, once.
#pragma once

#include "gl_objects.h"

namespace frame_budget {

struct GlTarget {
    GlTexture texture;
    GLuint framebuffer = 0;
};

/// What a feature draws, and what stands in for it when it is off: same size, same format, nothing in it. The passes
/// that read it cost the same with and without, and no driver compiles a second variant of their programs.
struct GlFeature {
    GlTarget on;
    GlTexture off;
};

struct GlTargets {
    GlTargets(const Gl& gl, int width, int height);

    /// Takes the memory for these sizes; whether it was for others before.
    bool adapt(int percent, int shadow_size, int samples);
    /// Size of the geometry buffer and of the light.
    int inner_width() const { return light.texture.width; }
    int inner_height() const { return light.texture.height; }

    GlTexture surface, shape, depth; ///< The geometry buffer: albedo and coverage; normal and fog; depth.
    GLuint geometry = 0;
    GlMultisampled multisampled; ///< The same with several samples per pixel, while there are several.
    GlFeature shadow;
    GlFeature mirror;                   ///< What the lake reflects, half the size; alpha where there is something.
    GlTarget light;                     ///< The lit scene.
    GlTarget raw_occlusion, raw_mist, raw_bloom; ///< Before they are smooth.
    GlFeature occlusion;                         ///< Half the size.
    GlFeature mist;                              ///< A third of the size.
    GlFeature bloom, rays;                       ///< A quarter of the size.
    GlTarget output;
    GlTexture noise;

private:
    const Gl& gl;
    int full_width, full_height;
    int current_shadow_size = 0, current_samples = 1;
};

} // namespace frame_budget
