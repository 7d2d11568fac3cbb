#include "support.h"

#include <cmath>
#include <cstdlib>

namespace support {

hob_goblin_desc gpu_budget(double milliseconds) {
    hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
    desc.lanes[HOB_LANE_GPU].limit = milliseconds;
    return desc;
}

Budget tunable(double gpu_milliseconds) {
    return {gpu_budget(gpu_milliseconds), HOB_GOBLIN_TUNING_INIT};
}

Budget exact(double gpu_milliseconds) {
    Budget budget = tunable(gpu_milliseconds);
    budget.desc.patience = no_patience;
    budget.tuning.sigmas = no_sigmas;
    budget.tuning.trial_limit = HOB_NO_TRIALS;
    budget.tuning.precision = HOB_PRECISION_PROVEN;
    return budget;
}

Goblin make_goblin(const hob_goblin_desc& desc) {
    hob_goblin* goblin = nullptr;
    ENSURE_OK(hob_goblin_create(&desc, &goblin));
    ENSURE(goblin != nullptr);
    return Goblin(goblin);
}

Goblin make_goblin(Budget budget) {
    budget.desc.tuning = &budget.tuning;
    return make_goblin(budget.desc);
}

void set_desc(hob_goblin* goblin, Budget budget) {
    budget.desc.tuning = &budget.tuning;
    ENSURE_OK(hob_goblin_set_desc(goblin, &budget.desc));
}

Goblin make_goblin(double gpu_milliseconds) {
    return make_goblin(gpu_budget(gpu_milliseconds));
}

Knapsack make_knapsack() {
    hob_knapsack* knapsack = nullptr;
    ENSURE_OK(hob_knapsack_create(nullptr, &knapsack));
    ENSURE(knapsack != nullptr);
    return Knapsack(knapsack);
}

Profile make_profile() {
    hob_profile* profile = nullptr;
    ENSURE_OK(hob_profile_create(nullptr, &profile));
    ENSURE(profile != nullptr);
    return Profile(profile);
}

Profile make_profile(std::string_view json) {
    Profile profile = make_profile();
    ENSURE_OK(hob_profile_load(profile.get(), json.data(), json.size()));
    return profile;
}

hob_setting_id add_array(hob_goblin* goblin, std::string_view id, const std::vector<double>& values) {
    hob_setting_id setting = {0, 0};
    ENSURE_OK(hob_goblin_add_array(goblin, str(id), values.data(), static_cast<uint32_t>(values.size()), &setting));
    ENSURE(setting.index1 != 0);
    return setting;
}

hob_setting_id add_setting(hob_goblin* goblin, const hob_setting_desc& desc) {
    hob_setting_id setting = {0, 0};
    ENSURE_OK(hob_goblin_add_setting(goblin, &desc, &setting));
    ENSURE(setting.index1 != 0);
    return setting;
}

hob_setting_desc described(std::string_view id, const std::vector<hob_option>& options) {
    hob_setting_desc desc = HOB_SETTING_DESC_INIT;
    desc.id = str(id);
    desc.options = options.data();
    desc.option_stride = sizeof(hob_option);
    desc.option_count = static_cast<uint32_t>(options.size());
    return desc;
}

std::vector<hob_option> worth(std::initializer_list<double> values) {
    std::vector<hob_option> options;
    for (const double value : values) options.push_back({value, 0, 0, 0});
    return options;
}

hob_decision update(hob_goblin* goblin) {
    hob_decision decision = HOB_DECISION_INIT;
    ENSURE_OK(hob_goblin_update(goblin, &decision));
    return decision;
}

hob_decision_details details(const hob_goblin* goblin) {
    hob_decision_details found = HOB_DECISION_DETAILS_INIT;
    ENSURE_OK(hob_goblin_get_decision(goblin, &found));
    return found;
}

hob_decision_details update_details(hob_goblin* goblin) {
    const hob_decision decision = update(goblin);
    const hob_decision_details found = details(goblin);
    ENSURE(found.id == decision.id && found.feasible == decision.feasible && found.strategy == decision.strategy);
    ENSURE(close(found.value, decision.value, 0) && close(found.gap, decision.gap, 0));
    ENSURE(found.change_count == decision.change_count && found.trial_count == decision.trial_count);
    return found;
}

hob_goblin_statistics statistics(const hob_goblin* goblin) {
    hob_goblin_statistics found = HOB_GOBLIN_STATISTICS_INIT;
    ENSURE_OK(hob_goblin_get_statistics(goblin, &found));
    return found;
}

hob_estimate estimate(const hob_goblin* goblin, hob_setting_id setting, uint32_t option) {
    return estimate_on(goblin, setting, option, HOB_LANE_GPU);
}

hob_estimate estimate_on(const hob_goblin* goblin, hob_setting_id setting, uint32_t option, hob_lane lane) {
    hob_estimate found = HOB_ESTIMATE_INIT;
    ENSURE_OK(hob_goblin_get_estimate(goblin, setting, option, lane, &found));
    return found;
}

Knowledge& Knowledge::add(std::string_view id, const std::vector<double>& burdens) {
    json_ += json_.empty() ? "{\"" : ",\"";
    json_ += std::string(id) + "\":[";
    for (size_t n = 0; n < burdens.size(); ++n)
        json_ += (n == 0 ? "[1000," : ",[1000,") + std::to_string(burdens[n]) + ",0]";
    json_ += "]";
    return *this;
}

void Knowledge::give(hob_goblin* goblin) const {
    const std::string json = json_ + "}";
    ENSURE_OK(hob_goblin_load_profile(goblin, json.data(), json.size()));
}

hob_reason reason(const hob_goblin* goblin, hob_setting_id setting) {
    hob_reason found = HOB_REASON_INIT;
    ENSURE_OK(hob_goblin_get_reason(goblin, setting, &found));
    return found;
}

std::string reason_text(const hob_goblin* goblin, hob_setting_id setting) {
    size_t size = 0;
    ENSURE_OK(hob_goblin_get_reason_text(goblin, setting, nullptr, 0, &size));
    std::string text(size, '?');
    ENSURE_OK(hob_goblin_get_reason_text(goblin, setting, text.data(), size, nullptr));
    ENSURE(text.back() == '\0' && text.find('\0') == size - 1);
    text.pop_back();
    return text;
}

hob_estimate known(const hob_profile* profile, std::string_view id, uint32_t option) {
    hob_estimate found = HOB_ESTIMATE_INIT;
    ENSURE_OK(hob_profile_get_estimate(profile, str(id), option, &found));
    return found;
}

namespace {

/// Uses the two-call protocol.
template <class Handle>
std::string saved_by(hob_result (*save)(const Handle*, char*, size_t, size_t*), const Handle* handle) {
    size_t size = 0;
    ENSURE_OK(save(handle, nullptr, 0, &size));
    std::string json(size, '\0');
    ENSURE_OK(save(handle, json.data(), json.size(), &size));
    ENSURE(size == json.size());
    return json;
}

}  // namespace

std::string saved(const hob_goblin* goblin) {
    return saved_by(&hob_goblin_save_profile, goblin);
}

std::string saved(const hob_profile* profile) {
    return saved_by(&hob_profile_save, profile);
}

bool last_error_has(std::string_view part) {
    return std::string_view(hob_last_error()).find(part) != std::string_view::npos;
}

bool close(double a, double b, double tolerance) {
    return std::fabs(a - b) <= tolerance * (1 + std::fabs(a) + std::fabs(b));
}

Household::Household(hob_goblin* goblin, uint32_t settings, uint32_t options) : goblin_(goblin) {
    for (uint32_t n = 0; n < settings; ++n) {
        std::vector<double> values;
        for (uint32_t option = 0; option < options; ++option) values.push_back(option * (1.0 + n % 5));
        settings_.push_back(add_array(goblin, "setting " + std::to_string(n), values));
    }
    for (InFlight& frame : in_flight_) frame = {0, std::vector<double>(settings)};
}

hob_decision Household::frame() {
    InFlight& oldest = in_flight_[frames_ % late];
    if (frames_ >= late) {
        for (size_t n = 0; n < settings_.size(); ++n) {
            ENSURE_OK(hob_goblin_measure(goblin_, oldest.decision, settings_[n], HOB_LANE_GPU, oldest.burdens[n],
                                         HOB_SAMPLE_QUALITY_OK));
        }
    }
    const hob_decision decision = update(goblin_);
    oldest.decision = decision.id;
    for (size_t n = 0; n < settings_.size(); ++n) {
        const double typical =
            0.2 + 0.1 * hob_goblin_choice(goblin_, settings_[n]) * (1.0 + static_cast<double>(n % 5));
        oldest.burdens[n] = typical * (0.95 + 0.1 * jitter_.share());
    }
    ++frames_;
    return decision;
}

std::vector<uint32_t> Household::choices() const {
    std::vector<uint32_t> found;
    for (const hob_setting_id setting : settings_) found.push_back(hob_goblin_choice(goblin_, setting));
    return found;
}

Hooks::~Hooks() {
    EXPECT(hob_set_log_hook(nullptr) == HOB_RESULT_OK);
    EXPECT(hob_set_clock_hook(nullptr) == HOB_RESULT_OK);
    EXPECT(hob_set_zone_hook(nullptr) == HOB_RESULT_OK);
}

const char* library_path() {
    const char* path = std::getenv("HOB_LIBRARY");
    if (path == nullptr) harness::skip("HOB_LIBRARY does not say where the shared library is");
    return path;
}

std::string scratch_file(std::string_view name) {
    const char* directory = std::getenv("HOB_SCRATCH");
    return std::string(directory != nullptr ? directory : ".") + "/" + std::string(name);
}

}  // namespace support
