// fingerprint.h: names of programs and environments, equal if and only if the inputs are equal.
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <hobgoblin/hobgoblin.hpp>

#include "support.h"

using namespace support;

namespace {

const char vertex_source[] = "attribute vec4 a;void main(){gl_Position=a;}";
const char fragment_source[] = "void main(){gl_FragColor=vec4(1.0);}";

hob_program_stage stage(uint32_t number, std::string_view source) {
    return hob_program_stage{number, 0, source.data(), source.size()};
}

/// A desc and its data. The default is the program of docs/formats.md, with all fields.
struct Described {
    std::vector<hob_program_stage> stages = {stage(HOB_SHADER_STAGE_VERTEX, vertex_source),
                                             stage(HOB_SHADER_STAGE_FRAGMENT, fragment_source)};
    std::vector<hob_attribute_binding> attributes = {{HOB_STR("uv"), 1, 0}, {HOB_STR("position"), 0, 0}};
    std::vector<hob_str> varyings = {HOB_STR("out_position"), HOB_STR("out_normal")};
    std::string defines = "FOG 1\n";
    std::string extra = "\x01";
    hob_fingerprint_mode mode = HOB_FINGERPRINT_MODE_BLAKE3;
    uint32_t feedback_mode = 0x8C8C;

    hob_program_key_desc desc() const {
        hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;
        desc.mode = mode;
        desc.stages = stages.data();
        desc.stage_count = stages.size();
        desc.attributes = attributes.data();
        desc.attribute_count = attributes.size();
        desc.varyings = varyings.data();
        desc.varying_count = varyings.size();
        desc.defines = defines.data();
        desc.defines_size = defines.size();
        desc.extra = extra.data();
        desc.extra_size = extra.size();
        desc.feedback_mode = feedback_mode;
        return desc;
    }
};

/// Writes a number into an enum that may not have it.
template <class Enum>
void set_number(Enum* place, uint32_t number) {
    static_assert(sizeof(Enum) == sizeof number, "enums have 32 bits");
    std::memcpy(place, &number, sizeof number);
}

/// A desc with two stages and no other field.
Described plain() {
    Described program;
    program.attributes.clear();
    program.varyings.clear();
    program.defines.clear();
    program.extra.clear();
    program.feedback_mode = 0;
    return program;
}

std::string hex(const hob_fingerprint& fingerprint) {
    std::string text(64, '?');
    size_t size = 0;
    ENSURE_OK(hob_fingerprint_get_hex(&fingerprint, text.data(), text.size(), &size));
    ENSURE(size == 64);
    return text;
}

std::string name(const hob_program_key_desc& desc) {
    hob_fingerprint fingerprint = {};
    ENSURE_OK(hob_fingerprint_hash_program(&desc, &fingerprint));
    return hex(fingerprint);
}

std::string name(const Described& program) {
    return name(program.desc());
}

/// The result for an invalid desc; the call must write nothing.
hob_result refused(const hob_program_key_desc& desc) {
    hob_fingerprint fingerprint;
    std::memset(&fingerprint, 0xa5, sizeof fingerprint);
    const hob_fingerprint before = fingerprint;
    const hob_result result = hob_fingerprint_hash_program(&desc, &fingerprint);
    ENSURE(hob_fingerprint_equal(&fingerprint, &before));
    size_t count = 77;
    ENSURE(hob_fingerprint_get_program_parts(&desc, nullptr, 0, 0, &count) == result && count == 77);
    return result;
}

std::vector<hob_fingerprint_part> parts(const Described& program) {
    const hob_program_key_desc desc = program.desc();
    size_t count = 0;
    ENSURE_OK(hob_fingerprint_get_program_parts(&desc, nullptr, 0, 0, &count));
    std::vector<hob_fingerprint_part> parts(count);
    ENSURE_OK(hob_fingerprint_get_program_parts(&desc, parts.data(), sizeof parts[0], count, &count));
    return parts;
}

hob_environment known_environment() {
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    environment.api = HOB_GRAPHICS_API_VULKAN;
    environment.vendor_id = 0x10005;
    environment.device_id = 1;
    environment.pointer_size = 8;
    environment.driver_version = 0x5000001;
    for (uint8_t n = 0; n < 16; ++n) {
        environment.device_uuid[n] = n;
        environment.driver_uuid[n] = static_cast<uint8_t>(16 + n);
    }
    environment.vendor = HOB_STR("Mesa");
    environment.device = HOB_STR("llvmpipe");
    environment.driver = HOB_STR("25.0.7");
    environment.build = HOB_STR("build 7");
    return environment;
}

uint64_t number(const hob_environment& environment) {
    uint64_t id = 0;
    ENSURE_OK(hob_environment_get_id(&environment, &id));
    return id;
}

}  // namespace

TEST("fingerprint: program names match the document") {
    hob_fingerprint of_nothing = {};
    ENSURE_OK(hob_fingerprint_hash_bytes(nullptr, 0, &of_nothing));
    ENSURE(hex(of_nothing) == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    ENSURE(name(plain()) == "21683c421ac2cc55b1dacb9eb47ac8dd03ec68f48f03340e91f0320451ec8676");
    ENSURE(name(Described()) == "8f5e2887e5098565cdebff1b7c271f4ff3e1a56e48878c3d5e274f78eb90d61c");
    std::string text(5000, '\0');
    for (size_t n = 0; n < text.size(); ++n) text[n] = static_cast<char>(n % 251);
    Described longer = plain();
    longer.stages = {stage(HOB_SHADER_STAGE_VERTEX, text)};
    ENSURE(name(longer) == "47d69866a924818b608b96ef0ea89d371df5f0f786326df496463309cdf8de7f");
}

TEST("fingerprint: SHA-1 names match the document") {
    Described program = plain();
    program.mode = HOB_FINGERPRINT_MODE_SHA1;
    ENSURE(name(program) == "73637e051365faa8d18861b01b6fd2dbcb915265000000000000000000000000");
    program.attributes = Described().attributes;
    ENSURE(name(program) == "c30522a7687297c02b6d8f448607393ecd42804f000000000000000000000000");
}

TEST("fingerprint: SHA-1 rejects unsupported inputs") {
    Described program = plain();
    program.mode = HOB_FINGERPRINT_MODE_SHA1;
    const std::vector<std::function<void(Described&)>> changes = {
        [](Described& d) { d.stages.pop_back(); },
        [](Described& d) { d.stages[1] = d.stages[0]; },
        [](Described& d) { d.stages.push_back(d.stages[0]); },
        [](Described& d) { d.defines = "x"; },
        [](Described& d) { d.extra = "x"; },
        [](Described& d) { d.feedback_mode = 1; },
        [](Described& d) { d.varyings = {HOB_STR("v")}; },
    };
    for (const auto& change : changes) {
        Described changed = program;
        change(changed);
        ENSURE(refused(changed.desc()) == HOB_RESULT_UNSUPPORTED && last_error_has("BLAKE3"));
    }
}

TEST("fingerprint: every input changes the name and one part") {
    const std::vector<std::pair<uint32_t, std::function<void(Described&)>>> changes = {
        {HOB_PROGRAM_PART_STAGE, [](Described& d) { d.stages[0] = stage(HOB_SHADER_STAGE_VERTEX, "other"); }},
        {HOB_PROGRAM_PART_STAGE, [](Described& d) { d.stages[1] = stage(HOB_SHADER_STAGE_FRAGMENT, ""); }},
        {HOB_PROGRAM_PART_STAGE, [](Described& d) { d.stages[1].stage = HOB_SHADER_STAGE_COMPUTE; }},
        {HOB_PROGRAM_PART_STAGE, [](Described& d) { d.stages[1].stage = HOB_SHADER_STAGE_USER + 5; }},
        {HOB_PROGRAM_PART_ATTRIBUTES, [](Described& d) { d.attributes[0].location = 2; }},
        {HOB_PROGRAM_PART_ATTRIBUTES, [](Described& d) { d.attributes[0].name = HOB_STR("different!"); }},
        {HOB_PROGRAM_PART_DEFINES, [](Described& d) { d.defines = "FOG 2\n"; }},
        {HOB_PROGRAM_PART_FEEDBACK, [](Described& d) { d.feedback_mode = 0x8C8D; }},
        {HOB_PROGRAM_PART_FEEDBACK, [](Described& d) { std::swap(d.varyings[0], d.varyings[1]); }},
        {HOB_PROGRAM_PART_EXTRA, [](Described& d) { d.extra = "\x02"; }},
    };
    const std::vector<hob_fingerprint_part> before = parts(Described());
    ENSURE(before.size() == 6);
    for (const auto& [kind, change] : changes) {
        Described changed;
        change(changed);
        ENSURE(name(changed) != name(Described()));
        const std::vector<hob_fingerprint_part> after = parts(changed);
        ENSURE(after.size() == before.size());
        for (size_t n = 0; n < before.size(); ++n) {
            if (std::memcmp(&before[n], &after[n], sizeof before[n]) != 0) ENSURE(before[n].kind == kind);
        }
    }
}

TEST("fingerprint: a stage's part begins like the name of its bytes") {
    hob_fingerprint of_vertex = {};
    ENSURE_OK(hob_fingerprint_hash_bytes(vertex_source, sizeof vertex_source - 1, &of_vertex));
    const hob_fingerprint_part part = parts(Described())[0];
    ENSURE(part.kind == HOB_PROGRAM_PART_STAGE && part.index == HOB_SHADER_STAGE_VERTEX);
    ENSURE(part.size == sizeof vertex_source - 1 && std::memcmp(part.digest, of_vertex.bytes, 8) == 0);
}

TEST("fingerprint: a source may end in NUL instead of having a length") {
    Described program = plain();
    program.stages[0].size = SIZE_MAX;
    ENSURE(name(program) == name(plain()));
}

TEST("fingerprint: attribute order is ignored and the last duplicate wins") {
    Described turned;
    std::swap(turned.attributes[0], turned.attributes[1]);
    ENSURE(name(turned) == name(Described()));
    Described twice;
    twice.attributes.insert(twice.attributes.begin(), {HOB_STR("uv"), 9, 0});
    ENSURE(name(twice) == name(Described()));
    std::swap(twice.attributes[0], twice.attributes[1]);
    ENSURE(name(twice) != name(Described()));
}

TEST("fingerprint: arrays inside a program's own structs are read by their stride") {
    struct Own {
        hob_program_stage stage;
        uint64_t more;
    };
    const Own own[2] = {{Described().stages[0], UINT64_MAX}, {Described().stages[1], UINT64_MAX}};
    hob_program_key_desc desc = plain().desc();
    desc.stages = &own[0].stage;
    desc.stage_stride = sizeof own[0];
    ENSURE(name(desc) == name(plain()));
}

TEST("fingerprint: the initialiser sets strides, and 0 is the first released size") {
    const hob_program_key_desc with_strides = HOB_PROGRAM_KEY_DESC_INIT;
    ENSURE(with_strides.stage_stride == sizeof(hob_program_stage) && with_strides.varying_stride == sizeof(hob_str));
    ENSURE(with_strides.attribute_stride == sizeof(hob_attribute_binding));
    const Described program;
    hob_program_key_desc desc = program.desc();
    desc.stage_stride = desc.attribute_stride = desc.varying_stride = 0;
    ENSURE(name(desc) == name(program));
    size_t count = 0;
    hob_fingerprint_part found[6];
    ENSURE_OK(hob_fingerprint_get_program_parts(&desc, found, 0, 6, &count));
    ENSURE(count == 6 && std::memcmp(found, parts(program).data(), sizeof found) == 0);
}

TEST("fingerprint: a struct that is zero except for its size works") {
    const Described program = plain();
    hob_program_key_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.stages = program.stages.data();
    desc.stage_count = program.stages.size();
    ENSURE(name(desc) == name(program));
    hob_environment zeroed = {};
    zeroed.struct_size = sizeof zeroed;
    ENSURE(number(zeroed) == number(HOB_ENVIRONMENT_INIT));
}

TEST("fingerprint: invalid descs are rejected with a message") {
    const Described good;
    hob_fingerprint fingerprint = {};
    ENSURE(hob_fingerprint_hash_program(nullptr, &fingerprint) == HOB_RESULT_INVALID_ARGUMENT);
    const hob_program_key_desc desc = good.desc();
    ENSURE(hob_fingerprint_hash_program(&desc, nullptr) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("out_fingerprint"));
    struct Case {
        hob_result result;
        const char* sentence;
        std::function<void(hob_program_key_desc&)> change;
    };
    const hob_program_stage no_source = {HOB_SHADER_STAGE_VERTEX, 0, nullptr, 5};
    const hob_program_stage no_end = {HOB_SHADER_STAGE_VERTEX, 0, nullptr, SIZE_MAX};
    const hob_program_stage too_long = {HOB_SHADER_STAGE_VERTEX, 0, "x", SIZE_MAX - 1};
    const hob_program_stage unknown = {14, 0, "x", 1};
    const hob_attribute_binding not_text = {HOB_STR("\xff"), 0, 0};
    const hob_str no_name = {nullptr, 3};
    const auto one_stage = [](const hob_program_stage& stage) {
        return [&stage](hob_program_key_desc& d) { d.stages = &stage, d.stage_count = 1; };
    };
    const Case cases[] = {
        {HOB_RESULT_INVALID_ARGUMENT, "no stage", [](auto& d) { d.stage_count = 0; }},
        {HOB_RESULT_INVALID_ARGUMENT, "NULL", [](auto& d) { d.stages = nullptr; }},
        {HOB_RESULT_INVALID_ARGUMENT, "stride", [](auto& d) { d.stage_stride = 4; }},
        {HOB_RESULT_LIMIT_EXCEEDED, "1024", [](auto& d) { d.stage_count = 1025; }},
        {HOB_RESULT_LIMIT_EXCEEDED, "1024", [](auto& d) { d.stage_count = SIZE_MAX; }},
        {HOB_RESULT_INVALID_ARGUMENT, "address space", [](auto& d) { d.stage_stride = SIZE_MAX; }},
        {HOB_RESULT_INVALID_ARGUMENT, "source", one_stage(no_source)},
        {HOB_RESULT_INVALID_ARGUMENT, "source", one_stage(no_end)},
        {HOB_RESULT_INVALID_ARGUMENT, "source", one_stage(too_long)},
        {HOB_RESULT_INVALID_ARGUMENT, "stage 14", one_stage(unknown)},
        {HOB_RESULT_INVALID_ARGUMENT, "NULL", [](auto& d) { d.attributes = nullptr; }},
        {HOB_RESULT_LIMIT_EXCEEDED, "1024", [](auto& d) { d.attribute_count = 1025; }},
        {HOB_RESULT_INVALID_ARGUMENT, "UTF-8", [&](auto& d) { d.attributes = &not_text, d.attribute_count = 1; }},
        {HOB_RESULT_INVALID_ARGUMENT, "NULL", [&](auto& d) { d.varyings = &no_name, d.varying_count = 1; }},
        {HOB_RESULT_LIMIT_EXCEEDED, "1024", [](auto& d) { d.varying_count = 1025; }},
        {HOB_RESULT_INVALID_ARGUMENT, "defines", [](auto& d) { d.defines = nullptr; }},
        {HOB_RESULT_INVALID_ARGUMENT, "defines", [](auto& d) { d.defines_size = SIZE_MAX; }},
        {HOB_RESULT_INVALID_ARGUMENT, "extra", [](auto& d) { d.extra_size = SIZE_MAX; }},
        {HOB_RESULT_INVALID_ARGUMENT, "mode 2", [](auto& d) { set_number(&d.mode, 2); }},
        {HOB_RESULT_INVALID_ARGUMENT, "HOB_PROGRAM_KEY_DESC_INIT", [](auto& d) { d.struct_size = 0; }},
    };
    for (const Case& each : cases) {
        hob_program_key_desc changed = good.desc();
        each.change(changed);
        EXPECT(refused(changed) == each.result);
        if (!last_error_has(each.sentence)) harness::note(__FILE__, __LINE__, each.sentence);
    }
}

TEST("fingerprint: invalid bytes, names and buffers are rejected") {
    hob_fingerprint fingerprint = {};
    ENSURE(hob_fingerprint_hash_bytes("x", 1, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_fingerprint_hash_bytes(nullptr, 1, &fingerprint) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_fingerprint_hash_bytes("x", SIZE_MAX, &fingerprint) == HOB_RESULT_INVALID_ARGUMENT);
    char buffer[65] = "untouched";
    size_t size = 0;
    ENSURE(hob_fingerprint_get_hex(nullptr, buffer, 64, &size) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_fingerprint_get_hex(&fingerprint, nullptr, 0, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE_OK(hob_fingerprint_get_hex(&fingerprint, nullptr, 0, &size));
    ENSURE(hob_fingerprint_get_hex(&fingerprint, buffer, 63, &size) == HOB_RESULT_BUFFER_TOO_SMALL && size == 64);
    ENSURE(std::string(buffer) == "untouched");
    ENSURE_OK(hob_fingerprint_get_hex(&fingerprint, buffer, 64, nullptr));
    ENSURE(std::string(buffer, 65) == std::string(64, '0') + '\0');
    ENSURE(!hob_fingerprint_equal(nullptr, nullptr) && !hob_fingerprint_equal(&fingerprint, nullptr));
    hob_fingerprint other = fingerprint;
    ENSURE(hob_fingerprint_equal(&fingerprint, &other) == 1);
    other.bytes[31] = 1;
    ENSURE(hob_fingerprint_equal(&fingerprint, &other) == 0);
}

TEST("fingerprint: parts are written only up to the given capacity") {
    hob_fingerprint_part found[6];
    std::memset(found, 0xa5, sizeof found);
    const hob_fingerprint_part untouched = found[0];
    size_t count = 0;
    const Described held;
    const hob_program_key_desc good = held.desc();
    ENSURE(hob_fingerprint_get_program_parts(&good, found, sizeof found[0], 5, &count) == HOB_RESULT_BUFFER_TOO_SMALL);
    ENSURE(count == 6 && std::memcmp(&found[0], &untouched, sizeof untouched) == 0);
    ENSURE(hob_fingerprint_get_program_parts(&good, found, 8, 6, &count) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_fingerprint_get_program_parts(&good, nullptr, 0, 0, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE_OK(hob_fingerprint_get_program_parts(&good, found, sizeof found[0], 6, nullptr));
    ENSURE(found[5].kind == HOB_PROGRAM_PART_EXTRA && found[5].size == 1);
}

TEST("fingerprint: environment ids match the document") {
    // The document lists the bytes in memory order. The number is little-endian.
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    ENSURE(environment.pointer_size == sizeof(void*));
    environment.pointer_size = 8;
    ENSURE(number(environment) == 0x829f84942c9f9f00u);
    ENSURE(number(known_environment()) == 0x8d4b17e26a2620a5u);
}

TEST("fingerprint: every field of an environment changes its id and is a part") {
    const std::vector<std::function<void(hob_environment&)>> changes = {
        [](hob_environment& e) { e.api = HOB_GRAPHICS_API_OPENGL; },
        [](hob_environment& e) { e.vendor_id = 1; },
        [](hob_environment& e) { e.device_id = 2; },
        [](hob_environment& e) { e.pointer_size = 4; },
        [](hob_environment& e) { e.driver_version += 1; },
        [](hob_environment& e) { e.device_uuid[15] ^= 1; },
        [](hob_environment& e) { e.driver_uuid[0] ^= 1; },
        [](hob_environment& e) { e.vendor = HOB_STR("mesa"); },
        [](hob_environment& e) { e.device = HOB_STR(""); },
        [](hob_environment& e) { e.driver = HOB_STR("25.0.8"); },
        [](hob_environment& e) { e.build = HOB_STR("build 8"); },
    };
    const hob_environment known = known_environment();
    for (const auto& change : changes) {
        hob_environment changed = known;
        change(changed);
        ENSURE(number(changed) != number(known));
    }
    hob_fingerprint_part parts[11];
    size_t count = 0;
    ENSURE_OK(hob_environment_get_parts(&known, parts, sizeof parts[0], 11, &count));
    ENSURE(count == changes.size());
    for (uint32_t n = 0; n < 11; ++n) ENSURE(parts[n].kind == HOB_ENVIRONMENT_PART_API + n && parts[n].index == 0);
}

TEST("fingerprint: invalid environments are rejected") {
    uint64_t id = 77;
    size_t count = 77;
    hob_environment environment = known_environment();
    ENSURE(hob_environment_get_id(nullptr, &id) == HOB_RESULT_INVALID_ARGUMENT);
    ENSURE(hob_environment_get_id(&environment, nullptr) == HOB_RESULT_INVALID_ARGUMENT);
    environment.api = 8;
    ENSURE(hob_environment_get_id(&environment, &id) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("API 8"));
    environment.api = HOB_GRAPHICS_API_USER;
    environment.vendor = hob_str{nullptr, 4};
    ENSURE(hob_environment_get_id(&environment, &id) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("vendor"));
    environment.vendor = hob_str{"x", SIZE_MAX - 1};
    ENSURE(hob_environment_get_parts(&environment, nullptr, 0, 0, &count) == HOB_RESULT_INVALID_ARGUMENT);
    environment.vendor = HOB_STR("\xc3");
    ENSURE(hob_environment_get_id(&environment, &id) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("UTF-8"));
    ENSURE(id == 77 && count == 77);
}

TEST("fingerprint: the wrapper gives the same names") {
    hob::ProgramKey key;
    key.stage(HOB_SHADER_STAGE_VERTEX, vertex_source).stage(HOB_SHADER_STAGE_FRAGMENT, fragment_source);
    ENSURE(hob::hex(key.fingerprint()) == name(plain()));
    key.attribute("uv", 1).attribute("position", 0).defines("FOG 1\n").extra("\x01");
    key.feedback(0x8C8C, {"out_position", "out_normal"});
    ENSURE(hob::hex(key.fingerprint()) == name(Described()));
    ENSURE(key.parts().size() == 6);
    ENSURE(key.fingerprint() == key.fingerprint() && !(key.fingerprint() != key.fingerprint()));
    ENSURE(hob::hex(hob::fingerprint("")) == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    ENSURE(hob::environment_id(known_environment()) == number(known_environment()));
    bool thrown = false;
    try {
        (void)hob::ProgramKey().fingerprint();
    } catch (const hob::Error& error) {
        thrown = error.code() == HOB_RESULT_INVALID_ARGUMENT;
    }
    ENSURE(thrown);
}
