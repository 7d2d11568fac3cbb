// A command line, flag by flag. Whatever is wrong with it is thrown as a std::runtime_error with a sentence for whoever
// typed it.
#pragma once

#include <cstddef>
#include <string>

namespace example {

class Arguments {
public:
    Arguments(int the_count, char** the_arguments) : argument_count(the_count), arguments(the_arguments) {}

    /// The next flag; false at the end.
    bool next();
    const std::string& flag() const { return current; }

    /// What stands after the flag.
    std::string value();
    double positive_number();
    std::size_t count(); ///< A whole number below a million.

private:
    int argument_count, at = 0;
    char** arguments;
    std::string current;
};

/// `text` as a number above 0 and not above a million. `flag` is named when it is none.
double positive_number(const std::string& flag, const std::string& text);

} // namespace example
