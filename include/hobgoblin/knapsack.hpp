// hobgoblin/knapsack.hpp: the multiple-choice knapsack alone. Part of hobgoblin.hpp. MIT OR Apache-2.0.
//
//     hob::Knapsack knapsack;
//     knapsack.add_setting({{0, 1, 0}, {5, 3, 0.1}});  // value, mean and variance of each option
//     knapsack.add_setting({{0, 0, 0}, {4, 2, 0.1}});
//     const auto solution = knapsack.solve(4.0, 3.0);  // capacity, sigmas
//     const auto choices = knapsack.choices();
//
// With several resources: create it with their number, add settings with add_setting_resources, call solve_resources.
#ifndef HOBGOBLIN_KNAPSACK_HPP
#define HOBGOBLIN_KNAPSACK_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "base.hpp"
#include "knapsack.h"

HOB_NAMESPACE_BEGIN

/// An option of a setting with one resource; see hob_knapsack_option.
using KnapsackOption = hob_knapsack_option;
/// The burden of an option on one resource; see hob_knapsack_weight.
using KnapsackWeight = hob_knapsack_weight;
/// The capacity of one resource; see hob_knapsack_resource.
using KnapsackResource = hob_knapsack_resource;

/// A multiple-choice knapsack: add settings, solve, read the choices, clear and repeat.
/// See hob_knapsack.
class Knapsack {
public:
#if HOB_EXCEPTIONS
    /// With one resource.
    Knapsack() : Knapsack(try_create().value()) {}
    /// With `desc.resource_count` resources, or one if that is 0.
    explicit Knapsack(const hob_knapsack_desc& desc) : Knapsack(try_create(desc).value()) {}
#endif
    static Result<Knapsack> try_create(const hob_knapsack_desc& desc = HOB_KNAPSACK_DESC_INIT) {
        hob_knapsack* knapsack = nullptr;
        const hob_result code = hob_knapsack_create(&desc, &knapsack);
        return detail::result_of(code, Knapsack(knapsack, desc.resource_count));
    }
    /// Takes ownership of a C handle, created with this resource_count.
    Knapsack(hob_knapsack* knapsack, uint32_t resource_count) noexcept
        : knapsack_(knapsack), resource_count_(resource_count) {}

    /// Allocates memory for `settings` settings and `options` options in all.
    Result<void> try_reserve(uint32_t settings, uint32_t options) {
        return detail::result_of(hob_knapsack_reserve(capi(), settings, options));
    }
    /// Removes all settings. Keeps the memory and the choices of the last solve.
    Result<void> try_clear() { return detail::result_of(hob_knapsack_clear(capi())); }
    /// Adds a setting and returns its index: 0, 1, 2 and so on.
    Result<uint32_t> try_add_setting(ArrayView<KnapsackOption> options) {
        return detail::filled_by(uint32_t{0}, [&](uint32_t* index) {
            return hob_knapsack_add_setting(capi(), options.data(), sizeof(KnapsackOption), options.count(), index);
        });
    }
    /// Adds a setting with several resources and returns its index. `weights` has resource_count() entries for each
    /// value: all of the first option, then all of the second, and so on.
    Result<uint32_t> try_add_setting_resources(ArrayView<double> values, ArrayView<KnapsackWeight> weights) {
        // The library cannot count the weights. It refuses them all without resources.
        if (resource_count_ > 0 && weights.size() != values.size() * resource_count_) {
            char message[160];
            std::snprintf(message, sizeof message,
                          "invalid weights: got %zu, expected %zu: one for each of %zu values and %u resources",
                          weights.size(), values.size() * resource_count_, values.size(),
                          static_cast<unsigned>(resource_count_));
            return detail::invalid(message);
        }
        return detail::filled_by(uint32_t{0}, [&](uint32_t* index) {
            return hob_knapsack_add_setting_resources(capi(), values.data(), sizeof(double), weights.data(),
                                              sizeof(KnapsackWeight) * resource_count_, values.count(), index);
        });
    }

    /// Chooses the most valuable options that fit; see hob_knapsack_solve.
    Result<hob_knapsack_solution> try_solve(const hob_knapsack_solve_desc& desc) {
        return detail::filled_by(detail::sized<hob_knapsack_solution>(), [&](hob_knapsack_solution* solution) {
            return hob_knapsack_solve(capi(), &desc, solution);
        });
    }
    /// The same for a capacity. `sigmas` deviations of the total count as burden.
    Result<hob_knapsack_solution> try_solve(double capacity, double sigmas = 0) {
        hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
        desc.capacity = capacity;
        desc.sigmas = sigmas;
        return try_solve(desc);
    }
    /// The same with several resources, each with its capacity; see hob_knapsack_solve_resources.
    Result<hob_knapsack_solution> try_solve_resources(
        ArrayView<KnapsackResource> resources, const hob_knapsack_solve_desc& desc = HOB_KNAPSACK_SOLVE_DESC_INIT) {
        return detail::filled_by(detail::sized<hob_knapsack_solution>(), [&](hob_knapsack_solution* solution) {
            return hob_knapsack_solve_resources(capi(), resources.data(), sizeof(KnapsackResource), resources.count(),
                                                &desc, solution);
        });
    }

    /// Copies the choices of the last solve into `choices`, which has room for `capacity`. Returns their number.
    Result<uint32_t> try_read_choices(uint16_t* choices, uint32_t capacity) const {
        return detail::filled_by(uint32_t{0}, [&](uint32_t* count) {
            return hob_knapsack_choices(capi(), choices, capacity, count);
        });
    }
    /// The choices of the last solve, one for each setting. HOB_KNAPSACK_CHOICE_NONE for a setting without options.
    Result<std::vector<uint16_t>> try_choices() const {
        const Result<uint32_t> count = try_read_choices(nullptr, 0);
        if (!count) return count.failure();
        std::vector<uint16_t> choices(*count);
        if (choices.empty()) return Result<std::vector<uint16_t>>(std::move(choices));
        const Result<uint32_t> read = try_read_choices(choices.data(), *count);
        if (!read) return read.failure();
        return Result<std::vector<uint16_t>>(std::move(choices));
    }
    /// The burden of the last solve on one resource, and the price of that resource.
    Result<hob_knapsack_usage> try_resource_usage(uint32_t resource) const {
        return detail::filled_by(detail::sized<hob_knapsack_usage>(), [&](hob_knapsack_usage* usage) {
            return hob_knapsack_get_resource_usage(capi(), resource, usage);
        });
    }
    /// The number of settings added since the last clear.
    uint32_t setting_count() const noexcept { return hob_knapsack_setting_count(capi()); }
    /// The number of resources. 0: one, for add_setting and solve.
    uint32_t resource_count() const noexcept { return resource_count_; }
    /// Bytes that the knapsack holds.
    std::size_t memory_used() const noexcept { return hob_knapsack_memory_used(capi()); }

#if HOB_EXCEPTIONS
    // The throwing forms.
    void reserve(uint32_t settings, uint32_t options) { try_reserve(settings, options).value(); }
    void clear() { try_clear().value(); }
    uint32_t add_setting(ArrayView<KnapsackOption> options) { return try_add_setting(options).value(); }
    uint32_t add_setting_resources(ArrayView<double> values, ArrayView<KnapsackWeight> weights) {
        return try_add_setting_resources(values, weights).value();
    }
    hob_knapsack_solution solve(const hob_knapsack_solve_desc& desc) { return try_solve(desc).value(); }
    hob_knapsack_solution solve(double capacity, double sigmas = 0) { return try_solve(capacity, sigmas).value(); }
    hob_knapsack_solution solve_resources(ArrayView<KnapsackResource> resources,
                                          const hob_knapsack_solve_desc& desc = HOB_KNAPSACK_SOLVE_DESC_INIT) {
        return try_solve_resources(resources, desc).value();
    }
    uint32_t read_choices(uint16_t* choices, uint32_t capacity) const {
        return try_read_choices(choices, capacity).value();
    }
    std::vector<uint16_t> choices() const { return try_choices().value(); }
    hob_knapsack_usage resource_usage(uint32_t resource) const { return try_resource_usage(resource).value(); }
#endif

    hob_knapsack* capi() noexcept { return knapsack_.get(); }
    const hob_knapsack* capi() const noexcept { return knapsack_.get(); }

private:
    struct Destroy {
        void operator()(hob_knapsack* knapsack) const noexcept { hob_knapsack_destroy(knapsack); }
    };
    std::unique_ptr<hob_knapsack, Destroy> knapsack_;
    uint32_t resource_count_;
};

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_KNAPSACK_HPP
