#include "result.h"

#include <cstdlib>
#include <sstream>

namespace program_cache_gl {

namespace {

void read(const std::string& text, std::string& value) { value = text; }
void read(const std::string& text, std::size_t& value) { value = std::strtoull(text.c_str(), nullptr, 10); }
void read(const std::string& text, double& value) { value = std::strtod(text.c_str(), nullptr); }

} // namespace

std::string to_text(const StepResult& result) {
    std::ostringstream out;
    visit_fields(result, [&](const char* name, const auto& value) { out << name << " " << value << "\n"; });
    return out.str();
}

StepResult from_text(const std::string& text) {
    StepResult result;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const std::size_t space = line.find(' ');
        if (space == std::string::npos) continue;
        visit_fields(result, [&](const char* name, auto& value) {
            if (line.compare(0, space, name) == 0) read(line.substr(space + 1), value);
        });
    }
    return result;
}

} // namespace program_cache_gl
