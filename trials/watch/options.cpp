#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "../common/arguments.h"

namespace watch {

using namespace trials;

const char* const usage =
    R"(watch: reads numbers from the status bar of a game, and looks only at what changed

cargo run --release -p hobgoblin-trials --bin watch -- [options]

Each frame of a clip goes through a perception whose pipelines compare glyphs of digits. A table says for each
combination of prefetch and graft how many labels were read, how fast, and how much work it took. A second table says
how many numbers are right, and how late they are, if the last frames must agree.

  --clip PATH         a folder of PNG files, a file or a pipe (-) of PNGs one after the other, or of raw frames with 4
                      bytes a pixel: blue, green, red, and one that is ignored (default: 70 frames of a Doom engine
                      with Freedoom's data)
  --size WxH          size of raw frames (default: 320x200)
  --labels FILE       CSV with a row for each frame and a column for each field (default: those of the default clip)
  --fields LIST       name:right,top of each number, separated by blanks: the column behind its last digit, and its
                      first row (default: "ammo:44,171 health:90,171 armor:221,171")
  --glyphs PNG        pictures of 0 to 9 side by side. Transparent pixels are not compared. Further rows of pictures
                      have other tints (default: Freedoom's digits in the 14 palettes of the game)
  --glyph-rows N      rows of pictures (default: 14)
  --tolerance N       mean difference at which a digit fits. Default 0: exact, in any tint. For lossy video: 26; then
                      only the first row of pictures is compared
  --correlation P     percent of correlation at which a digit fits, instead: 60 to 80 for lossy video and tints
  --frames N          the first N frames (default: all)
  --workers N         compute with N threads, 1 to 16 (default: 1)
  --repeat N          times of the fastest of N runs, 1 to 100 (default: 3)
  --least-right P     percent of the answers that must be right with agreement, for lossy clips (default: 99)
  --least-answered P  percent of the frames that must be answered then (default: 90)
  --out DIR           write overlays as PNG
  --every N           an overlay of every Nth frame (default: 10)
  --json FILE         write all results
  --help              print this

ffmpeg -v error -i clip.mp4 -f rawvideo -pix_fmt bgr0 - | watch --clip - --labels labels.csv --tolerance 26

The exit status is 0 when all targets are met. Ctrl-C ends the run.
)";

namespace {

[[noreturn]] void refuse(const std::string& flag, const std::string& wanted, const std::string& found) {
    throw std::runtime_error(flag + " wants " + wanted + ", not \"" + found + "\"");
}

void read_size(const std::string& text, Options& options) {
    int end = 0;
    const bool is_read = std::sscanf(text.c_str(), "%ux%u%n", &options.width, &options.height, &end) == 2;
    if (!is_read || static_cast<std::size_t>(end) != text.size()) refuse("--size", "something like 320x200", text);
    if (options.width < 16 || options.height < 16 || options.width > 8192 || options.height > 8192)
        refuse("--size", "sides from 16 to 8192", text);
}

std::vector<Field> fields_of(const std::string& text) {
    std::vector<Field> fields;
    std::size_t at = 0;
    while (at < text.size()) {
        char name[40];
        Field field{};
        int used = 0;
        if (std::sscanf(text.c_str() + at, " %39[a-zA-Z0-9_]:%u,%u %n", name, &field.right, &field.top, &used) != 3)
            refuse("--fields", "something like \"ammo:44,171 health:90,171\"", text);
        field.name = name;
        fields.push_back(field);
        at += static_cast<std::size_t>(used);
    }
    if (fields.empty() || fields.size() > 64) refuse("--fields", "1 to 64 fields", text);
    return fields;
}

std::uint32_t number_of(Arguments& arguments, std::size_t least, std::size_t most) {
    const std::string flag = arguments.flag();
    const std::string text = arguments.value();
    char* end = nullptr;
    const unsigned long found = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || text[0] == '-' || *end != '\0' || found < least || found > most)
        refuse(flag, std::to_string(least) + " to " + std::to_string(most), text);
    return static_cast<std::uint32_t>(found);
}

} // namespace

Options parse_options(int count, char** values) {
    Options options;
    Arguments arguments(count, values);
    while (arguments.next()) {
        const std::string& flag = arguments.flag();
        if (flag == "--help" || flag == "-h") options.help = true;
        else if (flag == "--clip") options.clip = arguments.value();
        else if (flag == "--size") read_size(arguments.value(), options);
        else if (flag == "--labels") options.labels = arguments.value();
        else if (flag == "--fields") options.fields = fields_of(arguments.value());
        else if (flag == "--glyphs") options.glyphs = arguments.value();
        else if (flag == "--glyph-rows") options.glyph_rows = number_of(arguments, 1, 25);
        else if (flag == "--tolerance") options.tolerance = number_of(arguments, 0, 255);
        else if (flag == "--correlation") options.correlation = number_of(arguments, 1, 100);
        else if (flag == "--frames") options.frames = number_of(arguments, 1, 1000000);
        else if (flag == "--workers") options.workers = number_of(arguments, 1, 16);
        else if (flag == "--repeat") options.repeats = number_of(arguments, 1, 100);
        else if (flag == "--least-right") options.least_right = number_of(arguments, 0, 100);
        else if (flag == "--least-answered") options.least_answered = number_of(arguments, 0, 100);
        else if (flag == "--out") options.directory = arguments.value();
        else if (flag == "--every") options.every = number_of(arguments, 1, 1000000);
        else if (flag == "--json") options.json_file = arguments.value();
        else throw std::runtime_error("unknown option \"" + flag + "\" (see --help)");
    }
    return options;
}

} // namespace watch
