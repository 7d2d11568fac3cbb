// All targets that the passes draw into. A change of a choice reallocates the targets whose size depends on it. Engines
// that hold no memory for unused choices do the same: a change costs something, once.
#pragma once

#include "gl_objects.h"

namespace frame_budget {

struct GlTarget {
    GlTexture texture;
    GLuint framebuffer = 0;
};

/// The target of a feature, and a neutral texture that replaces it when the feature is off.
/// Both have the same format and size, except that the neutral shadow map always has the lowest shadow size.
/// Passes that read a feature cost the same with and without it, and no driver compiles a second variant of their
/// programs.
struct GlFeature {
    GlTarget on;
    GlTexture off;
};

struct GlTargets {
    GlTargets(const Gl& gl, int width, int height);

    /// Allocates the memory for these sizes; whether a size has changed.
    bool adapt(int percent, int shadow_size, int samples);
    /// Size of the geometry buffer and of the light.
    int inner_width() const { return light.texture.width; }
    int inner_height() const { return light.texture.height; }

    GlTexture surface, shape, depth; ///< The geometry buffer: albedo and coverage; normal and fog; depth.
    GLuint geometry = 0;
    GlMultisampled multisampled; ///< The same with several samples per pixel; minimal with one sample.
    GlFeature shadow;
    GlFeature mirror;                   ///< The lake's reflections, half the size; alpha where there is something.
    GlTarget light;                     ///< The lit scene.
    GlTarget raw_occlusion, raw_mist, raw_bloom; ///< Before smoothing.
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
