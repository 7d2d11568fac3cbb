// hobgoblin/profile.hpp: the costs of tasks, kept between runs and machines. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_PROFILE_HPP
#define HOBGOBLIN_PROFILE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base.hpp"
#include "profile.h"

HOB_NAMESPACE_BEGIN

/// The mean and deviation of an option's cost; see hob_estimate.
using Estimate = hob_estimate;
/// One option of a task, for Profile::set_task; see hob_profile_option.
using ProfileOption = hob_profile_option;

/// A task of a profile.
struct ProfileTask {
    /// A view, valid until the profile changes.
    std::string_view id;
    /// The number of its options.
    uint32_t option_count = 0;
};

/// Tasks and what their options cost; see hob_profile.
class Profile {
public:
#if HOB_EXCEPTIONS
    Profile() : Profile(try_create().value()) {}
    explicit Profile(const hob_profile_desc& desc) : Profile(try_create(desc).value()) {}
#endif
    static Result<Profile> try_create(const hob_profile_desc& desc = HOB_PROFILE_DESC_INIT) {
        hob_profile* profile = nullptr;
        const hob_result code = hob_profile_create(&desc, &profile);
        return detail::result_of(code, Profile(profile));
    }
    /// Takes ownership of a C handle.
    explicit Profile(hob_profile* profile) noexcept : profile_(profile) {}

    /// Replaces the content by JSON; see hob_profile_load.
    Result<void> try_load(std::string_view json) {
        return detail::result_of(hob_profile_load(capi(), json.data(), json.size()));
    }
    /// The content as JSON.
    Result<std::string> try_save() const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_profile_save(capi(), buffer, capacity, size);
        });
    }
    /// Replaces the content by that of a JSON file. Waits for the file.
    Result<void> try_load_file(std::string_view path) {
        return detail::result_of(hob_profile_load_file(capi(), detail::text(path)));
    }
    /// Writes the content to a JSON file. Waits for the file.
    Result<void> try_save_file(std::string_view path) const {
        return detail::result_of(hob_profile_save_file(capi(), detail::text(path)));
    }
    /// Adds the samples of another profile.
    Result<void> try_merge(const Profile& other) { return detail::result_of(hob_profile_merge(capi(), other.capi())); }
    /// Multiplies every burden by `factor`, for a machine that is slower or faster.
    Result<void> try_scale(double factor) { return detail::result_of(hob_profile_scale(capi(), factor)); }
    /// Replaces the options of a task, or adds the task.
    Result<void> try_set_task(std::string_view id, ArrayView<ProfileOption> options) {
        return detail::result_of(hob_profile_set_task(capi(), detail::text(id), options.data(), sizeof(ProfileOption),
                                                 options.count()));
    }
    /// Removes a task. HOB_RESULT_NOT_FOUND if it does not exist.
    Result<void> try_remove_task(std::string_view id) {
        return detail::result_of(hob_profile_remove_task(capi(), detail::text(id)));
    }
    /// Removes all tasks.
    Result<void> try_clear() { return detail::result_of(hob_profile_clear(capi())); }

    /// The number of tasks.
    uint32_t task_count() const noexcept { return hob_profile_task_count(capi()); }
    /// The task at `index`, in order of id. HOB_RESULT_NOT_FOUND from task_count() on.
    Result<ProfileTask> try_task(uint32_t index) const {
        hob_str id = {nullptr, 0};
        ProfileTask task;
        const hob_result code = hob_profile_get_task(capi(), index, &id, &task.option_count);
        task.id = detail::view(id);
        return detail::result_of(code, task);
    }
    /// The cost of one option of a task.
    Result<Estimate> try_estimate(std::string_view id, uint32_t option) const {
        return detail::filled_by(detail::sized<Estimate>(), [&](Estimate* estimate) {
            return hob_profile_get_estimate(capi(), detail::text(id), option, estimate);
        });
    }
    /// Bytes that the profile holds.
    std::size_t memory_used() const noexcept { return hob_profile_memory_used(capi()); }

#if HOB_EXCEPTIONS
    // The throwing forms.
    void load(std::string_view json) { try_load(json).value(); }
    std::string save() const { return try_save().value(); }
    void load_file(std::string_view path) { try_load_file(path).value(); }
    void save_file(std::string_view path) const { try_save_file(path).value(); }
    void merge(const Profile& other) { try_merge(other).value(); }
    void scale(double factor) { try_scale(factor).value(); }
    void set_task(std::string_view id, ArrayView<ProfileOption> options) { try_set_task(id, options).value(); }
    void remove_task(std::string_view id) { try_remove_task(id).value(); }
    void clear() { try_clear().value(); }
    ProfileTask task(uint32_t index) const { return try_task(index).value(); }
    Estimate estimate(std::string_view id, uint32_t option) const { return try_estimate(id, option).value(); }
#endif

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
