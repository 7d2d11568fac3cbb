// The GLSL of every pass, good for OpenGL 3.3 and OpenGL ES 3.1 alike. `make_program` adds the version line.
//
// Shading is deferred, for the sake of measuring as much as of speed. Work on pixels (lighting) and work on triangles
// (objects, grass) are different passes with different timers. Every setting therefore has a cost of its own that
// hardly depends on the others. A neutral texture replaces a feature that is off, so that the passes which read it cost
// the same with and without.
#pragma once

namespace frame_budget::shaders {

/// In front of every shader; must match FrameConstants in gl_renderer.cpp.
inline constexpr const char* common = R"(
layout(std140) uniform Frame {
    mat4 view_projection;
    mat4 sun_projection;
    vec4 eye;          // w: seconds
    vec4 ray_right;    // from the middle of the picture to its right edge, one unit ahead; w: near plane
    vec4 ray_up;       // likewise to the top; w: far plane
    vec4 ray_forward;  // w: strength of the mist
    vec4 sun;          // towards the sun
    vec4 inner;        // size of the geometry buffer's used corner in pixels, then as a part of the whole buffer
    vec4 outer;        // size of the output in pixels, then where the sun is on it (0..1)
};
)";

inline constexpr const char* sky = R"(
uniform sampler2D noise_map;

const vec3 sun_light = vec3(3.4, 2.25, 1.25);

float sky_glow(vec3 direction) { return max(dot(direction, sun.xyz), 0.0); }

// The colour of the air itself: what fog fades to, and the sky without its clouds.
vec3 air(vec3 direction) {
    float towards = sky_glow(direction), high = clamp(direction.y, 0.0, 1.0);
    vec3 horizon = mix(vec3(0.42, 0.52, 0.70), vec3(1.30, 0.72, 0.36), pow(towards, 4.0));
    vec3 color = mix(horizon, vec3(0.09, 0.24, 0.56), 1.0 - exp(-high * 4.2));
    return color + vec3(0.9, 0.50, 0.22) * (0.20 * pow(towards, 12.0) + 0.55 * pow(towards, 90.0));
}

vec3 sky(vec3 direction) {
    vec3 color = air(direction) + vec3(18.0, 13.0, 8.0) * smoothstep(0.99945, 0.99975, sky_glow(direction));
    vec2 at = direction.xz / (max(direction.y, 0.0) + 0.10) * vec2(0.06, 0.09) + eye.w * 0.0006;
    float thick = texture(noise_map, at).r * 0.65 + texture(noise_map, at * 2.7).g * 0.35;
    float cover = smoothstep(0.42, 0.80, thick) * smoothstep(0.04, 0.24, direction.y);
    vec3 lit = mix(vec3(0.95, 0.80, 0.78), vec3(2.3, 1.45, 0.85), pow(sky_glow(direction), 4.0));
    return mix(color, lit * (1.15 - 0.5 * thick), cover * 0.85);
}
)";

/// World position from depth: exact at any resolution, no matrix to invert.
inline constexpr const char* position = R"(
uniform highp sampler2D depth_map;

float ahead_of(float depth) { return ray_right.w * ray_up.w / (ray_up.w - depth * (ray_up.w - ray_right.w)); }
vec3 ray_at(vec2 uv) { return ray_forward.xyz + ray_right.xyz * (uv.x * 2.0 - 1.0) + ray_up.xyz * (uv.y * 2.0 - 1.0); }
vec3 position_at(vec2 uv) {
    float depth = texelFetch(depth_map, ivec2(uv * inner.xy), 0).r;
    return eye.xyz + ray_at(uv) * ahead_of(depth);
}
)";

inline constexpr const char* sunlight = R"(
uniform highp sampler2DShadow shadow_map;

// A soft edge of about one texel of the map: four compared and filtered samples. Outside the map there is light.
float sunlight_at(vec3 world, vec3 normal) {
    float texel = 1.0 / float(textureSize(shadow_map, 0).x);
    vec4 clip = sun_projection * vec4(world + normal * (0.06 + 90.0 * texel), 1.0);
    vec3 at = clip.xyz * 0.5 + 0.5;
    vec2 size = texel * vec2(0.75, 1.5);
    float lit = texture(shadow_map, vec3(at.xy + size * vec2(-0.5, -1.0), at.z)) +
                texture(shadow_map, vec3(at.xy + size * vec2(1.0, -0.5), at.z)) +
                texture(shadow_map, vec3(at.xy + size * vec2(0.5, 1.0), at.z)) +
                texture(shadow_map, vec3(at.xy + size * vec2(-1.0, 0.5), at.z));
    vec2 outside = step(1.0, abs(clip.xy));
    return max(lit * 0.25, max(outside.x, outside.y));
}
)";

inline constexpr const char* geometry_vertex = R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 color;
layout(location = 3) in vec4 place;  // position, scale
layout(location = 4) in vec2 turn;   // cosine, sine
layout(location = 5) in vec4 tint;
uniform vec2 sway;                   // how far the top moves in the wind; 1: as the sun sees it, 2: as the lake does
flat out vec3 albedo;
flat out vec3 face;
out float fog;
out float high;

void main() {
    mat3 rotation = mat3(turn.x, 0.0, -turn.y, 0.0, 1.0, 0.0, turn.y, 0.0, turn.x);
    vec3 world = rotation * position * place.w + place.xyz;
    vec2 wave = abs(fract(eye.w * vec2(0.31, 0.23) + place.xz * vec2(0.03, 0.02) + turn) * 2.0 - 1.0);
    world.xz += sway.x * position.y * position.y * (wave * wave * (6.0 - 4.0 * wave) - 1.0);
    high = world.y;
    if (sway.y > 1.5) world.y = -world.y;
    face = rotation * normal;
    albedo = color.rgb * mix(vec3(1.0), tint.rgb, color.a);
    vec3 away = world - eye.xyz;
    float thick = dot(away, away) * 0.000022;
    fog = thick / (1.0 + thick);
    gl_Position = (sway.y == 1.0 ? sun_projection : view_projection) * vec4(world, 1.0);
}
)";

/// Fog goes through the buffer as a number, so that antialiasing works on it as well.
/// Silhouettes against misty hills are smooth.
inline constexpr const char* geometry_fragment = R"(
flat in vec3 albedo;
flat in vec3 face;
in float fog;
layout(location = 0) out vec4 surface;
layout(location = 1) out vec4 shape;
void main() {
    surface = vec4(sqrt(albedo), 1.0);
    shape = vec4(face * 0.5 + 0.5, fog);
}
)";

/// The lake's reflections need no shadows and no occlusion: they are lit at once.
inline constexpr const char* mirror_fragment = R"(
flat in vec3 albedo;
flat in vec3 face;
in float fog;
in float high;
layout(location = 0) out vec4 color;
void main() {
    if (high < 0.0) discard;
    vec3 ambient = mix(vec3(0.22, 0.18, 0.12), vec3(0.36, 0.46, 0.68), face.y * 0.5 + 0.5);
    vec3 light = vec3(2.2, 1.45, 0.8) * max(dot(face, sun.xyz), 0.0) + ambient;
    color = vec4(mix(albedo * light, vec3(0.62, 0.52, 0.50), fog), 1.0);
}
)";

inline constexpr const char* depth_fragment = R"(
void main() {}
)";

inline constexpr const char* screen_vertex = R"(
out vec2 uv;
void main() {
    uv = vec2(gl_VertexID == 1 ? 2.0 : 0.0, gl_VertexID == 2 ? 2.0 : 0.0);
    gl_Position = vec4(uv * 2.0 - 1.0, 0.0, 1.0);
}
)";

/// Ambient occlusion: TAPS points on a spiral around the pixel; each that rises above the surface darkens it.
inline constexpr const char* occlusion_fragment = R"(
uniform sampler2D shape_map;
in vec2 uv;
layout(location = 0) out vec4 occlusion;
void main() {
    vec3 here = position_at(uv), normal = texelFetch(shape_map, ivec2(uv * inner.xy), 0).xyz * 2.0 - 1.0;
    float ahead = dot(here - eye.xyz, ray_forward.xyz);
    // The 4 x 4 pattern of angles is what the blur after this pass takes away again.
    vec2 cell = mod(floor(gl_FragCoord.xy), 4.0);
    float angle = (cell.x + cell.y * 4.0) * 2.39996, sum = 0.0;
    vec2 radius = 1.5 / ahead * vec2(1.0 / length(ray_right.xyz), 1.0 / length(ray_up.xyz)) * 0.5;
    for (int i = 0; i < TAPS; ++i) {
        float along = (float(i) + 0.5) / float(TAPS);
        angle += 2.39996;
        vec2 at = clamp(uv + vec2(cos(angle), sin(angle)) * radius * along, vec2(0.001), vec2(0.999));
        vec3 to = position_at(at) - here;
        float distance2 = dot(to, to);
        float above = max(dot(to, normal) - 0.02 - 0.002 * ahead, 0.0);
        sum += above * inversesqrt(distance2 + 0.05) * max(1.0 - distance2 * 0.25, 0.0);
    }
    occlusion = vec4(max(1.0 - 2.6 * sum / float(TAPS), 0.0));
}
)";

/// The mean of 4 x 4 texels: takes away the dither of the occlusion and of the mist.
inline constexpr const char* smooth_fragment = R"(
uniform sampler2D source;
in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    vec2 texel = 1.0 / vec2(textureSize(source, 0));
    // Each sample lies where four texels meet.
    color = 0.25 * (texture(source, uv + texel * vec2(-1.5, -1.5)) + texture(source, uv + texel * vec2(0.5, -1.5)) +
                    texture(source, uv + texel * vec2(-1.5, 0.5)) + texture(source, uv + texel * vec2(0.5, 0.5)));
}
)";

inline constexpr const char* lighting_fragment = R"(
uniform sampler2D surface_map;
uniform sampler2D shape_map;
uniform sampler2D occlusion_map;
uniform sampler2D mirror_map;
layout(location = 0) out vec4 light;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec2 at = gl_FragCoord.xy / inner.xy;
    vec4 surface = texelFetch(surface_map, pixel, 0), shape = texelFetch(shape_map, pixel, 0);
    vec3 ray = ray_at(at), direction = normalize(ray);
    vec3 world = eye.xyz + ray * ahead_of(texelFetch(depth_map, pixel, 0).r);
    // Antialiased edges against the sky hold a part of both: undo the blend with the empty background before shading.
    surface.rgb /= max(surface.a, 0.01);
    shape /= max(surface.a, 0.01);
    vec3 albedo = surface.rgb * surface.rgb, normal = normalize(shape.xyz - vec3(0.5, 0.499, 0.5));

    float shine = sunlight_at(world, normal);
    float facing = max(dot(normal, sun.xyz), 0.0) + 0.10 * max(dot(normal, sun.xyz) * 0.5 + 0.5, 0.0);
    float open = texture(occlusion_map, at).r;
    vec3 ambient = mix(vec3(0.26, 0.20, 0.12), vec3(0.40, 0.52, 0.78), normal.y * 0.5 + 0.5);
    vec3 color = albedo * (sun_light * facing * shine + ambient * open * (0.35 + 0.65 * open));

    // Water: the sky in ripples, a dark shore, and the sun's path.
    float water = step(abs(world.y), 0.25) * step(0.9985, normal.y);
    vec2 wave = world.xz * 0.055;
    vec2 ripple = texture(noise_map, wave + vec2(eye.w * 0.011, 0.0)).rg +
                  texture(noise_map, wave * vec2(2.3, 3.1) - vec2(0.0, eye.w * 0.017)).rg - 1.0;
    vec3 mirror = reflect(direction, normalize(vec3(ripple.x * 0.14, 1.0, ripple.y * 0.14)));
    float fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(-direction, vec3(0.0, 1.0, 0.0)), 0.0), 4.0);
    vec3 reflected = mix(vec3(0.10, 0.11, 0.08), air(mirror), smoothstep(0.02, 0.22, mirror.y));
    vec4 shore = texture(mirror_map, at + ripple * vec2(0.008, 0.035));
    reflected = mix(reflected, shore.rgb, shore.a);
    float glint = pow(max(dot(mirror, sun.xyz), 0.0), 220.0) * (1.0 - shore.a);
    vec3 deep = vec3(0.012, 0.045, 0.055) * (0.6 + 0.4 * shine);
    vec3 lake = mix(deep, reflected, fresnel) * (0.75 + 0.25 * shine) + sun_light * 1.3 * glint * shine;
    color = mix(color, lake, water);

    color = mix(color, air(vec3(direction.x, max(direction.y, 0.0) * 0.5 + 0.02, direction.z)) * 0.86, shape.a);
    light = vec4(mix(sky(direction), color, surface.a), 1.0);
}
)";

/// Sunlit mist over the lake: a march through a layer of moving noise, shadowed by the shadow map.
inline constexpr const char* mist_fragment = R"(
in vec2 uv;
layout(location = 0) out vec4 mist;
void main() {
    vec3 ray = ray_at(uv);
    float ahead = min(ahead_of(texelFetch(depth_map, ivec2(uv * inner.xy), 0).r), 150.0);
    float towards = max(dot(normalize(ray), sun.xyz), 0.0);
    vec3 color = mix(vec3(0.42, 0.46, 0.55), vec3(2.6, 1.7, 0.95), pow(towards, 3.0));
    // A 4 x 4 pattern of offsets hides the steps, and the mean of 4 x 4 texels after this pass hides the pattern.
    vec2 cell = mod(floor(gl_FragCoord.xy), 4.0);
    float offset = fract((cell.x + cell.y * 4.0) * 0.4375);
    float clear = 1.0;
    vec3 sum = vec3(0.0);
    for (int i = 0; i < STEPS; ++i) {
        float along = (float(i) + offset) / float(STEPS);
        float here = 14.0 + (ahead - 14.0) * along;
        vec3 world = eye.xyz + ray * here;
        vec2 drift = world.xz * 0.011 + vec2(eye.w * 0.004, eye.w * 0.0025);
        float thick = texture(noise_map, drift).r + 0.10 - 0.045 * world.y;
        float density = smoothstep(0.30, 0.75, thick) * ray_forward.w * 0.030;
        float absorbed = 1.0 - exp(-density * max(ahead - 14.0, 0.0) / float(STEPS));
        sum += clear * absorbed * mix(vec3(0.22, 0.27, 0.36), color, sunlight_at(world, vec3(0.0)));
        clear *= 1.0 - absorbed;
    }
    mist = vec4(sum, clear);
}
)";

/// The parts brighter than white, at a quarter of the size.
inline constexpr const char* bright_fragment = R"(
uniform sampler2D source;
in vec2 uv;
layout(location = 0) out vec4 bright;
void main() {
    vec2 texel = 1.0 / vec2(textureSize(source, 0)), last = inner.zw - texel;
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 4; ++i) {
        vec2 corner = vec2(float(i & 1), float(i >> 1)) * 2.0 - 1.0;
        sum += min(texture(source, min(uv * inner.zw + texel * corner, last)).rgb, vec3(6.0));
    }
    bright = vec4(max(sum * 0.25 - 1.2, 0.0), 1.0);
}
)";

/// One direction of a Gaussian of 13 taps, in 7 fetches.
inline constexpr const char* blur_fragment = R"(
uniform sampler2D source;
uniform vec2 direction;
in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    vec2 texel = direction / vec2(textureSize(source, 0));
    color = 0.1964 * texture(source, uv) +
            0.2969 * (texture(source, uv + texel * 1.411) + texture(source, uv - texel * 1.411)) +
            0.0945 * (texture(source, uv + texel * 3.294) + texture(source, uv - texel * 3.294)) +
            0.0104 * (texture(source, uv + texel * 5.176) + texture(source, uv - texel * 5.176));
}
)";

/// Light streaks away from the sun: each pixel gathers the bright pixels on its way to the sun.
inline constexpr const char* rays_fragment = R"(
uniform sampler2D source;
in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    vec2 to_sun = (outer.zw - uv) / 24.0;
    vec3 sum = vec3(0.0);
    float weight = 1.0;
    vec2 at = uv;
    for (int i = 0; i < 24; ++i) {
        at += to_sun * 0.92;
        sum += texture(source, clamp(at, 0.0, 1.0)).rgb * weight * step(max(abs(at.x - 0.5), abs(at.y - 0.5)), 0.5);
        weight *= 0.955;
    }
    color = vec4(sum / 24.0, 1.0);
}
)";

inline constexpr const char* composite_fragment = R"(
uniform sampler2D light_map;
uniform sampler2D mist_map;
uniform sampler2D bloom_map;
uniform sampler2D rays_map;
in vec2 uv;
layout(location = 0) out vec4 picture;
void main() {
    vec2 texel = 1.0 / vec2(textureSize(light_map, 0));
    vec3 color = texture(light_map, min(uv * inner.zw, inner.zw - 0.5 * texel)).rgb;
    vec4 mist = texture(mist_map, uv);
    color = color * mist.a + mist.rgb;
    color += texture(bloom_map, uv).rgb * 0.35 + texture(rays_map, uv).rgb * vec3(0.80, 0.60, 0.42);
    vec2 off = uv - 0.5;
    color *= (1.0 - 0.55 * dot(off, off)) * 0.92;
    color = color * (2.51 * color + 0.03) / (color * (2.43 * color + 0.59) + 0.14);
    float grain = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) - 0.5;
    picture = vec4(sqrt(clamp(color, 0.0, 1.0)) + grain / 255.0, 1.0); // a gamma of 2
}
)";

} // namespace frame_budget::shaders
