// hobgoblin/fingerprint.hpp: keys of cached programs. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_FINGERPRINT_HPP
#define HOBGOBLIN_FINGERPRINT_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base.hpp"
#include "fingerprint.h"

HOB_NAMESPACE_BEGIN

/// A key of 256 bits; see hob_fingerprint.
struct Fingerprint : hob_fingerprint {
    /// Whether two keys are equal.
    friend bool operator==(const Fingerprint& a, const Fingerprint& b) noexcept {
        return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
    }
    /// Whether two keys differ.
    friend bool operator!=(const Fingerprint& a, const Fingerprint& b) noexcept { return !(a == b); }
    /// An order by bytes.
    friend bool operator<(const Fingerprint& a, const Fingerprint& b) noexcept {
        return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) < 0;
    }
};

/// A fingerprint as 64 lower-case hexadecimal digits.
inline std::string hex(const hob_fingerprint& fingerprint) {
    std::string digits(64, '\0');
    (void)hob_fingerprint_get_hex(&fingerprint, digits.data(), digits.size(), nullptr);
    return digits;
}

/// The fingerprint of bytes.
inline Result<Fingerprint> try_fingerprint(std::string_view bytes) noexcept {
    return detail::filled_by(Fingerprint(), [&](Fingerprint* fingerprint) {
        return hob_fingerprint_hash_bytes(bytes.data(), bytes.size(), fingerprint);
    });
}

/// The key of a shader: of a stage and its source; see hob_fingerprint_hash_shader.
inline Result<Fingerprint> try_shader_fingerprint(uint32_t stage, std::string_view source) noexcept {
    return detail::filled_by(Fingerprint(), [&](Fingerprint* fingerprint) {
        return hob_fingerprint_hash_shader(stage, source.data(), source.size(), fingerprint);
    });
}

/// The number of an environment; see hob_environment_get_id.
inline Result<uint64_t> try_environment_id(const hob_environment& environment) noexcept {
    return detail::filled_by(uint64_t{0}, [&](uint64_t* id) { return hob_environment_get_id(&environment, id); });
}

/// The parts of an environment that are set, to find out later which part differs.
inline Result<std::vector<hob_fingerprint_part>> try_environment_parts(const hob_environment& environment) {
    return detail::read_all<std::vector<hob_fingerprint_part>>(
        [&](hob_fingerprint_part* parts, std::size_t capacity, std::size_t* count) {
            return hob_environment_get_parts(&environment, parts, sizeof *parts, capacity, count);
        });
}

/// The input of a driver's compiler for one program; see hob_program_key_desc.
/// Text is not copied and must outlive it.
class ProgramKey {
public:
    /// An empty key.
    explicit ProgramKey(hob_fingerprint_mode mode = HOB_FINGERPRINT_MODE_BLAKE3) { desc_.mode = mode; }

    /// Adds the source of a stage: a hob_shader_stage or the host's own number. The order counts.
    ProgramKey& stage(uint32_t stage, std::string_view source) {
        stages_.push_back({stage, 0, source.data(), source.size()});
        return *this;
    }
    /// Adds an attribute binding, in any order.
    ProgramKey& attribute(std::string_view name, uint32_t location) {
        attributes_.push_back({detail::text(name), location, 0});
        return *this;
    }
    /// Sets the varyings that transform feedback captures, in order. `mode` is the graphics API's number.
    ProgramKey& feedback(uint32_t mode, ArrayView<std::string_view> varyings) {
        desc_.feedback_mode = mode;
        varyings_.clear();
        for (const std::string_view varying : varyings) varyings_.push_back(detail::text(varying));
        return *this;
    }
    /// Sets the preprocessor definitions, as any bytes.
    ProgramKey& defines(std::string_view bytes) noexcept {
        desc_.defines = bytes.data();
        desc_.defines_size = bytes.size();
        return *this;
    }
    /// Sets additional bytes that affect compilation.
    ProgramKey& extra(std::string_view bytes) noexcept {
        desc_.extra = bytes.data();
        desc_.extra_size = bytes.size();
        return *this;
    }

    /// The fingerprint of all of this.
    Result<Fingerprint> try_fingerprint() const noexcept {
        const hob_program_key_desc desc = capi();
        return detail::filled_by(Fingerprint(), [&](Fingerprint* fingerprint) {
            return hob_fingerprint_hash_program(&desc, fingerprint);
        });
    }
    /// One digest for each part, to find out later which part differs.
    Result<std::vector<hob_fingerprint_part>> try_parts() const {
        const hob_program_key_desc desc = capi();
        return detail::read_all<std::vector<hob_fingerprint_part>>(
            [&](hob_fingerprint_part* parts, std::size_t capacity, std::size_t* count) {
                return hob_fingerprint_get_program_parts(&desc, parts, sizeof *parts, capacity, count);
            });
    }
#if HOB_EXCEPTIONS
    // The throwing forms.
    Fingerprint fingerprint() const { return try_fingerprint().value(); }
    std::vector<hob_fingerprint_part> parts() const { return try_parts().value(); }
#endif

    /// The C struct. Valid until this object changes or is destroyed.
    hob_program_key_desc capi() const noexcept {
        hob_program_key_desc desc = desc_;
        desc.stages = stages_.data();
        desc.stage_count = stages_.size();
        desc.attributes = attributes_.data();
        desc.attribute_count = attributes_.size();
        desc.varyings = varyings_.data();
        desc.varying_count = varyings_.size();
        return desc;
    }

private:
    hob_program_key_desc desc_ = HOB_PROGRAM_KEY_DESC_INIT;
    std::vector<hob_program_stage> stages_;
    std::vector<hob_attribute_binding> attributes_;
    std::vector<hob_str> varyings_;
};

#if HOB_EXCEPTIONS
// The throwing forms.
inline Fingerprint fingerprint(std::string_view bytes) { return try_fingerprint(bytes).value(); }
inline Fingerprint shader_fingerprint(uint32_t stage, std::string_view source) {
    return try_shader_fingerprint(stage, source).value();
}
inline uint64_t environment_id(const hob_environment& environment) { return try_environment_id(environment).value(); }
inline std::vector<hob_fingerprint_part> environment_parts(const hob_environment& environment) {
    return try_environment_parts(environment).value();
}
#endif

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_FINGERPRINT_HPP
