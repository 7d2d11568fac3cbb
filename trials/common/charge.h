// Time accounts.
#pragma once

#include <chrono>

namespace trials {

/// Adds its own lifetime to an account.
class Charge {
public:
    explicit Charge(double& the_account_ms) : account_ms(the_account_ms) {}
    ~Charge() {
        account_ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    }
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

private:
    double& account_ms;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace trials
