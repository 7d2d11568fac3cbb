#include "scene.h"

#include "noise.h"

namespace frame_budget {

namespace {

/// SplitMix64. The standard library's distributions differ between libraries; pictures should not.
class Random {
public:
    explicit Random(std::uint64_t seed) : state(seed) {}
    float unit() {
        state += 0x9E3779B97F4A7C15u;
        std::uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return static_cast<float>((z ^ (z >> 31)) >> 40) * (1.0f / 16777216.0f);
    }
    float between(float low, float high) { return mix(low, high, unit()); }

private:
    std::uint64_t state;
};

float hills(float x, float z) {
    return value_noise(x * 0.03f, z * 0.03f) + 0.5f * value_noise(x * 0.07f + 5, z * 0.07f) +
           0.25f * value_noise(x * 0.16f, z * 0.16f + 9);
}

float slope_at(float x, float z) {
    const float dx = ground_height(x + 1, z) - ground_height(x - 1, z),
                dz = ground_height(x, z + 1) - ground_height(x, z - 1);
    return 0.5f * std::sqrt(dx * dx + dz * dz);
}

Instance turned(Vec3 position, float scale, Vec3 tint, float turn) {
    return {position, scale, std::cos(turn), std::sin(turn), color_of(tint)};
}

constexpr GroundExtent ground_extent{-190, 190, -230, 62, 76, 66};
constexpr GroundExtent water_extent{-80, 80, -50, 30, 16, 8};
constexpr Vec3 scene_center{0, 3, -28};

} // namespace

float ground_height(float x, float z) {
    // A bent oval lake, shores that rise gently, and mountains around, highest at the back.
    const float bend = z + 0.004f * x * x;
    const float from_lake = std::sqrt((x - 3) * (x - 3) / (34 * 34) + (bend + 14) * (bend + 14) / (17 * 17));
    const float shore = smoothstep(0.75f, 1.9f, from_lake);
    const float away = std::sqrt(x * x + (z + 20) * (z + 20) * 1.1f);
    const float mountains = smoothstep(66, 210, away) * (8 + 52 * value_noise(x * 0.018f + 3.7f, z * 0.018f + 1.3f));
    return -1.6f + shore * (3.0f + 3.4f * hills(x, z)) + mountains;
}

std::size_t mesh_level(int detail, float distance) {
    const int level = detail - (distance > 75 ? 1 : 0) - (distance > 120 ? 1 : 0);
    return static_cast<std::size_t>(std::max(level, 0));
}

Scene::Scene(std::uint32_t seed)
    : ground(make_ground_mesh(ground_extent, ground_height)), sun(normalize({-0.36f, 0.27f, -0.88f})) {
    const Mesh water = make_water_mesh(water_extent);
    ground.insert(ground.end(), water.begin(), water.end());
    place_objects(seed);
    place_tufts(seed);
}

void Scene::place_objects(std::uint32_t seed) {
    Random random(seed);
    const auto place = [&](Kind kind, float x, float z, float size, Vec3 tint) {
        const float y = ground_height(x, z) - (kind == Kind::balloon ? 0.0f : 0.1f);
        objects.push_back({kind, turned({x, y, z}, size, tint, random.between(0, 6.2832f))});
    };
    const Vec3 silks[] = {{0.75f, 0.12f, 0.08f},
                          {0.10f, 0.30f, 0.55f},
                          {0.85f, 0.45f, 0.06f},
                          {0.35f, 0.10f, 0.40f},
                          {0.08f, 0.42f, 0.36f}};
    const float balloon_places[][2] = {{-16, -52}, {16, -82}, {33, -46}, {-44, -84}, {1, -118}};
    for (std::size_t i = 0; i < 5; ++i)
        place(Kind::balloon, balloon_places[i][0], balloon_places[i][1], random.between(8, 10), silks[i]);

    const Vec3 plasters[] = {
        {0.72f, 0.62f, 0.48f}, {0.70f, 0.47f, 0.32f}, {0.62f, 0.60f, 0.56f}, {0.66f, 0.36f, 0.27f}};
    std::vector<Vec3> houses;
    for (int attempt = 0; attempt < 20000 && houses.size() < 34; ++attempt) {
        const bool left = random.unit() < 0.55f; // two villages on the far shores
        const float x = (left ? -27.0f : 27.0f) + random.between(-17, 17),
                    z = (left ? -36.0f : -22.0f) + random.between(-11, 11);
        const float y = ground_height(x, z);
        if (y < 0.7f || slope_at(x, z) > 0.32f) continue;
        bool crowded = false;
        for (Vec3 other : houses) crowded = crowded || length(other - Vec3{x, 0, z}) < 4.8f;
        if (crowded) continue;
        houses.push_back({x, 0, z});
        place(Kind::house, x, z, random.between(3.0f, 3.8f), plasters[static_cast<std::size_t>(random.unit() * 4) & 3]);
    }
    for (int attempt = 0; objects.size() < most_objects && attempt < 4000000; ++attempt) {
        const float x = random.between(-84, 84), z = random.between(-112, 24);
        const float y = ground_height(x, z), wood = value_noise(x * 0.045f + 40, z * 0.045f);
        if (y < 0.55f || slope_at(x, z) > 0.75f) continue;
        if (z > 2 && std::abs(x) < 21 - 0.25f * (z - 2)) continue; // the eye stands here
        bool crowded = false;
        for (Vec3 other : houses) crowded = crowded || length(other - Vec3{x, 0, z}) < 3.4f;
        if (crowded || random.unit() > smoothstep(0.25f, 0.6f, wood) + 0.12f) continue;
        const float kind = random.unit(), shade = random.between(0.75f, 1.2f);
        if (kind < 0.05f) {
            place(Kind::rock, x, z, random.between(0.6f, 1.5f), Vec3{0.25f, 0.235f, 0.22f} * shade);
        } else if (kind < 0.42f + 0.3f * smoothstep(2, 6, y)) {
            place(Kind::conifer, x, z, random.between(3.6f, 7.2f), Vec3{0.055f, 0.13f, 0.06f} * shade);
        } else {
            const Vec3 leaves =
                mix(Vec3{0.13f, 0.20f, 0.045f},
                    random.unit() < 0.3f ? Vec3{0.42f, 0.16f, 0.03f} : Vec3{0.25f, 0.24f, 0.05f}, random.unit());
            place(Kind::broadleaf, x, z, random.between(3.0f, 5.4f), leaves * shade);
        }
    }
}

void Scene::place_tufts(std::uint32_t seed) {
    Random random(seed + 1);
    const Vec3 petals[] = {{0.85f, 0.75f, 0.20f}, {0.80f, 0.78f, 0.74f}, {0.62f, 0.16f, 0.22f}, {0.36f, 0.22f, 0.60f}};
    for (int attempt = 0; tufts.size() < most_tufts && attempt < 1000000; ++attempt) {
        const float z = mix(25, -2, random.unit()), x = random.between(-24, 24);
        const float y = ground_height(x, z);
        if (y < 0.6f) continue;
        const bool flower = random.unit() < 0.35f;
        const Vec3 tint = flower ? petals[static_cast<std::size_t>(4 * value_noise(x * 0.2f, z * 0.2f)) & 3]
                                 : Vec3{0.13f, 0.23f, 0.045f};
        tufts.push_back(turned({x, y - 0.03f, z}, random.between(0.35f, 0.75f), tint, random.between(0, 6.2832f)));
    }
}

Mat4 Scene::sun_projection() const {
    const Vec3 right = normalize(cross(sun * -1.0f, {0, 1, 0})), up = cross(right, sun * -1.0f);
    return orthographic(92, 46, 10, 330) * view_from(scene_center + sun * 170.0f, right, up, sun * -1.0f);
}

namespace {

Weight weight_of_crowd(float part) {
    const float crowd = smoothstep(0.18f, 0.36f, part) - smoothstep(0.60f, 0.76f, part);
    Weight weight;
    weight.objects = fewest_objects + static_cast<int>(std::lround(crowd * (most_objects - fewest_objects)));
    // The mist comes twice: first over the crowded scene, as a surprise; then over the empty one, at a known price.
    const auto between = [part](float low, float high) {
        return smoothstep(low, low + 0.03f, part) * (1 - smoothstep(high - 0.03f, high, part));
    };
    weight.mist = between(0.44f, 0.58f) + between(0.82f, 0.95f);
    return weight;
}

/// Scenes between the cuts of a script.
constexpr int cut_count = 12;

/// A number of 0 .. 1 that belongs to a scene between two cuts.
float random_of_cut(float part, int which) { return lattice_noise(static_cast<int>(part * cut_count), which); }

float swing_at(Script script, float part) {
    switch (script) {
    case Script::walk: return 5 * std::sin(3 * 6.2832f * part);
    case Script::cuts: return 8 * random_of_cut(part, 1) - 4;
    default: return std::sin(6.2832f * part);
    }
}

} // namespace

Weight weight_at(Script script, float part) {
    switch (script) {
    case Script::walk: return {(fewest_objects + most_objects) / 2, 0};
    case Script::cuts: {
        const float crowd = random_of_cut(part, 2), mist = random_of_cut(part, 3);
        return {fewest_objects + static_cast<int>(crowd * (most_objects - fewest_objects)),
                mist > 0.7f ? mist : 0};
    }
    default: return weight_of_crowd(part);
    }
}

SceneFrame Scene::frame(Script script, float part, float aspect) const {
    SceneFrame frame;
    frame.weight = weight_at(script, part);
    frame.time = 30 * part;
    look(frame, swing_at(script, part), aspect);
    return frame;
}

SceneFrame Scene::frame_of_weight(const Weight& weight, float aspect) const {
    SceneFrame frame;
    frame.weight = weight;
    look(frame, 0, aspect);
    return frame;
}

void Scene::look(SceneFrame& frame, float swing, float aspect) const {
    Camera& camera = frame.camera;
    camera.position = {5 * swing, 10.0f, 27};
    camera.forward = normalize(Vec3{-3 * swing, 5.4f, -30} - camera.position);
    camera.right = normalize(cross(camera.forward, {0, 1, 0}));
    camera.up = cross(camera.right, camera.forward);

    const float tan_x = camera.tan_half_height * aspect, tan_y = camera.tan_half_height;
    const float cos_x = 1 / std::sqrt(1 + tan_x * tan_x), cos_y = 1 / std::sqrt(1 + tan_y * tan_y);
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(frame.weight.objects); ++i) {
        const Instance instance = instance_of(i, frame);
        const float radius = instance.scale * 0.8f;
        const Vec3 to = instance.position + Vec3{0, instance.scale * 0.5f, 0} - camera.position;
        const float ahead = dot(to, camera.forward);
        const bool outside = ahead < near_plane - radius ||
                             std::abs(dot(to, camera.right)) * cos_x > ahead * tan_x * cos_x + radius ||
                             std::abs(dot(to, camera.up)) * cos_y > ahead * tan_y * cos_y + radius;
        if (!outside) frame.visible.push_back({i, ahead});
    }
}

Instance Scene::instance_of(std::uint32_t index, const SceneFrame& frame) const {
    const Object& object = objects[index];
    Instance instance = object.instance;
    instance.scale *= smoothstep(-1, 120, static_cast<float>(frame.weight.objects) - static_cast<float>(index));
    if (index < static_cast<std::uint32_t>(fewest_objects)) instance.scale = object.instance.scale;
    if (object.kind == Kind::balloon) {
        instance.position.y =
            17 + 2.5f * static_cast<float>(index) + 0.8f * std::sin(frame.time * 0.5f + static_cast<float>(index));
        instance.position.x += 2.5f * std::sin(frame.time * 0.11f + static_cast<float>(index) * 1.9f);
    }
    return instance;
}

} // namespace frame_budget
