// A physically based surface, and its variants for the objects of a world.
#include "corpus.h"

namespace program_cache_gl {

namespace {

const char* const surface_vertex = R"(
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;
layout(location = 3) in vec4 tangent;
#ifdef SKINNED
layout(location = 4) in vec4 joints;
layout(location = 5) in vec4 weights;
uniform sampler2D joint_matrices;
mat4 joint_matrix(float joint) {
    int row = int(joint) * 4;
    return mat4(texelFetch(joint_matrices, ivec2(0, row), 0), texelFetch(joint_matrices, ivec2(0, row + 1), 0),
                texelFetch(joint_matrices, ivec2(0, row + 2), 0), texelFetch(joint_matrices, ivec2(0, row + 3), 0));
}
#endif
#ifdef INSTANCED
layout(location = 6) in vec4 instance_row0;
layout(location = 7) in vec4 instance_row1;
layout(location = 8) in vec4 instance_row2;
#endif

uniform mat4 world_matrix;
uniform mat4 view_projection;
uniform mat4 shadow_matrix;
uniform float time_s;

out vec3 world_position;
out vec3 world_normal;
out vec4 world_tangent;
out vec2 uv;
out vec4 shadow_position;

void main() {
    vec4 local = vec4(position, 1.0);
    vec3 direction = normal, along = tangent.xyz;
#ifdef SKINNED
    mat4 skin = joint_matrix(joints.x) * weights.x + joint_matrix(joints.y) * weights.y +
                joint_matrix(joints.z) * weights.z + joint_matrix(joints.w) * weights.w;
    local = skin * local;
    direction = mat3(skin) * direction;
    along = mat3(skin) * along;
#endif
    vec4 world = world_matrix * local;
#ifdef INSTANCED
    world = vec4(dot(instance_row0, world), dot(instance_row1, world), dot(instance_row2, world), 1.0);
#endif
#ifdef WIND
    float sway = sin(time_s * 1.7 + dot(world.xz, vec2(0.31, 0.57))) + 0.5 * sin(time_s * 3.9 + world.x);
    world.xz += sway * 0.04 * local.y * local.y * vec2(0.8, 0.6);
#endif
    world_position = world.xyz;
    world_normal = mat3(world_matrix) * direction;
    world_tangent = vec4(mat3(world_matrix) * along, tangent.w);
    uv = texcoord;
    shadow_position = shadow_matrix * world;
    gl_Position = view_projection * world;
}
)";

const char* const surface_fragment = R"(
in vec3 world_position;
in vec3 world_normal;
in vec4 world_tangent;
in vec2 uv;
in vec4 shadow_position;
layout(location = 0) out vec4 color;
#ifdef VELOCITY
layout(location = 1) out vec4 velocity;
uniform mat4 previous_view_projection;
#endif

#ifndef LIGHTS
#define LIGHTS 0
#endif

uniform vec3 camera_position;
uniform vec3 sun_direction;
uniform vec3 sun_color;
uniform vec4 base_color_factor;
uniform vec2 metal_rough_factor;
uniform sampler2D base_color_map;
#ifdef METAL_ROUGH_MAP
uniform sampler2D metal_rough_map;
#endif
#ifdef NORMAL_MAP
uniform sampler2D normal_map;
#endif
#ifdef PARALLAX
uniform sampler2D height_map;
#endif
#ifdef EMISSIVE
uniform sampler2D emissive_map;
uniform vec3 emissive_factor;
#endif
#ifdef SHADOW_TAPS
uniform sampler2DShadow shadow_map;
uniform vec2 shadow_texel;
#endif
#ifdef IMAGE_LIGHT
uniform samplerCube radiance_map;
uniform vec4 irradiance[9];
uniform float radiance_levels;
#endif
#if LIGHTS > 0
uniform vec4 light_position_range[LIGHTS];
uniform vec4 light_color_cone[LIGHTS];
uniform vec3 light_direction[LIGHTS];
#endif
#ifdef FOG
uniform vec4 fog_color_density;
uniform vec2 fog_height_falloff;
#endif
#ifdef SHEEN
uniform vec4 sheen_color_roughness;
#endif
#ifdef CLEARCOAT
uniform vec2 clearcoat_strength_roughness;
#endif
#ifdef TRANSLUCENT
uniform vec4 translucency;
#endif
#ifdef DETAIL
uniform sampler2D detail_map;
#endif

const float pi = 3.14159265;

float distribution(float n_dot_h, float alpha) {
    float a2 = alpha * alpha, d = n_dot_h * n_dot_h * (a2 - 1.0) + 1.0;
    return a2 / (pi * d * d);
}

float visibility(float n_dot_v, float n_dot_l, float alpha) {
    float a2 = alpha * alpha;
    float v = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2);
    float l = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    return 0.5 / max(v + l, 1e-4);
}

vec3 fresnel(vec3 f0, float v_dot_h) {
    float x = 1.0 - v_dot_h, x2 = x * x;
    return f0 + (1.0 - f0) * x2 * x2 * x;
}

struct Surface {
    vec3 diffuse, f0, normal, view;
    float alpha, n_dot_v;
};

vec3 shade(Surface s, vec3 to_light, vec3 radiance) {
    vec3 h = normalize(s.view + to_light);
    float n_dot_l = clamp(dot(s.normal, to_light), 0.0, 1.0);
    float n_dot_h = clamp(dot(s.normal, h), 0.0, 1.0), v_dot_h = clamp(dot(s.view, h), 0.0, 1.0);
    vec3 f = fresnel(s.f0, v_dot_h);
    vec3 specular = f * distribution(n_dot_h, s.alpha) * visibility(s.n_dot_v, n_dot_l, s.alpha);
    vec3 result = (1.0 - f) * s.diffuse / pi + specular;
#ifdef SHEEN
    float inverse = 1.0 / max(sheen_color_roughness.w, 0.07), sine = sqrt(max(1.0 - n_dot_h * n_dot_h, 0.0078125));
    float cloth = (2.0 + inverse) * pow(sine, inverse) / (2.0 * pi);
    result += sheen_color_roughness.rgb * cloth / (4.0 * (n_dot_l + s.n_dot_v - n_dot_l * s.n_dot_v) + 1e-3);
#endif
#ifdef CLEARCOAT
    float coat_alpha = clearcoat_strength_roughness.y * clearcoat_strength_roughness.y;
    float coat_fresnel = fresnel(vec3(0.04), v_dot_h).x * clearcoat_strength_roughness.x;
    result = result * (1.0 - coat_fresnel) +
             coat_fresnel * distribution(n_dot_h, coat_alpha) * visibility(s.n_dot_v, n_dot_l, coat_alpha);
#endif
    vec3 lit = result * radiance * n_dot_l;
#ifdef TRANSLUCENT
    float through = pow(clamp(dot(s.view, -normalize(to_light + s.normal * 0.3)), 0.0, 1.0), 4.0);
    lit += translucency.rgb * radiance * (through + 0.1) * translucency.w;
#endif
    return lit;
}

#ifdef SHADOW_TAPS
float sun_visibility() {
    vec3 p = shadow_position.xyz / shadow_position.w * 0.5 + 0.5;
    p.z -= 0.0015;
#if SHADOW_TAPS == 1
    return texture(shadow_map, p);
#else
    float angle = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) * 2.0 * pi, sum = 0.0;
    for (int i = 0; i < SHADOW_TAPS; ++i) {
        float radius = sqrt((float(i) + 0.5) / float(SHADOW_TAPS)), turn = angle + float(i) * 2.39996;
        sum += texture(shadow_map, vec3(p.xy + vec2(cos(turn), sin(turn)) * radius * 3.0 * shadow_texel, p.z));
    }
    return sum / float(SHADOW_TAPS);
#endif
}
#endif

#ifdef PARALLAX
vec2 march_height(vec3 view_in_tangent_space) {
    vec2 step_uv = view_in_tangent_space.xy / max(view_in_tangent_space.z, 0.2) * 0.04 / float(PARALLAX), at = uv;
    float depth = 0.0, height = 1.0 - texture(height_map, at).r;
    for (int i = 0; i < PARALLAX; ++i) {
        if (depth >= height) break;
        at -= step_uv;
        depth += 1.0 / float(PARALLAX);
        height = 1.0 - textureLod(height_map, at, 0.0).r;
    }
    vec2 before = at + step_uv;
    float over = depth - height, under = 1.0 - textureLod(height_map, before, 0.0).r - depth + 1.0 / float(PARALLAX);
    return mix(at, before, over / max(over + under, 1e-4));
}
#endif

#ifdef IMAGE_LIGHT
vec3 ambient_light(Surface s) {
    vec3 n = s.normal;
    vec3 e = irradiance[0].rgb + irradiance[1].rgb * n.y + irradiance[2].rgb * n.z + irradiance[3].rgb * n.x +
             irradiance[4].rgb * n.x * n.y + irradiance[5].rgb * n.y * n.z +
             irradiance[6].rgb * (3.0 * n.z * n.z - 1.0) + irradiance[7].rgb * n.x * n.z +
             irradiance[8].rgb * (n.x * n.x - n.y * n.y);
    vec3 mirrored = reflect(-s.view, n);
    vec3 radiance = textureLod(radiance_map, mirrored, sqrt(s.alpha) * radiance_levels).rgb;
    vec4 r = sqrt(s.alpha) * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a004 = min(r.x * r.x, exp2(-9.28 * s.n_dot_v)) * r.x + r.y;
    vec2 scale_bias = vec2(-1.04, 1.04) * a004 + r.zw;
    return e * s.diffuse / pi + radiance * (s.f0 * scale_bias.x + scale_bias.y);
}
#endif

void main() {
    vec3 view = normalize(camera_position - world_position), n = normalize(world_normal);
    vec3 t = normalize(world_tangent.xyz - n * dot(n, world_tangent.xyz));
    mat3 frame = mat3(t, cross(n, t) * world_tangent.w, n);
    vec2 at = uv;
#ifdef PARALLAX
    at = march_height(view * frame);
#endif
    vec4 base = base_color_factor * texture(base_color_map, at);
#ifdef DETAIL
    base.rgb *= texture(detail_map, at * 16.0).rgb * 2.0;
#endif
#ifdef ALPHA_TEST
    if (base.a < 0.5) discard;
#endif
    vec2 metal_rough = metal_rough_factor;
#ifdef METAL_ROUGH_MAP
    metal_rough *= texture(metal_rough_map, at).bg;
#endif
#ifdef NORMAL_MAP
    vec3 bump = texture(normal_map, at).xyz * 2.0 - 1.0;
#ifdef DETAIL
    bump.xy += texture(detail_map, at * 16.0).ba - 0.5;
#endif
    n = normalize(frame * bump);
#endif
#ifdef TWO_SIDED
    if (!gl_FrontFacing) n = -n;
#endif
    Surface s;
    s.diffuse = base.rgb * (1.0 - metal_rough.x);
    s.f0 = mix(vec3(0.04), base.rgb, metal_rough.x);
    s.normal = n;
    s.view = view;
    s.alpha = max(metal_rough.y * metal_rough.y, 0.002);
    s.n_dot_v = max(dot(n, view), 1e-3);

    float sun = 1.0;
#ifdef SHADOW_TAPS
    sun = sun_visibility();
#endif
    vec3 light = shade(s, sun_direction, sun_color * sun);
#if LIGHTS > 0
    for (int i = 0; i < LIGHTS; ++i) {
        vec3 to_light = light_position_range[i].xyz - world_position;
        float range = light_position_range[i].w, distance2 = dot(to_light, to_light);
        float part = distance2 / (range * range);
        float fade = clamp(1.0 - part * part, 0.0, 1.0);
        to_light *= inversesqrt(max(distance2, 1e-4));
        float cone = smoothstep(light_color_cone[i].w, light_color_cone[i].w + 0.1, dot(-to_light, light_direction[i]));
        light += shade(s, to_light, light_color_cone[i].rgb * fade * fade * cone / max(distance2, 1e-2));
    }
#endif
#ifdef IMAGE_LIGHT
    light += ambient_light(s);
#else
    light += s.diffuse * mix(vec3(0.05, 0.045, 0.04), vec3(0.1, 0.12, 0.16), n.y * 0.5 + 0.5);
#endif
#ifdef EMISSIVE
    light += emissive_factor * texture(emissive_map, at).rgb;
#endif
#ifdef FOG
    float far = distance(camera_position, world_position);
    float height = exp(-max(world_position.y - fog_height_falloff.x, 0.0) * fog_height_falloff.y);
    float fog = 1.0 - exp(-far * fog_color_density.w * height);
    light = mix(light, fog_color_density.rgb + sun_color * 0.3 * pow(max(dot(-view, sun_direction), 0.0), 8.0), fog);
#endif
#ifdef VELOCITY
    vec4 before = previous_view_projection * vec4(world_position, 1.0);
    velocity = vec4(before.xy / before.w, before.z / before.w, 1.0);
#endif
    color = vec4(light, base.a);
}
)";

struct Surface {
    const char *name, *words;
};

constexpr Surface kinds[] = {
    {"plaster", ""},
    {"wood", "NORMAL_MAP METAL_ROUGH_MAP"},
    {"brick", "NORMAL_MAP METAL_ROUGH_MAP PARALLAX=16"},
    {"foliage", "ALPHA_TEST TWO_SIDED WIND TRANSLUCENT INSTANCED"},
    {"cloth", "NORMAL_MAP SHEEN"},
    {"car-paint", "METAL_ROUGH_MAP CLEARCOAT"},
    {"skin", "NORMAL_MAP METAL_ROUGH_MAP SKINNED TRANSLUCENT"},
    {"armour", "NORMAL_MAP METAL_ROUGH_MAP SKINNED CLEARCOAT EMISSIVE"},
    {"terrain", "NORMAL_MAP DETAIL"},
    {"sign", "EMISSIVE METAL_ROUGH_MAP"},
};

constexpr Surface lightings[] = {
    {"menu", "IMAGE_LIGHT"},
    {"outdoors", "SHADOW_TAPS=16 IMAGE_LIGHT FOG VELOCITY"},
    {"outdoors-low", "SHADOW_TAPS=1 FOG"},
    {"indoors", "LIGHTS=4 IMAGE_LIGHT VELOCITY"},
    {"night", "LIGHTS=8 SHADOW_TAPS=4 FOG"},
};

} // namespace

void add_surfaces(std::vector<Program>& programs) {
    for (const Surface& kind : kinds)
        for (const Surface& lighting : lightings) {
            const std::string head = defines(std::string(kind.words) + " " + lighting.words);
            programs.push_back({std::string(kind.name) + "-" + lighting.name, head + surface_vertex,
                                head + surface_fragment});
        }
}

} // namespace program_cache_gl
