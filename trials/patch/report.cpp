#include "report.h"

#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "../common/fields.h"
#include "../common/files.h"
#include "../common/png.h"

namespace patch {

using namespace trials;

namespace {

/// A frame in JSON.
struct FrameFields {
    const Frame& frame;

    template <typename Self, typename Visit> static void visit_fields(Self& self, Visit&& visit) {
        const Frame& frame = self.frame;
        std::string edits;
        for (const std::string& line : frame.edits) edits += (edits.empty() ? "" : "; ") + line;
        visit("frame", static_cast<std::size_t>(frame.number));
        visit("edits", edits);
        visit("runs", static_cast<std::size_t>(frame.runs));
        visit("is_applied", frame.is_applied);
        visit("data_runs", static_cast<std::size_t>(frame.data_runs));
        visit("has_baked", frame.has_baked);
        visit("is_baked_equal", frame.is_baked_equal);
        visit("baked_runs", static_cast<std::size_t>(frame.baked_runs));
    }
};

/// A row in JSON.
struct RowFields {
    const Row& row;

    template <typename Self, typename Visit> static void visit_fields(Self& self, Visit&& visit) {
        const Row& row = self.row;
        visit("node", row.name);
        visit("class", row.node_class);
        visit("evaluations", static_cast<std::size_t>(row.runs));
        visit("cutoffs", static_cast<std::size_t>(row.cutoffs));
        visit("mean_us", row.mean_us);
        visit("why", row.why);
        visit("baked", row.baked);
        visit("baked_evaluations", static_cast<std::size_t>(row.baked_runs));
    }
};

/// Half as large: each pixel is the mean of four.
Picture halved(const Picture& picture) {
    Picture half({picture.size.width / 2, picture.size.height / 2});
    const std::size_t line = static_cast<std::size_t>(picture.size.width) * 3, half_line = static_cast<std::size_t>(half.size.width) * 3;
    for (std::size_t y = 0; y < static_cast<std::size_t>(half.size.height); ++y)
        for (std::size_t at = 0; at < half_line; ++at) {
            const std::size_t from = 2 * y * line + 2 * (at - at % 3) + at % 3;
            const unsigned sum = picture.rgb[from] + picture.rgb[from + 3] + picture.rgb[from + line] + picture.rgb[from + line + 3];
            half.rgb[y * half_line + at] = static_cast<std::uint8_t>((sum + 2) / 4);
        }
    return half;
}

constexpr int sheet_side = 3;

/// The frame in the middle of each ninth of the run is on the sheet.
bool is_on_sheet(int frame, int frames) {
    const int pictures = sheet_side * sheet_side, at = 2 * frame * pictures / frames;
    return at % 2 == 1 && 2 * (frame - 1) * pictures / frames != at;
}

Picture sheet_of(const std::vector<Picture>& pictures) {
    const Size one = pictures.front().size;
    Picture sheet({one.width * sheet_side, one.height * sheet_side});
    const std::size_t line = static_cast<std::size_t>(one.width) * 3, height = static_cast<std::size_t>(one.height);
    for (std::size_t i = 0; i < pictures.size() && i < sheet_side * sheet_side; ++i)
        for (std::size_t y = 0; y < height; ++y) {
            const std::size_t to = (i / sheet_side * height + y) * line * sheet_side + i % sheet_side * line;
            std::copy_n(pictures[i].rgb.begin() + static_cast<std::ptrdiff_t>(y * line), line,
                        sheet.rgb.begin() + static_cast<std::ptrdiff_t>(to));
        }
    return sheet;
}

void write_picture(const std::string& path, const Picture& picture) {
    write_png(path, picture.size.width, picture.size.height, picture.rgb);
}

} // namespace

std::string table_of(const std::vector<Row>& rows, bool has_baked) {
    char line[400];
    const auto baked = [&](const char* kept, const std::string& runs) {
        char columns[40] = "";
        if (has_baked) std::snprintf(columns, sizeof columns, "  %-6s %5s", kept, runs.c_str());
        return std::string(columns);
    };
    std::snprintf(line, sizeof line, "%-12s %-8s %11s %8s %9s%s  %s\n", "node", "class", "evaluations", "cut-offs",
                  "mean us", baked("baked", "runs").c_str(), "in the last frame it");
    std::string table = line;
    for (const Row& row : rows) {
        const std::string runs = row.baked == "kept" ? std::to_string(row.baked_runs) : "";
        std::snprintf(line, sizeof line, "%-12s %-8s %11zu %8zu %9.1f%s  %s\n", row.name.c_str(), row.node_class.c_str(),
                      static_cast<std::size_t>(row.runs), static_cast<std::size_t>(row.cutoffs), row.mean_us,
                      baked(row.baked.c_str(), runs).c_str(), row.why.c_str());
        table += line;
    }
    return table;
}

void write_results(const std::string& path, const Results& results) {
    std::vector<FrameFields> frames;
    for (const Frame& frame : results.frames) frames.push_back({frame});
    std::vector<RowFields> rows;
    for (const Row& row : results.rows) rows.push_back({row});
    write_file(path, std::string("{\"is_interrupted\": ") + json_of(results.is_interrupted) + ",\n\"frames\": " +
                         to_json_lines(frames) + ",\n\"nodes\": " + to_json_lines(rows) + ",\n\"targets\": " +
                         to_json_lines(results.targets) + "}\n");
}

Pictures::Pictures(std::string the_directory, int the_frames) : directory(std::move(the_directory)), frames(the_frames) {
    if (directory.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) throw std::runtime_error("cannot make the directory " + directory + ": " + error.message());
}

std::string Pictures::path_of(const std::string& name) const {
    return (std::filesystem::path(directory) / name).string();
}

void Pictures::add(int frame, const Picture& picture) {
    if (directory.empty()) return;
    char name[40];
    std::snprintf(name, sizeof name, "frame_%04d.png", frame);
    write_picture(path_of(name), picture);
    if (is_on_sheet(frame, frames)) sheet.push_back(halved(picture));
}

void Pictures::finish(const std::string& edited_graph, const std::string& baked_graph) {
    if (directory.empty()) return;
    if (!sheet.empty()) write_picture(path_of("sheet.png"), sheet_of(sheet));
    write_file(path_of("patch.dot"), edited_graph);
    if (!baked_graph.empty()) write_file(path_of("baked.dot"), baked_graph);
}

} // namespace patch
