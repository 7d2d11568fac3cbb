#include "process.h"

#include <stdexcept>

#ifndef _WIN32
#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ; // NOLINT: POSIX has it in no header
#endif

namespace trials {

#ifdef _WIN32

std::string run_self(const std::string&, const std::vector<std::string>&, const std::vector<std::string>&) {
    throw std::runtime_error("the trial runs on POSIX systems; --step runs anywhere");
}

#else

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& string : strings) pointers.push_back(string.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// This process's environment, with `changes` applied.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
    std::vector<std::string> all = changes;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const char* equals = std::strchr(*entry, '=');
        if (equals == nullptr) continue;
        const std::string name(*entry, static_cast<std::size_t>(equals + 1 - *entry));
        bool is_replaced = false;
        for (const std::string& change : changes)
            is_replaced = is_replaced || change.compare(0, name.size(), name) == 0;
        if (!is_replaced) all.emplace_back(*entry);
    }
    return all;
}

} // namespace

std::string run_self(const std::string& self, const std::vector<std::string>& arguments,
                     const std::vector<std::string>& environment) {
    std::vector<std::string> words{self};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = environment_with(environment);
    pid_t child = 0;
    const int error =
        posix_spawnp(&child, self.c_str(), nullptr, nullptr, pointers_to(words).data(), pointers_to(variables).data());
    if (error != 0) throw std::runtime_error(self + " cannot be run: " + std::strerror(error));
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
    if (WIFSIGNALED(status)) return std::string("ended by signal ") + std::to_string(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? "" : "ended with status " + std::to_string(WEXITSTATUS(status));
}

#endif

} // namespace trials
