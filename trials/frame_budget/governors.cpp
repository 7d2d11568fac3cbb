#include "governors.h"

namespace frame_budget {

namespace {

class FixedGovernor final : public Governor {
public:
    explicit FixedGovernor(const Choices& fixed_choices) : choices(fixed_choices) {}
    Decision decide(const SceneFrame&) override { return {choices, 0}; }
    void learn(const FrameTimes&) override {}

private:
    Choices choices;
};

class ThresholdGovernor final : public Governor {
public:
    ThresholdGovernor(std::vector<Choices> all_steps, std::size_t first_step, double budget)
        : ladder(std::move(all_steps)), step(first_step), budget_ms(budget) {}

    Decision decide(const SceneFrame&) override { return {ladder[step], step}; }

    void learn(const FrameTimes& times) override {
        if (times.tag.decision != step || times.is_disjoint) return; // drawn before the last change, or not measured
        quiet_ms = times.total_ms > 0.9 * budget_ms ? 0 : quiet_ms + times.total_ms;
        if (times.total_ms > budget_ms && step > 0) move_to(step - 1);
        else if (quiet_ms >= 1000 && step + 1 < ladder.size()) move_to(step + 1);
    }

private:
    void move_to(std::size_t next) {
        step = next;
        quiet_ms = 0;
    }

    std::vector<Choices> ladder;
    std::size_t step;
    double budget_ms, quiet_ms = 0;
};

} // namespace

std::unique_ptr<Governor> make_fixed_governor(const Choices& choices) {
    return std::make_unique<FixedGovernor>(choices);
}

std::unique_ptr<Governor> make_threshold_governor(std::vector<Choices> ladder, std::size_t first_step,
                                                  double budget_ms) {
    return std::make_unique<ThresholdGovernor>(std::move(ladder), first_step, budget_ms);
}

} // namespace frame_budget
