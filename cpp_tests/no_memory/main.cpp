// Lets every allocation of every scenario fail, one after the other, in a process of its own. No process may crash, abort
// or hang, each call must succeed or say that it is out of memory, and afterwards all must work.
//
//   no_memory [--stride N] [--source malloc|hook] [--failure once|until_noticed|for_long] [SCENARIO...]
//
// For each site of a failure it prints how often, the first allocation, and where in the library. HOB_SCRATCH: the folder
// for files.
#include <execinfo.h>
#include <ftw.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "run.h"

using namespace no_memory;

namespace {

/// How a child process ended, in memory that it shares with its parent.
struct Report {
    uint64_t allocations;
    bool is_finished;
    int signal;
    int depth;
    void* stack[64];
    char wrong[640];
};
Report* report;

/// Seconds after which a run hangs.
constexpr unsigned longest_run = 60;

/// Keeps the stack of the first failed allocation, for a call that then has a wrong result.
void on_failure() {
    report->depth = backtrace(report->stack, 64);
}

void on_signal(int number) {
    if (report->signal == 0) {
        report->signal = number;
        report->depth = backtrace(report->stack, 64);
    }
    _exit(1);
}

const char* name(Failure failure) {
    switch (failure) {
        case Failure::once: return "once";
        case Failure::until_noticed: return "until_noticed";
        case Failure::for_long: return "for_long";
    }
    return "";
}

const char* name(Source source) {
    return source == Source::malloc ? "malloc" : "hook";
}

int remove_entry(const char* path, const struct stat*, int, struct FTW*) {
    return std::remove(path);
}

void remove_folder(const std::string& path) {
    nftw(path.c_str(), &remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/// Plays a scenario in a child process. The allocation with this number fails.
Report play(const Scenario& scenario, Source source, Failure failure, uint64_t number, const std::string& folder) {
    *report = Report{};
    const std::string broken = folder + "/broken", whole = folder + "/whole";
    mkdir(folder.c_str(), 0700);
    mkdir(broken.c_str(), 0700);
    mkdir(whole.c_str(), 0700);
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM}) std::signal(signal, &on_signal);
        alarm(longest_run);
        on_first_failure = &on_failure;
        if (source == Source::hook) set_hook();
        {
            Run run(failure, broken.c_str());
            begin(source, failure, number);
            scenario.play(run);
            heal();
            report->allocations = allocations();
        }
        // The failures have no effect on a later run in the same process.
        Run again(Failure::once, whole.c_str());
        scenario.play(again);
        report->is_finished = true;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    Report found = *report;
    if (WIFSIGNALED(status) && found.signal == 0) found.signal = WTERMSIG(status);
    remove_folder(folder);
    return found;
}

/// The functions and lines of addresses, for each a list of inlined calls from the inside.
std::map<void*, std::vector<std::string>> places_of(const std::set<void*>& addresses) {
    std::map<void*, std::vector<std::string>> found;
    if (addresses.empty()) return found;
    char program[4096] = {};
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return found;
    std::string command = "addr2line -a -f -C -i -e '" + std::string(program) + "'";
    for (void* address : addresses) {
        char text[32];
        // The call is before the return address.
        std::snprintf(text, sizeof text, " 0x%zx", reinterpret_cast<size_t>(address) - 1);
        command += text;
    }
    FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (pipe == nullptr) return found;
    char line[4096];
    void* current = nullptr;
    std::string function;
    bool is_function = true;
    while (std::fgets(line, sizeof line, pipe) != nullptr) {
        line[std::strcspn(line, "\n")] = 0;
        if (std::strncmp(line, "0x", 2) == 0) {
            current = reinterpret_cast<void*>(std::strtoull(line, nullptr, 16) + 1);
            is_function = true;
        } else if (is_function) {
            function = line;
            is_function = false;
        } else {
            found[current].push_back(function + " at " + line);
            is_function = true;
        }
    }
    pclose(pipe);
    return found;
}

/// The innermost lines of the library in a stack. The helpers that allocate are not interesting.
std::string site_of(const Report& found, std::map<void*, std::vector<std::string>>& places) {
    std::string site;
    int frames = 0;
    for (int n = 0; n < found.depth && frames < 3; ++n) {
        for (const std::string& place : places[found.stack[n]]) {
            const size_t source = place.find("/src/");
            if (source == std::string::npos || place.find("/rustc/") != std::string::npos || place.find("/registry/") != std::string::npos) continue;
            if (place.find("/src/base/") != std::string::npos || place.find("/src/ffi/base/forwarding") != std::string::npos) continue;
            if (frames++ == 3) break;
            site += (site.empty() ? "" : " < ") + place.substr(source + 1) + " (" + place.substr(0, place.find(" at ")) + ")";
        }
    }
    return site.empty() ? "an unknown place" : site;
}

struct Fault {
    std::string label;
    uint64_t number;
    Report report;
};

std::string described(const Fault& fault, std::map<void*, std::vector<std::string>>& places) {
    const Report& found = fault.report;
    if (found.signal == SIGALRM) return "hangs in " + site_of(found, places);
    if (found.signal != 0) return std::string(strsignal(found.signal)) + " in " + site_of(found, places);
    if (found.wrong[0] != 0) return std::string(found.wrong) + " after a failure in " + site_of(found, places);
    return "the process exited in the middle";
}

/// Prints each site once. Returns their number.
size_t print(const std::vector<Fault>& faults) {
    std::set<void*> addresses;
    for (const Fault& fault : faults) addresses.insert(fault.report.stack, fault.report.stack + fault.report.depth);
    auto places = places_of(addresses);
    std::map<std::string, std::vector<const Fault*>> sites;
    for (const Fault& fault : faults) sites[described(fault, places)].push_back(&fault);
    for (const auto& site : sites) {
        const Fault& first = *site.second.front();
        std::printf("%5zu x %s; first: %s, allocation %llu\n", site.second.size(), site.first.c_str(), first.label.c_str(),
                    static_cast<unsigned long long>(first.number));
    }
    return sites.size();
}

}  // namespace

void Run::wrong(const char* what, hob_result result) {
    std::snprintf(report->wrong, sizeof report->wrong, "%s returned %s: %s", what, hob_result_name(result), hob_last_error());
    _exit(1);
}

int main(int count, char** words) {
    uint64_t stride = 1;
    std::vector<Source> sources;
    std::vector<Failure> failures;
    std::vector<std::string> names;
    for (int n = 1; n < count; ++n) {
        const std::string word = words[n];
        const char* const value = n + 1 < count ? words[n + 1] : "";
        if (word == "--stride") stride = std::strtoull(value, nullptr, 10), ++n;
        else if (word == "--source") sources.push_back(std::strcmp(value, "hook") == 0 ? Source::hook : Source::malloc), ++n;
        else if (word == "--failure") {
            for (const Failure one : {Failure::once, Failure::until_noticed, Failure::for_long})
                if (std::strcmp(value, name(one)) == 0) failures.push_back(one);
            ++n;
        } else names.push_back(word);
    }
    if (sources.empty()) sources = {Source::malloc, Source::hook};
    if (failures.empty()) failures = {Failure::once, Failure::until_noticed, Failure::for_long};
    if (stride == 0) stride = 1;

    void* const shared = mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    report = static_cast<Report*>(shared);
    void* warm[4];
    (void)backtrace(warm, 4);  // its first call allocates
    const char* const scratch = std::getenv("HOB_SCRATCH");
    const std::string folder = std::string(scratch != nullptr ? scratch : "/tmp") + "/no_memory-" + std::to_string(getpid());

    std::vector<Fault> faults;
    uint64_t runs = 0, all = 0;
    for (int s = 0; s < scenario_count; ++s) {
        const Scenario& scenario = scenarios[s];
        if (!names.empty() && std::find(names.begin(), names.end(), scenario.name) == names.end()) continue;
        for (const Source source : sources) {
            const Report whole = play(scenario, source, Failure::once, never, folder);
            const std::string label = std::string(scenario.name) + " " + name(source);
            if (!whole.is_finished) faults.push_back({label, never, whole});
            all += whole.allocations;
            for (const Failure failure : failures) {
                // Threads allocate in any order, so a run may have some allocations more than the first one.
                for (uint64_t number = stride == 1 ? 0 : (runs % stride); number < whole.allocations; number += stride, ++runs) {
                    const Report found = play(scenario, source, failure, number, folder);
                    if (!found.is_finished) faults.push_back({label + " " + name(failure), number, found});
                }
            }
            std::printf("%s: %llu allocations\n", label.c_str(), static_cast<unsigned long long>(whole.allocations));
        }
    }
    std::printf("%llu of %llu allocations failed; %zu runs went wrong\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(all * failures.size()), faults.size());
    return runs > 0 && print(faults) == 0 ? 0 : 1;
}
