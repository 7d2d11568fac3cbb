// The results: a table for people, JSON for programs, and pictures for both.
#pragma once

#include <string>
#include <vector>

#include "../common/verdict.h"
#include "show.h"

namespace patch {

/// The rows under a head.
/// Columns of the baked graph appear once there is one.
std::string table_of(const std::vector<Row>& rows, bool has_baked);

struct Results {
    std::vector<Frame> frames;
    std::vector<Row> rows;
    std::vector<trials::Target> targets;
    bool is_interrupted = false;
};

/// Throws std::runtime_error when the file cannot be written.
void write_results(const std::string& path, const Results& results);

/// Writes pictures into a directory.
/// An empty name turns them off.
class Pictures {
public:
    /// Makes the directory if it is missing. Throws std::runtime_error if it cannot.
    Pictures(std::string directory, int frames);

    void add(int frame, const Picture& picture);
    /// Writes the graphs and the sheet.
    void finish(const std::string& edited_graph, const std::string& baked_graph);

private:
    std::string path_of(const std::string& name) const;

    std::string directory;
    int frames;
    std::vector<Picture> sheet; ///< Half as large as the pictures.
};

} // namespace patch
