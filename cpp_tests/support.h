// Helpers of several tests: owners, short forms of common calls, a simulated machine. MIT OR Apache-2.0.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness.h"

// Present only in builds with the feature fault-injection, and in no header.
extern "C" hob_result hob_fault_arm(hob_str point, uint32_t passes);

namespace support {

struct Destroy {
    void operator()(hob_balance* balance) const { hob_balance_destroy(balance); }
    void operator()(hob_executor* executor) const { hob_executor_destroy(executor); }
    void operator()(hob_goblin* goblin) const { hob_goblin_destroy(goblin); }
    void operator()(hob_knapsack* knapsack) const { hob_knapsack_destroy(knapsack); }
    void operator()(hob_profile* profile) const { hob_profile_destroy(profile); }
};

using Balance = std::unique_ptr<hob_balance, Destroy>;
using Executor = std::unique_ptr<hob_executor, Destroy>;
using Goblin = std::unique_ptr<hob_goblin, Destroy>;
using Knapsack = std::unique_ptr<hob_knapsack, Destroy>;
using Profile = std::unique_ptr<hob_profile, Destroy>;

/// Defaults, with a limit on the GPU lane.
hob_goblin_desc gpu_budget(double milliseconds);

/// Parameters of a goblin and their tuning.
///
/// It can be copied, because `desc` points to `tuning` only inside the functions below.
struct Budget {
    hob_goblin_desc desc;
    hob_goblin_tuning tuning;
};
/// Defaults, with a limit on the GPU lane.
Budget tunable(double gpu_milliseconds);
/// Gives the known optimum at once: no deviations, patience, trials or gap.
Budget exact(double gpu_milliseconds);
Goblin make_goblin(const hob_goblin_desc& desc);
Goblin make_goblin(Budget budget);
Goblin make_goblin(double gpu_milliseconds);
void set_desc(hob_goblin* goblin, Budget budget);

/// hob_goblin_desc.patience and hob_goblin_tuning.sigmas, where 0 means the default.
constexpr double no_patience = -1, no_sigmas = -1;
Knapsack make_knapsack();
Profile make_profile();
Profile make_profile(std::string_view json);

inline hob_str str(std::string_view text) {
    return hob_str_of(text.data(), text.size());
}

/// The text of a view that the library returned.
inline std::string text(hob_str view) {
    return std::string(view.data, view.len);
}

hob_setting_id add_array(hob_goblin* goblin, std::string_view id, const std::vector<double>& values);
hob_setting_id add_setting(hob_goblin* goblin, const hob_setting_desc& desc);

/// A desc with that name; the options must outlive it.
hob_setting_desc described(std::string_view id, const std::vector<hob_option>& options);
std::vector<hob_option> worth(std::initializer_list<double> values);

hob_decision update(hob_goblin* goblin);
/// Details of the latest decision.
hob_decision_details details(const hob_goblin* goblin);
/// Decides, and returns the details.
hob_decision_details update_details(hob_goblin* goblin);
hob_goblin_statistics statistics(const hob_goblin* goblin);
hob_estimate estimate(const hob_goblin* goblin, hob_setting_id setting, uint32_t option);
hob_estimate known(const hob_profile* profile, std::string_view id, uint32_t option);

hob_estimate estimate_on(const hob_goblin* goblin, hob_setting_id setting, uint32_t option, hob_lane lane);

/// Exact burdens: on the first lane under the setting's id, on other lanes under "id@lane".
class Knowledge {
public:
    Knowledge& add(std::string_view id, const std::vector<double>& burdens);
    void give(hob_goblin* goblin) const;

private:
    std::string json_;
};

hob_reason reason(const hob_goblin* goblin, hob_setting_id setting);
std::string reason_text(const hob_goblin* goblin, hob_setting_id setting);

std::string saved(const hob_goblin* goblin);
std::string saved(const hob_profile* profile);

/// Writes a number into an enum that may not have it, as C code of a host can.
template <class Enum>
void set_number(Enum& to, uint32_t number) {
    static_assert(sizeof to == sizeof number, "enums have 32 bits");
    std::memcpy(&to, &number, sizeof number);
}

/// Whether the message of this thread's last failure contains `part`.
bool last_error_has(std::string_view part);

/// Equality within the error of sums of doubles.
bool close(double a, double b, double tolerance = 1e-9);

/// Pseudorandom numbers, the same in every run and on every machine.
class Dice {
public:
    explicit Dice(uint64_t seed) : state_(seed * 2 + 1) {}
    uint32_t roll() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>(state_ >> 33);
    }
    uint32_t below(uint32_t end) { return roll() % end; }
    /// From 0 to 1.
    double share() { return roll() / 2147483648.0; }

private:
    uint64_t state_;
};

/// Settings with options whose cost equals their value, on a machine with a jitter of a tenth.
class Household {
public:
    Household(hob_goblin* goblin, uint32_t settings, uint32_t options);

    /// Decides, and measures the samples of the frame `late` frames ago.
    hob_decision frame();
    std::vector<uint32_t> choices() const;
    const std::vector<hob_setting_id>& settings() const { return settings_; }

private:
    static constexpr size_t late = 3;
    struct InFlight {
        uint64_t decision;
        std::vector<double> burdens;
    };

    hob_goblin* goblin_;
    std::vector<hob_setting_id> settings_;
    InFlight in_flight_[late];
    size_t frames_ = 0;
    Dice jitter_{7};
};

/// Clears all hooks at the end of a test, also after a failure.
class Hooks {
public:
    Hooks() = default;
    Hooks(const Hooks&) = delete;
    Hooks& operator=(const Hooks&) = delete;
    ~Hooks();
};

/// Whether this program links the static library, not the shared one.
extern const bool is_static;

/// Path of the shared library, for dlopen.
const char* library_path();

/// Path of a file with that name, in a directory for tests.
std::string scratch_file(std::string_view name);

}  // namespace support
