// The programs to compile: the built-in ones, or those of a directory.
#pragma once

#include <string>
#include <vector>

namespace program_cache_gl {

struct Program {
    std::string name;
    std::string vertex, fragment; ///< Whole sources, with their #version.
};

/// The programs of `directory`, or the built-in ones if it is empty.
std::vector<Program> programs_of(const std::string& directory, bool is_es);

/// The variants of a small renderer: surfaces of many kinds, and the effects after them.
std::vector<Program> own_programs(bool is_es);

/// All pairs NAME.vert and NAME.frag in `directory`, in the order of their names.
/// Throws std::runtime_error for a directory without a pair.
std::vector<Program> programs_in(const std::string& directory);

// surfaces.cpp and effects.cpp: an übershader each, and its variants. Their sources begin after the #version.
void add_surfaces(std::vector<Program>& programs);
void add_effects(std::vector<Program>& programs);

/// One #define per word, each set to 1; "NAME=VALUE" sets another value.
std::string defines(const std::string& words);

} // namespace program_cache_gl
