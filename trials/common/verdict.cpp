#include "verdict.h"

#include <cstdio>

namespace trials {

bool print_verdict(const std::vector<Target>& targets) {
    bool all_met = true;
    std::printf("\nverdict:\n");
    for (const Target& target : targets) {
        std::printf("  %-94s %-4s %s\n", target.sentence.c_str(), target.is_met ? "yes" : "NO", target.found.c_str());
        all_met = all_met && target.is_met;
    }
    return all_met;
}

std::string count(std::size_t n, const char* what) { return std::to_string(n) + " " + what; }

std::string times(double a, double b) {
    char text[40];
    std::snprintf(text, sizeof text, "%.1f x", b > 0 ? a / b : 0);
    return text;
}

} // namespace trials
