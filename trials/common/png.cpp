#include "png.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>

namespace trials {

namespace {

std::uint32_t crc_of(const std::string& bytes) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> t{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t c = i;
            for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
            t[i] = c;
        }
        return t;
    }();
    std::uint32_t crc = 0xFFFFFFFFu;
    for (char byte : bytes) crc = table[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFFu] ^ (crc >> 8);
    return crc ^ 0xFFFFFFFFu;
}

void append_u32(std::string& out, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xFFu));
}

void append_chunk(std::string& out, const std::string& name, const std::string& data) {
    append_u32(out, static_cast<std::uint32_t>(data.size()));
    out += name + data;
    append_u32(out, crc_of(name + data));
}

/// A zlib stream of stored blocks.
std::string stored(const std::string& data) {
    constexpr std::size_t most_per_block = 65535;
    std::string out = "\x78\x01";
    std::uint32_t a = 1, b = 0;
    for (char byte : data) {
        a = (a + static_cast<std::uint8_t>(byte)) % 65521;
        b = (b + a) % 65521;
    }
    for (std::size_t at = 0; at < data.size(); at += most_per_block) {
        const std::size_t size = std::min(most_per_block, data.size() - at);
        out.push_back(at + size == data.size() ? 1 : 0);
        for (std::size_t word : {size, ~size})
            for (int shift : {0, 8}) out.push_back(static_cast<char>((word >> shift) & 0xFFu));
        out.append(data, at, size);
    }
    append_u32(out, b << 16 | a);
    return out;
}

} // namespace

void write_png(const std::string& path, int width, int height, const std::vector<std::uint8_t>& rgb) {
    std::string header;
    append_u32(header, static_cast<std::uint32_t>(width));
    append_u32(header, static_cast<std::uint32_t>(height));
    header += std::string("\x08\x02\x00\x00\x00", 5); // 8 bits, RGB
    std::string rows;
    const std::size_t row_size = static_cast<std::size_t>(width) * 3;
    for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
        rows.push_back(0); // no filter
        rows.append(reinterpret_cast<const char*>(rgb.data()) + y * row_size, row_size);
    }
    std::string file = "\x89PNG\r\n\x1a\n";
    append_chunk(file, "IHDR", header);
    append_chunk(file, "IDAT", stored(rows));
    append_chunk(file, "IEND", "");
    std::ofstream out(path, std::ios::binary);
    out.write(file.data(), static_cast<std::streamsize>(file.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

} // namespace trials
