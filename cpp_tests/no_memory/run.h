// One run of a scenario, in which allocations fail. MIT OR Apache-2.0.
#pragma once

#include <initializer_list>

#include <hobgoblin/hobgoblin.h>

#include "memory.h"

namespace no_memory {

/// Checks the results of calls.
///
/// A call succeeds, or is out of memory and succeeds when it is repeated with memory.
class Run {
public:
    Run(Failure failure, const char* directory) : directory_(directory), failure_(failure) {}
    Run(const Run&) = delete;

    /// A directory that is empty at first.
    const char* directory() const { return directory_; }

    /// Makes a call. After a failed allocation it may also return one of `degraded`, because data is missing.
    template <class Call>
    void operator()(const char* what, const Call& call, std::initializer_list<hob_result> degraded = {}) {
        const hob_result result = call();
        if (result == HOB_RESULT_OK) return;
        for (const hob_result one : degraded)
            if (result == one && has_failed()) return;
        if (result == HOB_RESULT_OUT_OF_MEMORY && has_failed()) {
            if (failure_ == Failure::for_long) {
                is_spoiled_ = true;
                return;
            }
            heal_if_noticed();
            return check(what, call(), degraded);
        }
        // Something that this call needs could not be made.
        if (is_spoiled_) return;
        wrong(what, result);
    }

    /// From now on there is memory, and works() must succeed.
    void heal() { no_memory::heal(); }
    template <class Call>
    void works(const char* what, const Call& call) {
        const hob_result result = call();
        if (result != HOB_RESULT_OK) wrong(what, result);
    }
    void expect(const char* what, bool is_true) {
        if (!is_true) wrong(what, HOB_RESULT_OK);
    }

private:
    void heal_if_noticed() {
        if (failure_ == Failure::until_noticed) no_memory::heal();
    }
    void check(const char* what, hob_result result, std::initializer_list<hob_result> degraded) {
        for (const hob_result one : degraded)
            if (result == one) return;
        if (result != HOB_RESULT_OK) wrong(what, result);
    }
    /// Reports a wrong result and ends the process.
    [[noreturn]] static void wrong(const char* what, hob_result result);

    const char* directory_;
    Failure failure_;
    bool is_spoiled_ = false;
};

struct Scenario {
    const char* name;
    void (*play)(Run& run);
};

/// All scenarios.
///
/// They allocate nothing themselves.
extern const Scenario scenarios[];
extern const int scenario_count;

/// Kills the process while three programs of a cache are in use.
void die_with_open_uses(const char* directory);

}  // namespace no_memory
