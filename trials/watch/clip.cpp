#include "clip.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "../common/files.h"

namespace watch {

using namespace trials;

namespace {

std::string existing_file(const std::string& path) {
    if (!std::filesystem::is_regular_file(path)) throw std::runtime_error("there is no file " + path);
    return read_file(path);
}

void add_picture(Clip& clip, Picture&& picture) {
    if (clip.frames.empty()) {
        clip.width = picture.width;
        clip.height = picture.height;
    } else if (clip.width != picture.width || clip.height != picture.height) {
        throw std::runtime_error("frame " + std::to_string(clip.frames.size()) + " has another size than the first one");
    }
    clip.frames.push_back(std::move(picture.pixels));
}

/// Reads frames one by one, so that a pipe is not held twice in memory.
Clip read_raw(std::istream& in, std::string begin, const Options& options, std::size_t most) {
    Clip clip{options.width, options.height, {}};
    const std::size_t size = std::size_t{4} * options.width * options.height;
    while (clip.frames.size() < most) {
        std::vector<std::uint8_t> frame(size);
        const std::size_t from_begin = std::min(size, begin.size());
        std::memcpy(frame.data(), begin.data(), from_begin);
        begin.erase(0, from_begin);
        in.read(reinterpret_cast<char*>(frame.data()) + from_begin, static_cast<std::streamsize>(size - from_begin));
        const std::size_t got = from_begin + static_cast<std::size_t>(in.gcount());
        if (got == 0) break;
        if (got < size)
            throw std::runtime_error("the last frame has " + std::to_string(got) + " of " + std::to_string(size) +
                                     " bytes: give the clip's --size");
        clip.frames.push_back(std::move(frame));
    }
    return clip;
}

Clip read_stream(std::istream& in, const Options& options, std::size_t most) {
    std::string begin(sizeof png_signature, '\0');
    in.read(&begin[0], static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(in.gcount()));
    if (begin.empty() || std::memcmp(begin.data(), png_signature, begin.size()) != 0)
        return read_raw(in, begin, options, most);
    Clip clip;
    const std::string bytes = begin + std::string(std::istreambuf_iterator<char>(in), {});
    for (std::size_t at = 0; at < bytes.size() && clip.frames.size() < most;) add_picture(clip, read_png(bytes, at));
    return clip;
}

Clip read_folder(const std::string& folder, std::size_t most) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".png") paths.push_back(entry.path().string());
    std::sort(paths.begin(), paths.end());
    Clip clip;
    for (const std::string& path : paths) {
        if (clip.frames.size() == most) break;
        std::size_t at = 0;
        add_picture(clip, read_png(read_file(path), at));
    }
    return clip;
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) {
        while (!cell.empty() && (cell.back() == '\r' || cell.back() == ' ')) cell.pop_back();
        cells.push_back(cell);
    }
    return cells;
}

} // namespace

Clip load_clip(const Options& options) {
    const std::size_t most = options.frames == 0 ? SIZE_MAX : options.frames;
    Clip clip;
    if (options.clip == "-") {
        clip = read_stream(std::cin, options, most);
    } else if (std::filesystem::is_directory(options.clip)) {
        clip = read_folder(options.clip, most);
    } else {
        std::ifstream in(options.clip, std::ios::binary);
        if (!in) throw std::runtime_error("cannot read the clip " + options.clip);
        clip = read_stream(in, options, most);
    }
    if (clip.frames.empty()) throw std::runtime_error("the clip " + options.clip + " has no frames");
    return clip;
}

Labels load_labels(const Options& options, std::size_t frames) {
    if (options.labels.empty()) return {};
    std::istringstream in(existing_file(options.labels));
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> head = cells_of(line);
    std::vector<std::size_t> columns;
    for (const Field& field : options.fields) {
        const auto found = std::find(head.begin(), head.end(), field.name);
        if (found == head.end()) throw std::runtime_error(options.labels + " has no column " + field.name);
        columns.push_back(static_cast<std::size_t>(found - head.begin()));
    }
    Labels labels(columns.size());
    for (std::size_t frame = 0; frame < frames && std::getline(in, line); ++frame) {
        const std::vector<std::string> cells = cells_of(line);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const bool has = columns[i] < cells.size() && !cells[columns[i]].empty();
            labels[i].push_back(has ? std::strtoll(cells[columns[i]].c_str(), nullptr, 10) : no_label);
        }
    }
    for (auto& column : labels) column.resize(frames, no_label);
    return labels;
}

std::vector<Glyph> load_glyphs(const Options& options) {
    std::size_t at = 0;
    const Picture sheet = read_png(existing_file(options.glyphs), at);
    const std::uint32_t width = sheet.width / 10, height = sheet.height / options.glyph_rows;
    if (width == 0 || height == 0 || width * 10 != sheet.width || height * options.glyph_rows != sheet.height)
        throw std::runtime_error(options.glyphs + " must have 10 pictures side by side in " +
                                 std::to_string(options.glyph_rows) + " rows: see --glyph-rows");
    const std::uint32_t rows = options.is_exact() ? options.glyph_rows : 1;
    std::vector<Glyph> glyphs;
    for (std::uint32_t place = 0; place < 10 * rows; ++place) {
        Glyph glyph{place % 10, width, height, {}, {}};
        for (std::uint32_t pixel = 0; pixel < width * height; ++pixel) {
            const std::uint32_t x = place % 10 * width + pixel % width, y = place / 10 * height + pixel / width;
            const std::uint8_t* const from = &sheet.pixels[(std::size_t{y} * sheet.width + x) * 4];
            glyph.pixels.insert(glyph.pixels.end(), from, from + 4);
            glyph.mask.push_back(from[3]);
        }
        glyphs.push_back(std::move(glyph));
    }
    return glyphs;
}

} // namespace watch
