#include "arguments.h"

#include <cstdlib>
#include <stdexcept>

namespace trials {

bool Arguments::next() {
    if (at + 1 >= argument_count) return false;
    current = arguments[++at];
    return true;
}

std::string Arguments::value() {
    if (at + 1 >= argument_count) throw std::runtime_error(current + " wants a value after it (see --help)");
    return arguments[++at];
}

double Arguments::positive_number() { return trials::positive_number(current, value()); }

std::size_t Arguments::count() {
    const std::string text = value();
    if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
        throw std::runtime_error(current + " wants a whole number below a million, not \"" + text + "\"");
    return std::stoul(text);
}

double positive_number(const std::string& flag, const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(value > 0) || value > 1e6)
        throw std::runtime_error(flag + " wants a positive number, not \"" + text + "\"");
    return value;
}

} // namespace trials
