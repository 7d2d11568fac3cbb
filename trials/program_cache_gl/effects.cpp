// Post-processing effects: one pass each, over the whole screen.
#include "corpus.h"

namespace program_cache_gl {

namespace {

const char* const screen_vertex = R"(
out vec2 uv;
void main() {
    uv = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
    gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
}
)";

const char* const effect_fragment = R"(
in vec2 uv;
layout(location = 0) out vec4 color;
uniform sampler2D picture;
uniform vec2 texel;

float luminance(vec3 c) { return dot(c, vec3(0.2126, 0.7152, 0.0722)); }
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }

#ifdef DEPTH
uniform sampler2D depth_map;
uniform mat4 inverse_projection;
uniform mat4 projection;
vec3 view_position(vec2 at) {
    vec4 p = inverse_projection * vec4(vec3(at, textureLod(depth_map, at, 0.0).r) * 2.0 - 1.0, 1.0);
    return p.xyz / p.w;
}
vec3 view_normal(vec2 at, vec3 center) {
    vec3 x = view_position(at + vec2(texel.x, 0.0)) - center, y = view_position(at + vec2(0.0, texel.y)) - center;
    return normalize(cross(x, y));
}
#endif

#ifdef BLOOM_DOWN
uniform float threshold;
vec3 weighted(vec2 offset) {
    vec3 c = texture(picture, uv + offset * texel).rgb;
#ifdef FIRST
    c *= smoothstep(threshold, threshold * 2.0, luminance(c)) / (1.0 + luminance(c));
#endif
    return c;
}
vec4 effect() {
    vec3 sum = weighted(vec2(0.0)) * 0.125;
    for (int i = 0; i < 4; ++i) {
        vec2 corner = vec2((i & 1) * 2 - 1, (i & 2) - 1), edge = vec2((i & 1) * (i - 2), (1 - (i & 1)) * (i - 1));
        sum += weighted(corner) * 0.125 + weighted(corner * 2.0) * 0.03125 + weighted(edge * 2.0) * 0.0625;
    }
    return vec4(sum, 1.0);
}
#endif

#ifdef BLUR
uniform vec2 axis;
vec4 effect() {
    vec4 sum = vec4(0.0);
    float total = 0.0;
#ifdef DEPTH
    float here = view_position(uv).z;
#endif
    for (int i = -BLUR; i <= BLUR; ++i) {
        vec2 at = uv + axis * texel * float(i);
        float weight = exp(-float(i * i) * 4.0 / float(BLUR * BLUR));
#ifdef DEPTH
        weight *= exp(-abs(view_position(at).z - here) * 8.0);
#endif
        sum += texture(picture, at) * weight;
        total += weight;
    }
    return sum / total;
}
#endif

#ifdef OCCLUSION
uniform float radius;
vec4 effect() {
    vec3 center = view_position(uv), n = view_normal(uv, center);
    float turn = noise(gl_FragCoord.xy) * 6.2831853, open_part = 0.0;
    for (int i = 0; i < OCCLUSION; ++i) {
        float along = (float(i) + 0.5) / float(OCCLUSION), angle = turn + float(i) * 2.39996;
        vec3 ray = vec3(cos(angle) * sqrt(along), sin(angle) * sqrt(along), sqrt(1.0 - along));
        ray *= sign(dot(ray, n)) * radius * mix(0.1, 1.0, along * along);
        vec4 clip = projection * vec4(center + ray, 1.0);
        float behind = view_position(clip.xy / clip.w * 0.5 + 0.5).z - (center + ray).z;
        open_part += 1.0 - step(0.02, behind) * smoothstep(0.0, 1.0, radius / max(abs(behind), 1e-3));
    }
    return vec4(vec3(open_part / float(OCCLUSION)), 1.0);
}
#endif

#ifdef REFLECTIONS
vec4 effect() {
    vec3 center = view_position(uv), n = view_normal(uv, center), ray = reflect(normalize(center), n);
    float stride = 0.25;
    vec3 at = center + ray * stride * noise(gl_FragCoord.xy);
    for (int i = 0; i < REFLECTIONS; ++i) {
        at += ray * stride;
        vec4 clip = projection * vec4(at, 1.0);
        vec2 screen = clip.xy / clip.w * 0.5 + 0.5;
        if (any(lessThan(screen, vec2(0.0))) || any(greaterThan(screen, vec2(1.0)))) break;
        float behind = view_position(screen).z - at.z;
        if (behind > 0.0 && behind < stride * 2.0) {
            for (int k = 0; k < 5; ++k) {
                stride *= 0.5;
                at += ray * (behind > 0.0 ? -stride : stride);
                clip = projection * vec4(at, 1.0);
                screen = clip.xy / clip.w * 0.5 + 0.5;
                behind = view_position(screen).z - at.z;
            }
            vec2 edge = smoothstep(vec2(0.0), vec2(0.1), screen) * smoothstep(vec2(0.0), vec2(0.1), 1.0 - screen);
            float grazing = pow(1.0 + dot(normalize(center), n), 3.0);
            return vec4(textureLod(picture, screen, 0.0).rgb, edge.x * edge.y * grazing);
        }
        stride *= 1.05;
    }
    return vec4(0.0);
}
#endif

#ifdef FOCUS
uniform vec2 focus_distance_strength;
vec4 effect() {
    float z = -view_position(uv).z;
    float confusion = clamp(abs(z - focus_distance_strength.x) / z * focus_distance_strength.y, 0.0, 1.0);
    vec4 sum = vec4(texture(picture, uv).rgb, 1.0);
    float turn = noise(gl_FragCoord.xy) * 6.2831853;
    for (int i = 0; i < FOCUS; ++i) {
        float angle = turn + float(i) * 2.39996, far = sqrt(float(i) / float(FOCUS)) * confusion * 12.0;
        vec2 at = uv + vec2(cos(angle), sin(angle)) * far * texel;
        float other = -view_position(at).z;
        float reach = clamp(abs(other - focus_distance_strength.x) / other * focus_distance_strength.y, 0.0, 1.0);
        float weight = other < z ? reach : confusion;
        sum += vec4(texture(picture, at).rgb, 1.0) * weight;
    }
    return sum / sum.w;
}
#endif

#ifdef MOTION
uniform sampler2D velocity_map;
vec4 effect() {
    vec2 v = texture(velocity_map, uv).xy * 0.5;
    vec4 sum = vec4(0.0);
    for (int i = 0; i < MOTION; ++i) {
        vec2 at = uv + v * ((float(i) + noise(gl_FragCoord.xy)) / float(MOTION) - 0.5);
        float apart = abs(texture(velocity_map, at).z - texture(velocity_map, uv).z);
        sum += vec4(texture(picture, at).rgb, 1.0) * exp(-apart);
    }
    return sum / max(sum.w, 1e-3);
}
#endif

#ifdef TEMPORAL
uniform sampler2D history;
uniform sampler2D velocity_map;
vec3 to_ycocg(vec3 c) { return vec3(c.r + 2.0 * c.g + c.b, 2.0 * c.r - 2.0 * c.b, 2.0 * c.g - c.r - c.b) * 0.25; }
vec3 from_ycocg(vec3 c) { return vec3(c.x + c.y - c.z, c.x + c.z, c.x - c.y - c.z); }
vec4 effect() {
    vec3 here = to_ycocg(texture(picture, uv).rgb), mean = vec3(0.0), square = vec3(0.0);
    for (int y = -1; y <= 1; ++y)
        for (int x = -1; x <= 1; ++x) {
            vec3 c = to_ycocg(texture(picture, uv + vec2(x, y) * texel).rgb);
            mean += c / 9.0;
            square += c * c / 9.0;
        }
    vec3 deviation = sqrt(max(square - mean * mean, 0.0)) * 1.25;
    vec2 before = uv - texture(velocity_map, uv).xy;
    vec3 old = clamp(to_ycocg(texture(history, before).rgb), mean - deviation, mean + deviation);
    bool outside = any(lessThan(before, vec2(0.0))) || any(greaterThan(before, vec2(1.0)));
    return vec4(from_ycocg(mix(old, here, outside ? 1.0 : 0.1)), 1.0);
}
#endif

#ifdef EDGES
vec4 effect() {
    float m = luminance(texture(picture, uv).rgb);
    float nw = luminance(texture(picture, uv + vec2(-1.0, 1.0) * texel).rgb);
    float ne = luminance(texture(picture, uv + vec2(1.0, 1.0) * texel).rgb);
    float sw = luminance(texture(picture, uv + vec2(-1.0, -1.0) * texel).rgb);
    float se = luminance(texture(picture, uv + vec2(1.0, -1.0) * texel).rgb);
    float low = min(m, min(min(nw, ne), min(sw, se))), high = max(m, max(max(nw, ne), max(sw, se)));
    if (high - low < max(0.0312, high * 0.125)) return texture(picture, uv);
    vec2 along = vec2(-(nw + ne - sw - se), nw + sw - ne - se);
    along *= 1.0 / (min(abs(along.x), abs(along.y)) + max((nw + ne + sw + se) * 0.03125, 0.0078125));
    along = clamp(along, -8.0, 8.0) * texel;
    vec4 near = 0.5 * (texture(picture, uv - along / 6.0) + texture(picture, uv + along / 6.0));
    vec4 far = near * 0.5 + 0.25 * (texture(picture, uv - along * 0.5) + texture(picture, uv + along * 0.5));
    float l = luminance(far.rgb);
    return l < low || l > high ? near : far;
}
#endif

#ifdef SHAFTS
uniform sampler2DShadow shadow_map;
uniform mat4 view_to_shadow;
uniform vec3 sun_color;
vec4 effect() {
    vec3 end = view_position(uv), sum = vec3(0.0);
    for (int i = 0; i < SHAFTS; ++i) {
        vec4 p = view_to_shadow * vec4(end * (float(i) + noise(gl_FragCoord.xy)) / float(SHAFTS), 1.0);
        sum += sun_color * textureLod(shadow_map, p.xyz / p.w * 0.5 + 0.5, 0.0);
    }
    return vec4(texture(picture, uv).rgb + sum * length(end) * 0.01 / float(SHAFTS), 1.0);
}
#endif

#ifdef FINISH
uniform sampler2D bloom;
uniform sampler3D grading;
uniform float exposure;
uniform float time_s;
vec3 map_tone(vec3 c) {
#if FINISH == 1
    return c / (1.0 + luminance(c));
#elif FINISH == 2
    return clamp(c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14), 0.0, 1.0);
#else
    c = max(c - 0.004, 0.0);
    return pow(c * (6.2 * c + 0.5) / (c * (6.2 * c + 1.7) + 0.06), vec3(2.2));
#endif
}
vec4 effect() {
#ifdef FRINGE
    vec2 aside = (uv - 0.5) * dot(uv - 0.5, uv - 0.5) * 0.02;
    vec3 c = vec3(texture(picture, uv + aside).r, texture(picture, uv).g, texture(picture, uv - aside).b);
#else
    vec3 c = texture(picture, uv).rgb;
#endif
    c = map_tone((c + texture(bloom, uv).rgb * 0.08) * exposure);
#ifdef GRADING
    c = texture(grading, pow(c, vec3(1.0 / 2.2)) * 31.0 / 32.0 + 0.5 / 32.0).rgb;
#endif
#ifdef VIGNETTE
    c *= 1.0 - 0.35 * smoothstep(0.3, 0.9, length(uv - 0.5));
#endif
#ifdef GRAIN
    c += (noise(gl_FragCoord.xy + fract(time_s) * 61.0) - 0.5) * 0.02;
#endif
    return vec4(mix(c * 12.92, 1.055 * pow(max(c, 0.0), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)), 1.0);
}
#endif

void main() { color = effect(); }
)";

struct Effect {
    const char *name, *words;
};

constexpr Effect effects[] = {
    {"bloom-first", "BLOOM_DOWN FIRST"},
    {"bloom-down", "BLOOM_DOWN"},
    {"blur-4", "BLUR=4"},
    {"blur-8", "BLUR=8"},
    {"blur-8-edges", "BLUR=8 DEPTH"},
    {"occlusion-4", "OCCLUSION=4 DEPTH"},
    {"occlusion-16", "OCCLUSION=16 DEPTH"},
    {"reflections-24", "REFLECTIONS=24 DEPTH"},
    {"reflections-64", "REFLECTIONS=64 DEPTH"},
    {"focus-16", "FOCUS=16 DEPTH"},
    {"focus-48", "FOCUS=48 DEPTH"},
    {"motion-8", "MOTION=8"},
    {"temporal", "TEMPORAL"},
    {"edges", "EDGES"},
    {"shafts-12", "SHAFTS=12 DEPTH"},
    {"shafts-32", "SHAFTS=32 DEPTH"},
    {"finish-plain", "FINISH=1"},
    {"finish-film", "FINISH=2 GRADING VIGNETTE"},
    {"finish-cinema", "FINISH=3 GRADING VIGNETTE GRAIN FRINGE"},
    {"finish-film-grain", "FINISH=2 GRAIN"},
};

} // namespace

void add_effects(std::vector<Program>& programs) {
    for (const Effect& effect : effects)
        programs.push_back({effect.name, screen_vertex, defines(effect.words) + effect_fragment});
}

} // namespace program_cache_gl
