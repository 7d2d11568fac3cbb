// The targets of a trial, and whether it met them.
#pragma once

#include <string>
#include <vector>

namespace trials {

struct Target {
    std::string sentence;
    bool is_met = false;
    std::string found; ///< The finding, where a number says more than yes or no.

    template <typename Self, typename Visit> static void visit_fields(Self& target, Visit&& visit) {
        visit("sentence", target.sentence);
        visit("is_met", target.is_met);
        visit("found", target.found);
    }
};

/// Prints the targets; whether all are met.
bool print_verdict(const std::vector<Target>& targets);

/// "3 hits".
std::string count(std::size_t n, const char* what);
/// "2.0 x": how many times `b` goes into `a`.
std::string times(double a, double b);

} // namespace trials
