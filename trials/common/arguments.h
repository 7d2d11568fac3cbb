// A command line, flag by flag. An invalid argument throws a std::runtime_error with a message for the user.
#pragma once

#include <cstddef>
#include <string>

namespace trials {

class Arguments {
public:
    Arguments(int the_count, char** the_arguments) : argument_count(the_count), arguments(the_arguments) {}

    /// Moves to the next flag; false at the end.
    bool next();
    const std::string& flag() const { return current; }

    /// The argument after the flag.
    std::string value();
    double positive_number();
    std::size_t count(); ///< A whole number below a million.

private:
    int argument_count, at = 0;
    char** arguments;
    std::string current;
};

/// `text` as a number above 0 and up to a million.
/// The exception for any other text names `flag`.
double positive_number(const std::string& flag, const std::string& text);

} // namespace trials
