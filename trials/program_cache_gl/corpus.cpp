#include "corpus.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "../common/files.h"

namespace program_cache_gl {

std::string defines(const std::string& words) {
    std::istringstream in(words);
    std::string word, text;
    while (in >> word) {
        const std::size_t equals = word.find('=');
        text += "#define " + word.substr(0, equals) + " " +
                (equals == std::string::npos ? "1" : word.substr(equals + 1)) + "\n";
    }
    return text;
}

std::vector<Program> programs_of(const std::string& directory, bool is_es) {
    return directory.empty() ? own_programs(is_es) : programs_in(directory);
}

std::vector<Program> own_programs(bool is_es) {
    std::vector<Program> programs;
    add_surfaces(programs);
    add_effects(programs);
    const std::string version = is_es ? "#version 310 es\nprecision highp float;\nprecision highp int;\n"
                                        "precision highp sampler2DShadow;\nprecision highp sampler3D;\n"
                                      : "#version 330 core\n";
    for (Program& program : programs) {
        program.vertex.insert(0, version);
        program.fragment.insert(0, version);
    }
    return programs;
}

std::vector<Program> programs_in(const std::string& directory) {
    namespace fs = std::filesystem;
    std::vector<Program> programs;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
        const fs::path vertex = entry.path(), fragment = fs::path(vertex).replace_extension(".frag");
        if (vertex.extension() != ".vert" || !fs::exists(fragment)) continue;
        programs.push_back({vertex.stem().string(), trials::read_file(vertex.string()),
                            trials::read_file(fragment.string())});
    }
    if (error) throw std::runtime_error("--shaders " + directory + ": " + error.message());
    if (programs.empty())
        throw std::runtime_error("--shaders " + directory + " has no pair of files NAME.vert and NAME.frag");
    std::sort(programs.begin(), programs.end(), [](const Program& a, const Program& b) { return a.name < b.name; });
    return programs;
}

} // namespace program_cache_gl
