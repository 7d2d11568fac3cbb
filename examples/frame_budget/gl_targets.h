// Everything the passes draw into, made once for the largest choice: changing a setting allocates nothing.
#pragma once

#include <map>

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

    GlTexture surface, shape, depth; ///< The geometry buffer: albedo and coverage; normal and fog; depth.
    GLuint geometry = 0;
    std::map<int, GLuint> multisampled; ///< The same by samples per pixel.
    std::map<int, GlTarget> shadow;     ///< By size; 0: of the smallest size, with nothing in it.
    GlFeature mirror;                   ///< What the lake reflects, half the size; alpha where there is something.
    GlTarget light;                     ///< The lit scene, in the used corner.
    GlTarget raw_occlusion, raw_mist, raw_bloom; ///< Before they are smooth.
    GlFeature occlusion;                         ///< Half the size.
    GlFeature mist;                              ///< A third of the size.
    GlFeature bloom, rays;                       ///< A quarter of the size.
    GlTarget output;
    GlTexture noise;
};

} // namespace frame_budget
