// support.h: the functions of a shared library, a timer and random numbers, for compare_builds.
#pragma once

#include <hobgoblin/hobgoblin.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

#define FUNCTIONS(X)                                                                                                   \
    X(hob_abi_version) X(hob_last_error) X(hob_knapsack_desc_init) X(hob_knapsack_create) X(hob_knapsack_destroy)      \
    X(hob_knapsack_clear) X(hob_knapsack_add_setting) X(hob_knapsack_setting_count) X(hob_knapsack_solve_desc_init)    \
    X(hob_knapsack_solution_init) X(hob_knapsack_solve) X(hob_knapsack_add_setting_resources)                          \
    X(hob_knapsack_solve_resources) X(hob_goblin_desc_init) X(hob_goblin_create) X(hob_goblin_destroy)                 \
    X(hob_goblin_add_array) X(hob_goblin_update) X(hob_goblin_choice) X(hob_goblin_measure) X(hob_decision_init)       \
    X(hob_program_cache_desc_init) X(hob_program_cache_create) X(hob_program_cache_destroy) X(hob_program_cache_get)   \
    X(hob_program_cache_put) X(hob_program_init) X(hob_blob_init) X(hob_blob_release)

/// The functions of one shared library.
/// The library is never unloaded.
struct Library {
#define DECLARE(name) decltype(&::name) name = nullptr;
    FUNCTIONS(DECLARE)
#undef DECLARE

    explicit Library(const char* path) {
        void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) throw std::runtime_error(dlerror());
#define LOAD(name) load(name, handle, path, #name);
        FUNCTIONS(LOAD)
#undef LOAD
        if (hob_abi_version() != HOB_ABI_VERSION)
            throw std::runtime_error(std::string(path) + ": its ABI version differs from the headers'");
    }

    void check(hob_result result) const {
        if (result != HOB_RESULT_OK) throw std::runtime_error(hob_last_error());
    }

    /// A struct that its init function has filled.
    template <class Struct> Struct defaults(hob_result (*init)(Struct*, std::uint32_t)) const {
        Struct value{};
        check(init(&value, static_cast<std::uint32_t>(sizeof value)));
        return value;
    }

private:
    template <class Function> static void load(Function& function, void* handle, const char* path, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
        if (function == nullptr) throw std::runtime_error(std::string(path) + ": missing function " + name);
    }
};

#undef FUNCTIONS

/// The outcome of a workload.
struct Sample {
    double us_per_call; ///< Mean microseconds of a timed call.
    double result;      ///< Equal for two libraries that compute the same.
};

/// The microseconds that a function takes.
template <class Function> double time_us(const Function& function) {
    const auto start = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

/// Pseudo-random numbers from 0 to 1.
struct Random {
    std::uint64_t state;
    double operator()() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state >> 11) * 0x1p-53;
    }
    unsigned option_count() { return 2 + static_cast<unsigned>((*this)() * 5); }
    /// Variance of a burden with this mean: its deviation is at most a tenth of the mean.
    double variance(double mean) {
        const double deviation = mean * 0.1 * (*this)();
        return deviation * deviation;
    }
};
