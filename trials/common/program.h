// The main function of a trial whose steps are this same program as new processes.
#pragma once

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "fields.h"
#include "files.h"
#include "interrupt.h"

namespace trials {

/// The parts of such a program.
/// `Options` has the texts `step` and `result_file`, and the switches `help` and `list_devices`.
template <typename Options> struct Program {
    const char* name;
    const char* usage;
    Options (*parse)(int count, char** arguments);
    std::vector<std::string> (*devices)(); ///< A line for each device.
    void (*step)(const Options& options);  ///< Runs the step that the options name.
    bool (*trial)(const Options& options, const std::string& self); ///< Whether all targets are met.

    /// Returns the exit status. Errors are printed.
    int run(int count, char** arguments) const {
        try {
            const Options options = parse(count, arguments);
            if (options.help) {
                std::fputs(usage, stdout);
                return 0;
            }
            if (options.list_devices) {
                for (const std::string& line : devices()) std::puts(line.c_str());
                return 0;
            }
            watch_for_interrupt();
            if (!options.step.empty()) {
                step(options);
                return 0;
            }
            return trial(options, arguments[0]) ? 0 : 1;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s: %s\n", name, error.what());
            return 1;
        }
    }
};

/// Writes the result of a step to its file.
/// False if the options name no file: print the result.
template <typename Options, typename StepResult> bool wrote_result(const Options& options, const StepResult& result) {
    if (options.result_file.empty()) return false;
    write_file(options.result_file, to_text(result));
    return true;
}

} // namespace trials
