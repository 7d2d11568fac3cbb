// Runs all tests, or those whose name contains one of the arguments.
//
// * `--list`: print the names and stop
// * `--skip TEXT`: leave out tests whose name contains TEXT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"

namespace harness {

namespace {

struct Failed {};

struct Skipped {
    const char* reason;
};

std::vector<Test>& tests() {
    static std::vector<Test> list;
    return list;
}

/// The notes of the running test.
class Notes {
public:
    void add(const std::string& line) {
        const std::lock_guard<std::mutex> lock(mutex_);
        lines_.push_back(line);
    }
    std::vector<std::string> take() {
        const std::lock_guard<std::mutex> lock(mutex_);
        return std::exchange(lines_, {});
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

Notes& notes() {
    static Notes the_notes;
    return the_notes;
}

enum class Outcome { passed, skipped, failed };

Outcome run(const Test& test) {
    const char* skipped = nullptr;
    try {
        test.run();
    } catch (const Failed&) {
        // The failure is among the notes.
    } catch (const Skipped& skip) {
        skipped = skip.reason;
    } catch (const std::exception& exception) {
        notes().add(std::string("uncaught exception: ") + exception.what());
    }
    const auto lines = notes().take();
    if (!lines.empty()) {
        std::printf("FAILED   %s\n", test.name);
        for (const auto& line : lines) std::printf("         %s\n", line.c_str());
        return Outcome::failed;
    }
    if (skipped != nullptr) {
        std::printf("skipped  %s (%s)\n", test.name, skipped);
        return Outcome::skipped;
    }
    std::printf("ok       %s\n", test.name);
    return Outcome::passed;
}

struct Arguments {
    bool list = false;
    std::vector<const char*> wanted, unwanted;

    Arguments(int count, char** values) {
        for (int n = 1; n < count; ++n) {
            if (std::strcmp(values[n], "--list") == 0) {
                list = true;
            } else if (std::strcmp(values[n], "--skip") == 0 && n + 1 < count) {
                unwanted.push_back(values[++n]);
            } else {
                wanted.push_back(values[n]);
            }
        }
    }

    bool want(const Test& test) const {
        const auto matches = [&](const char* text) { return std::strstr(test.name, text) != nullptr; };
        return (wanted.empty() || std::any_of(wanted.begin(), wanted.end(), matches)) &&
               std::none_of(unwanted.begin(), unwanted.end(), matches);
    }
};

int run_all(const Arguments& arguments) {
    int counts[3] = {0, 0, 0};
    for (const Test& test : tests()) {
        if (!arguments.want(test)) continue;
        if (arguments.list) {
            std::printf("%s\n", test.name);
            counts[0]++;
            continue;
        }
        std::fflush(stdout);
        counts[static_cast<int>(run(test))]++;
    }
    const int ran = counts[0] + counts[1] + counts[2];
    if (ran == 0) std::printf("no test has such a name\n");
    if (!arguments.list) std::printf("%d passed, %d skipped, %d failed\n", counts[0], counts[1], counts[2]);
    return ran > 0 && counts[2] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

std::string describe(const char* file, int line, const char* what) {
    std::string text = std::string(file) + ":" + std::to_string(line) + ": " + what;
    if (*hob_last_error() != '\0') text += std::string("\n             last error: ") + hob_last_error();
    return text;
}

}  // namespace

Registration::Registration(const char* name, void (*run)()) {
    tests().push_back({name, run});
}

void fail(const char* file, int line, const char* what) {
    notes().add(describe(file, line, what));
    throw Failed{};
}

void note(const char* file, int line, const char* what) noexcept {
    notes().add(describe(file, line, what));
}

void skip(const char* reason) {
    if (std::getenv("HOB_REQUIRE_ALL") != nullptr) fail(__FILE__, __LINE__, reason);
    throw Skipped{reason};
}

void not_applicable(const char* reason) {
    throw Skipped{reason};
}

int scaled(int count) {
    const char* text = std::getenv("HOB_TEST_SCALE");
    const int divisor = text != nullptr ? std::max(1, std::atoi(text)) : 1;
    return std::max(1, count / divisor);
}

}  // namespace harness

int main(int count, char** values) {
    return harness::run_all(harness::Arguments(count, values));
}
