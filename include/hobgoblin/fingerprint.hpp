// hobgoblin/fingerprint.hpp: names for what is cached. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_FINGERPRINT_HPP
#define HOBGOBLIN_FINGERPRINT_HPP

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base.hpp"
#include "fingerprint.h"

HOB_NAMESPACE_BEGIN

/// A name of 256 bits; see hob_fingerprint.
struct Fingerprint : hob_fingerprint {
    friend bool operator==(const Fingerprint& a, const Fingerprint& b) noexcept {
        return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
    }
    friend bool operator!=(const Fingerprint& a, const Fingerprint& b) noexcept { return !(a == b); }
    friend bool operator<(const Fingerprint& a, const Fingerprint& b) noexcept {
        return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) < 0;
    }
};

/// 64 lower-case digits.
inline std::string hex(const hob_fingerprint& fingerprint) {
    std::string text(64, '\0');
    (void)hob_fingerprint_get_hex(&fingerprint, text.data(), text.size(), nullptr);
    return text;
}

/// The name of any bytes.
inline Outcome<Fingerprint> fingerprint(std::string_view bytes) {
    Fingerprint fingerprint;
    const hob_result result = hob_fingerprint_hash_bytes(bytes.data(), bytes.size(), &fingerprint);
    if (result != HOB_RESULT_OK) return detail::fail<Fingerprint>(result);
    return fingerprint;
}

/// The number of an environment; see hob_environment.
inline Outcome<uint64_t> environment_id(const hob_environment& environment) {
    uint64_t id = 0;
    const hob_result result = hob_environment_get_id(&environment, &id);
    if (result != HOB_RESULT_OK) return detail::fail<uint64_t>(result);
    return id;
}

/// All that a driver's compiler is given for a program; see hob_program_key_desc. Nothing is copied: texts must outlive
/// it.
class ProgramKey {
public:
    explicit ProgramKey(hob_fingerprint_mode mode = HOB_FINGERPRINT_MODE_BLAKE3) { desc_.mode = mode; }

    ProgramKey& stage(uint32_t stage, std::string_view source) {
        stages_.push_back({stage, 0, source.data(), source.size()});
        return *this;
    }
    ProgramKey& attribute(std::string_view name, uint32_t location) {
        attributes_.push_back({detail::text(name), location, 0});
        return *this;
    }
    ProgramKey& feedback(uint32_t mode, const std::vector<std::string_view>& varyings) {
        desc_.feedback_mode = mode;
        varyings_.clear();
        for (const std::string_view varying : varyings) varyings_.push_back(detail::text(varying));
        return *this;
    }
    ProgramKey& defines(std::string_view bytes) noexcept {
        desc_.defines = bytes.data();
        desc_.defines_size = bytes.size();
        return *this;
    }
    ProgramKey& extra(std::string_view bytes) noexcept {
        desc_.extra = bytes.data();
        desc_.extra_size = bytes.size();
        return *this;
    }

    Outcome<Fingerprint> fingerprint() const {
        const hob_program_key_desc desc = capi();
        Fingerprint fingerprint;
        const hob_result result = hob_fingerprint_hash_program(&desc, &fingerprint);
        if (result != HOB_RESULT_OK) return detail::fail<Fingerprint>(result);
        return fingerprint;
    }
    /// To find out later which part differs.
    Outcome<std::vector<hob_fingerprint_part>> parts() const {
        using Parts = std::vector<hob_fingerprint_part>;
        const hob_program_key_desc desc = capi();
        size_t count = 0;
        hob_result result = hob_fingerprint_get_program_parts(&desc, nullptr, 0, 0, &count);
        Parts parts(count);
        const size_t stride = sizeof(hob_fingerprint_part);
        if (result == HOB_RESULT_OK)
            result = hob_fingerprint_get_program_parts(&desc, parts.data(), stride, count, &count);
        if (result != HOB_RESULT_OK) return detail::fail<Parts>(result);
        return parts;
    }
    /// Valid as long as this is, and until it is changed.
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

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_FINGERPRINT_HPP
