// Structs as text: as lines on the way from one process to another, and as JSON. A struct holds texts, counts and
// times. Its static `visit_fields(struct, visit)` calls `visit` with the name and the value of each field.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "files.h"

namespace trials {

inline void read_field(const std::string& text, std::string& value) { value = text; }
inline void read_field(const std::string& text, std::size_t& value) { value = std::strtoull(text.c_str(), nullptr, 10); }
inline void read_field(const std::string& text, double& value) { value = std::strtod(text.c_str(), nullptr); }

inline std::string quoted(const std::string& text) {
    std::string json = "\"";
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20) continue;
        if (c == '"' || c == '\\') json += '\\';
        json += c;
    }
    return json + "\"";
}

inline std::string json_of(const std::string& text) { return quoted(text); }
inline std::string json_of(std::size_t count) { return std::to_string(count); }
inline std::string json_of(bool is) { return is ? "true" : "false"; }
inline std::string json_of(double number) {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f", number);
    return text;
}

/// The fields as text, one "name value" pair a line.
template <typename Fields> std::string to_text(const Fields& fields) {
    std::ostringstream out;
    Fields::visit_fields(fields, [&](const char* name, const auto& value) { out << name << " " << value << "\n"; });
    return out.str();
}

template <typename Fields> Fields from_text(const std::string& text) {
    Fields fields;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const std::size_t space = line.find(' ');
        if (space == std::string::npos) continue;
        Fields::visit_fields(fields, [&](const char* name, auto& value) {
            if (line.compare(0, space, name) == 0) read_field(line.substr(space + 1), value);
        });
    }
    return fields;
}

/// The fields as a JSON object.
template <typename Fields> std::string to_json(const Fields& fields) {
    std::string json, between = "{";
    Fields::visit_fields(fields, [&](const char* name, const auto& value) {
        json += between + quoted(name) + ": " + json_of(value);
        between = ", ";
    });
    return json + "}";
}

/// A JSON array of objects, one a line.
template <typename All> std::string to_json_lines(const All& all) {
    std::string json, between = "[\n";
    for (const auto& fields : all) {
        json += between + to_json(fields);
        between = ",\n";
    }
    return json + "\n]";
}

/// Writes a trial's steps and targets.
/// Throws std::runtime_error when the file cannot be written.
template <typename Steps, typename Targets>
void write_json(const std::string& path, const Steps& steps, const Targets& targets) {
    write_file(path, "{\"steps\": " + to_json_lines(steps) + ",\n\"targets\": " + to_json_lines(targets) + "}\n");
}

} // namespace trials
