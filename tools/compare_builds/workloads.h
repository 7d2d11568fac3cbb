// workloads.h: the workloads that compare_builds times. Their inputs are pseudo-random and equal in each run.
#pragma once

#include "support.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// ---- Knapsack -------------------------------------------------------------------------------------------------------

using Knapsack = std::unique_ptr<hob_knapsack, void (*)(hob_knapsack*)>;
using Settings = std::vector<std::vector<hob_knapsack_option>>;

inline Knapsack make_knapsack(const Library& library, std::uint32_t resource_count) {
    auto desc = library.defaults(library.hob_knapsack_desc_init);
    desc.resource_count = resource_count;
    hob_knapsack* knapsack = nullptr;
    library.check(library.hob_knapsack_create(&desc, &knapsack));
    return {knapsack, library.hob_knapsack_destroy};
}

/// Settings whose later options have more value and more burden.
inline Settings make_settings(Random& random, unsigned count) {
    Settings settings(count);
    for (auto& options : settings) {
        double value = 0, mean = 0;
        for (unsigned left = random.option_count(); left > 0; --left) {
            value += random();
            mean += random();
            options.push_back({value, mean, random.variance(mean)});
        }
    }
    return settings;
}

/// 60 % of the greatest total mean.
inline double capacity_of(const Settings& settings) {
    double capacity = 0;
    for (const auto& options : settings) capacity += options.back().mean * 0.6;
    return capacity;
}

inline void add_settings(const Library& library, hob_knapsack* knapsack, const Settings& settings) {
    for (const auto& options : settings)
        library.check(library.hob_knapsack_add_setting(
            knapsack, options.data(), sizeof options[0], static_cast<std::uint32_t>(options.size()), nullptr));
}

inline Sample guarded_call(const Library& library) {
    constexpr unsigned calls = 100000;
    const Knapsack knapsack = make_knapsack(library, 0);
    std::uint64_t sum = 0;
    const double us = time_us([&] {
        for (unsigned call = 0; call < calls; ++call) sum += library.hob_knapsack_setting_count(knapsack.get());
    });
    return {us / calls, static_cast<double>(sum)};
}

inline void change_means(Random& random, Settings& settings) {
    for (auto& options : settings)
        for (auto& option : options) option.mean *= 1 + 0.01 * (random() - 0.5);
}

/// Solves each problem once, in a new knapsack.
inline Sample cold_solve(const Library& library, unsigned setting_count, double sigmas, unsigned problems) {
    auto desc = library.defaults(library.hob_knapsack_solve_desc_init);
    auto solution = library.defaults(library.hob_knapsack_solution_init);
    desc.sigmas = sigmas;
    double us = 0, value = 0;
    for (unsigned problem = 0; problem < problems; ++problem) {
        Random random{77 + problem};
        const Settings settings = make_settings(random, setting_count);
        const Knapsack knapsack = make_knapsack(library, 0);
        add_settings(library, knapsack.get(), settings);
        desc.capacity = capacity_of(settings);
        us += time_us([&] { library.check(library.hob_knapsack_solve(knapsack.get(), &desc, &solution)); });
        value += solution.value;
    }
    return {us / problems, value};
}

/// Solves each problem several times, while its means change by up to 0.5 %.
/// The first two solves are not timed.
inline Sample warm_solve(const Library& library, unsigned setting_count, unsigned problems) {
    constexpr unsigned solves = 12, untimed = 2;
    auto desc = library.defaults(library.hob_knapsack_solve_desc_init);
    auto solution = library.defaults(library.hob_knapsack_solution_init);
    desc.sigmas = 4;
    desc.accepted_gap = 0.001;
    double us = 0, value = 0;
    for (unsigned problem = 0; problem < problems; ++problem) {
        Random random{77 + problem};
        Settings settings = make_settings(random, setting_count);
        const Knapsack knapsack = make_knapsack(library, 0);
        desc.capacity = capacity_of(settings);
        for (unsigned solve = 0; solve < solves; ++solve) {
            change_means(random, settings);
            library.check(library.hob_knapsack_clear(knapsack.get()));
            add_settings(library, knapsack.get(), settings);
            const double solve_us =
                time_us([&] { library.check(library.hob_knapsack_solve(knapsack.get(), &desc, &solution)); });
            if (solve >= untimed) us += solve_us;
            value += solution.value;
        }
    }
    return {us / (problems * (solves - untimed)), value};
}

inline constexpr std::size_t resource_count = 3;
using Resources = std::array<hob_knapsack_resource, resource_count>;

/// Adds a setting with random options, and 60 % of its greatest means to the capacities.
inline void add_setting_resources(
    const Library& library, hob_knapsack* knapsack, Random& random, Resources& resources) {
    std::vector<double> values(random.option_count());
    std::vector<std::array<hob_knapsack_weight, resource_count>> weights(values.size());
    std::array<double, resource_count> means{};
    double value = 0;
    for (std::size_t option = 0; option < values.size(); ++option) {
        values[option] = value += random();
        for (std::size_t resource = 0; resource < resource_count; ++resource) {
            const double mean = means[resource] += random();
            weights[option][resource] = {mean, random.variance(mean)};
        }
    }
    for (std::size_t resource = 0; resource < resource_count; ++resource)
        resources[resource].capacity += means[resource] * 0.6;
    library.check(library.hob_knapsack_add_setting_resources(knapsack, values.data(), sizeof values[0],
        weights[0].data(), sizeof weights[0], static_cast<std::uint32_t>(values.size()), nullptr));
}

/// Solves each problem four times without a change.
inline Sample solve_resources(const Library& library, unsigned setting_count, unsigned problems) {
    constexpr unsigned solves = 4;
    auto desc = library.defaults(library.hob_knapsack_solve_desc_init);
    auto solution = library.defaults(library.hob_knapsack_solution_init);
    desc.node_limit = 256;
    desc.accepted_gap = 0.001;
    double us = 0, value = 0;
    for (unsigned problem = 0; problem < problems; ++problem) {
        Random random{99 + problem};
        Resources resources{{{0, 2}, {0, 2}, {0, 0}}};
        const Knapsack knapsack = make_knapsack(library, resource_count);
        for (unsigned setting = 0; setting < setting_count; ++setting)
            add_setting_resources(library, knapsack.get(), random, resources);
        for (unsigned solve = 0; solve < solves; ++solve) {
            us += time_us([&] {
                library.check(library.hob_knapsack_solve_resources(
                    knapsack.get(), resources.data(), sizeof resources[0], resource_count, &desc, &solution));
            });
            value += solution.value;
        }
    }
    return {us / (problems * solves), value};
}

// ---- Goblin ---------------------------------------------------------------------------------------------------------

using Goblin = std::unique_ptr<hob_goblin, void (*)(hob_goblin*)>;
enum class GoblinCall { update, measure };

struct GoblinSetting {
    hob_setting_id id = {};
    std::vector<double> burdens; ///< By option.
    double sample = 0;           ///< The burden of this frame.
};

inline Goblin make_goblin(const Library& library, double limit, double overrun_probability) {
    auto desc = library.defaults(library.hob_goblin_desc_init);
    desc.lanes[HOB_LANE_GPU].limit = limit;
    desc.overrun_probability = overrun_probability;
    hob_goblin* goblin = nullptr;
    library.check(library.hob_goblin_create(&desc, &goblin));
    return {goblin, library.hob_goblin_destroy};
}

inline GoblinSetting add_setting(
    const Library& library, hob_goblin* goblin, const std::string& name, Random& random) {
    GoblinSetting setting;
    std::vector<double> values(random.option_count());
    double value = 0, burden = 0;
    for (double& option : values) {
        option = value += random();
        setting.burdens.push_back(burden += random());
    }
    library.check(library.hob_goblin_add_array(goblin, hob_str{name.data(), name.size()}, values.data(),
        static_cast<std::uint32_t>(values.size()), &setting.id));
    return setting;
}

/// Runs 1500 frames of 50 settings, and measures all of them with 10 % of noise.
/// The first 100 frames are not timed.
inline Sample run_goblin(const Library& library, double overrun_probability, GoblinCall timed) {
    constexpr unsigned setting_count = 50, frames = 1500, untimed = 100;
    Random random{5};
    const Goblin goblin = make_goblin(library, setting_count * 0.9, overrun_probability);
    std::vector<GoblinSetting> settings;
    for (unsigned i = 0; i < setting_count; ++i)
        settings.push_back(add_setting(library, goblin.get(), "setting " + std::to_string(i), random));
    auto decision = library.defaults(library.hob_decision_init);
    double update_us = 0, measure_us = 0, burden = 0;
    for (unsigned frame = 0; frame < frames; ++frame) {
        const double frame_us = time_us([&] { library.check(library.hob_goblin_update(goblin.get(), &decision)); });
        for (auto& setting : settings) {
            const std::uint32_t choice = library.hob_goblin_choice(goblin.get(), setting.id);
            setting.sample = setting.burdens[choice] * (0.9 + 0.2 * random());
            burden += setting.sample;
        }
        const double samples_us = time_us([&] {
            for (const auto& setting : settings)
                library.check(library.hob_goblin_measure(
                    goblin.get(), decision.id, setting.id, HOB_LANE_GPU, setting.sample, HOB_SAMPLE_QUALITY_OK));
        });
        if (frame < untimed) continue;
        update_us += frame_us;
        measure_us += samples_us / setting_count;
    }
    return {(timed == GoblinCall::update ? update_us : measure_us) / (frames - untimed), burden};
}

// ---- Program cache --------------------------------------------------------------------------------------------------

using Cache = std::unique_ptr<hob_program_cache, void (*)(hob_program_cache*)>;
enum class CacheCall { get, put };

inline Cache make_cache(const Library& library) {
    const auto desc = library.defaults(library.hob_program_cache_desc_init);
    hob_program_cache* cache = nullptr;
    library.check(library.hob_program_cache_create(&desc, &cache));
    return {cache, library.hob_program_cache_destroy};
}

inline std::vector<hob_fingerprint> make_keys(Random& random, unsigned count) {
    std::vector<hob_fingerprint> keys(count);
    for (auto& key : keys)
        for (auto& byte : key.bytes) byte = static_cast<std::uint8_t>(random() * 256);
    return keys;
}

inline std::size_t get_size(const Library& library, const hob_program_cache* cache, const hob_fingerprint& key) {
    auto blob = library.defaults(library.hob_blob_init);
    library.check(library.hob_program_cache_get(cache, &key, &blob));
    const std::size_t size = blob.size;
    library.hob_blob_release(&blob);
    return size;
}

/// Puts 512 programs of 4800 bytes into each of ten new caches in memory, then gets each program five times.
inline Sample run_cache(const Library& library, CacheCall timed) {
    constexpr unsigned caches = 10, programs = 512, repeats = 5;
    Random random{3};
    const auto keys = make_keys(random, programs);
    const std::vector<char> data(4800, 'x');
    auto program = library.defaults(library.hob_program_init);
    program.data = data.data();
    program.size = data.size();
    double put_us = 0, get_us = 0, bytes = 0;
    for (unsigned i = 0; i < caches; ++i) {
        const Cache cache = make_cache(library);
        put_us += time_us([&] {
            for (const auto& key : keys) library.check(library.hob_program_cache_put(cache.get(), &key, &program));
        });
        get_us += time_us([&] {
            for (unsigned repeat = 0; repeat < repeats; ++repeat)
                for (const auto& key : keys) bytes += static_cast<double>(get_size(library, cache.get(), key));
        });
    }
    return {(timed == CacheCall::put ? put_us : get_us / repeats) / (caches * programs), bytes};
}

struct Workload {
    const char* name;
    std::function<Sample(const Library&)> run;
};

inline std::vector<Workload> all_workloads() {
    return {
        {"guarded call", guarded_call},
        {"cold solve, 10 settings", [](const Library& l) { return cold_solve(l, 10, 4, 400); }},
        {"cold solve, 50 settings", [](const Library& l) { return cold_solve(l, 50, 4, 150); }},
        {"cold solve, 200 settings", [](const Library& l) { return cold_solve(l, 200, 4, 100); }},
        {"cold solve, 1000 settings", [](const Library& l) { return cold_solve(l, 1000, 4, 40); }},
        {"cold solve, 50 means", [](const Library& l) { return cold_solve(l, 50, 0, 150); }},
        {"cold solve, 200 means", [](const Library& l) { return cold_solve(l, 200, 0, 100); }},
        {"warm solve, 50 settings", [](const Library& l) { return warm_solve(l, 50, 60); }},
        {"warm solve, 1000 settings", [](const Library& l) { return warm_solve(l, 1000, 6); }},
        {"solve, 50 settings, 3 resources", [](const Library& l) { return solve_resources(l, 50, 40); }},
        {"goblin update", [](const Library& l) { return run_goblin(l, 0, GoblinCall::update); }},
        {"goblin update, 1 % overruns", [](const Library& l) { return run_goblin(l, 0.01, GoblinCall::update); }},
        {"goblin measure", [](const Library& l) { return run_goblin(l, 0, GoblinCall::measure); }},
        {"cache get", [](const Library& l) { return run_cache(l, CacheCall::get); }},
        {"cache put", [](const Library& l) { return run_cache(l, CacheCall::put); }},
    };
}
