// hobgoblin/profile.hpp: what things have been found to cost. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_PROFILE_HPP
#define HOBGOBLIN_PROFILE_HPP

#include <memory>
#include <string>
#include <string_view>

#include "base.hpp"
#include "profile.h"

HOB_NAMESPACE_BEGIN

/// What things have been found to cost.
class Profile {
public:
#if HOB_EXCEPTIONS
    Profile() : Profile(create()) {}
#endif
    static Outcome<Profile> create() {
        hob_profile* profile = nullptr;
        const hob_result result = hob_profile_create(nullptr, &profile);
        if (result != HOB_RESULT_OK) return detail::fail<Profile>(result);
        return Profile(profile);
    }
    /// Own a C handle.
    explicit Profile(hob_profile* profile) noexcept : profile_(profile) {}

    Outcome<void> load(std::string_view json) {
        return detail::check(hob_profile_load(profile_.get(), json.data(), json.size()));
    }
    Outcome<std::string> save() const {
        size_t size = 0;
        hob_result result = hob_profile_save(profile_.get(), nullptr, 0, &size);
        std::string json(size, '\0');
        if (result == HOB_RESULT_OK) result = hob_profile_save(profile_.get(), json.data(), size, &size);
        if (result != HOB_RESULT_OK) return detail::fail<std::string>(result);
        return json;
    }
    Outcome<void> load_file(std::string_view path) {
        return detail::check(hob_profile_load_file(profile_.get(), detail::text(path)));
    }
    Outcome<void> save_file(std::string_view path) const {
        return detail::check(hob_profile_save_file(profile_.get(), detail::text(path)));
    }
    Outcome<void> merge(const Profile& other) {
        return detail::check(hob_profile_merge(profile_.get(), other.capi()));
    }
    Outcome<void> scale(double factor) { return detail::check(hob_profile_scale(profile_.get(), factor)); }

    hob_profile* capi() noexcept { return profile_.get(); }
    const hob_profile* capi() const noexcept { return profile_.get(); }

private:
    struct Destroy {
        void operator()(hob_profile* profile) const noexcept { hob_profile_destroy(profile); }
    };
    std::unique_ptr<hob_profile, Destroy> profile_;
};

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_PROFILE_HPP
