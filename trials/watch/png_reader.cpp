#include "png_reader.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace watch {

const char png_signature[8] = {'\x89', 'P', 'N', 'G', '\r', '\n', '\x1a', '\n'};

namespace {

constexpr std::uint32_t most_side = 32768;

[[noreturn]] void refuse(const char* why) { throw std::runtime_error(std::string("PNG: ") + why); }

/// The bits of a deflate stream, lowest first.
class Bits {
public:
    explicit Bits(const std::string& the_bytes) : bytes(the_bytes) {}

    std::uint32_t take(unsigned count) {
        while (held < count) {
            if (at == bytes.size()) refuse("its data ends too early");
            bits |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[at++])) << held;
            held += 8;
        }
        const std::uint32_t taken = bits & ((1u << count) - 1);
        bits >>= count;
        held -= count;
        return taken;
    }
    void drop_rest_of_byte() { take(held % 8); }

private:
    const std::string& bytes;
    std::size_t at = 0;
    std::uint32_t bits = 0;
    unsigned held = 0;
};

/// Canonical Huffman codes of up to 15 bits.
class Codes {
public:
    explicit Codes(const std::vector<std::uint8_t>& lengths) {
        for (const std::uint8_t length : lengths) ++counts[length];
        counts[0] = 0;
        std::array<std::uint16_t, 16> next{};
        for (std::size_t length = 1; length < 15; ++length)
            next[length + 1] = static_cast<std::uint16_t>(next[length] + counts[length]);
        symbols.resize(lengths.size());
        for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
            if (lengths[symbol] != 0) symbols[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    }

    std::uint32_t take(Bits& bits) const {
        std::int32_t code = 0, first = 0, index = 0;
        for (std::size_t length = 1; length <= 15; ++length) {
            code |= static_cast<std::int32_t>(bits.take(1));
            const std::int32_t count = counts[length];
            if (code - count < first) return symbols[static_cast<std::size_t>(index + code - first)];
            index += count;
            first = (first + count) * 2;
            code *= 2;
        }
        refuse("a code is invalid");
    }

private:
    std::array<std::uint16_t, 16> counts{};
    std::vector<std::uint16_t> symbols;
};

void copy_block(Bits& bits, const Codes& literals, const Codes& distances, std::string& out, std::size_t most) {
    static const std::uint16_t length_bases[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                   31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const std::uint16_t distance_bases[30] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,
                                                     33,  49,  65,  97,  129, 193,  257,  385,  513,  769,
                                                     1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    while (true) {
        const std::uint32_t symbol = literals.take(bits);
        if (symbol == 256) return;
        if (out.size() > most) refuse("its data is too long");
        if (symbol < 256) {
            out.push_back(static_cast<char>(symbol));
            continue;
        }
        const std::uint32_t code = symbol - 257;
        if (code > 28) refuse("a length is invalid");
        std::size_t length = length_bases[code];
        if (code >= 8 && code < 28) length += bits.take(code / 4 - 1);
        const std::uint32_t distance_code = distances.take(bits);
        if (distance_code > 29) refuse("a distance is invalid");
        std::size_t distance = distance_bases[distance_code];
        if (distance_code >= 4) distance += bits.take(distance_code / 2 - 1);
        if (distance > out.size()) refuse("a distance is too long");
        while (length-- > 0) out.push_back(out[out.size() - distance]);
    }
}

void read_codes(Bits& bits, std::vector<std::uint8_t>& literals, std::vector<std::uint8_t>& distances) {
    static const std::uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const std::size_t literal_count = bits.take(5) + 257, distance_count = bits.take(5) + 1, count = bits.take(4) + 4;
    std::vector<std::uint8_t> lengths(19);
    for (std::size_t i = 0; i < count; ++i) lengths[order[i]] = static_cast<std::uint8_t>(bits.take(3));
    const Codes codes(lengths);
    std::vector<std::uint8_t> all;
    while (all.size() < literal_count + distance_count) {
        const std::uint32_t symbol = codes.take(bits);
        if (symbol < 16) {
            all.push_back(static_cast<std::uint8_t>(symbol));
            continue;
        }
        if (symbol == 16 && all.empty()) refuse("a repeated length is missing");
        const std::uint8_t value = symbol == 16 ? all.back() : std::uint8_t{0};
        const std::size_t times = symbol == 16 ? 3 + bits.take(2) : symbol == 17 ? 3 + bits.take(3) : 11 + bits.take(7);
        all.insert(all.end(), times, value);
    }
    if (all.size() != literal_count + distance_count) refuse("there are too many lengths");
    literals.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(literal_count));
    distances.assign(all.begin() + static_cast<std::ptrdiff_t>(literal_count), all.end());
}

/// The data of a zlib stream: about `size` bytes.
std::string inflate(const std::string& stream, std::size_t size) {
    Bits bits(stream);
    if (bits.take(8) % 16 != 8) refuse("its compression is unknown");
    bits.take(8);
    std::string out;
    out.reserve(size);
    for (bool is_last = false; !is_last;) {
        is_last = bits.take(1) == 1;
        const std::uint32_t kind = bits.take(2);
        if (kind == 0) {
            bits.drop_rest_of_byte();
            const std::uint32_t length = bits.take(16);
            bits.take(16);
            if (out.size() > size) refuse("its data is too long");
            for (std::uint32_t i = 0; i < length; ++i) out.push_back(static_cast<char>(bits.take(8)));
            continue;
        }
        if (kind == 3) refuse("a block is invalid");
        std::vector<std::uint8_t> literals(288, 8), distances(30, 5);
        if (kind == 1) {
            std::fill(literals.begin() + 144, literals.begin() + 256, std::uint8_t{9});
            std::fill(literals.begin() + 256, literals.begin() + 280, std::uint8_t{7});
        } else {
            read_codes(bits, literals, distances);
        }
        copy_block(bits, Codes(literals), Codes(distances), out, size);
    }
    return out;
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return number;
}

int paeth(int left, int above, int corner) {
    const int sum = left + above - corner;
    const int a = std::abs(sum - left), b = std::abs(sum - above), c = std::abs(sum - corner);
    return a <= b && a <= c ? left : b <= c ? above : corner;
}

/// Removes the filters of rows. Each one has its kind before it.
void unfilter(std::string& rows, std::size_t row_size, std::size_t pixel_size) {
    const auto at = [&](std::size_t place) { return static_cast<int>(static_cast<std::uint8_t>(rows[place])); };
    const std::size_t pitch = row_size + 1;
    for (std::size_t start = 0; start < rows.size(); start += pitch) {
        const int kind = at(start);
        if (kind > 4) refuse("a filter is invalid");
        for (std::size_t i = 1; kind != 0 && i <= row_size; ++i) {
            const bool has_left = i > pixel_size, has_above = start > 0;
            const int left = has_left ? at(start + i - pixel_size) : 0, above = has_above ? at(start + i - pitch) : 0;
            const int corner = has_left && has_above ? at(start + i - pitch - pixel_size) : 0;
            const int guess = kind == 1 ? left : kind == 2 ? above : kind == 3 ? (left + above) / 2 : paeth(left, above, corner);
            rows[start + i] = static_cast<char>(at(start + i) + guess);
        }
    }
}

} // namespace

Picture read_png(const std::string& bytes, std::size_t& at) {
    if (bytes.compare(at, sizeof png_signature, png_signature, sizeof png_signature) != 0) refuse("its signature is missing");
    at += sizeof png_signature;
    Picture picture;
    std::string stream, palette, alphas;
    std::uint8_t kind = 0;
    for (bool is_end = false; !is_end;) {
        if (bytes.size() - at < 12) refuse("it ends too early");
        const std::size_t size = number_at(bytes, at);
        if (bytes.size() - at - 12 < size) refuse("it ends too early");
        const std::string name = bytes.substr(at + 4, 4);
        const std::size_t data = at + 8;
        if (name == "IHDR" && size == 13) {
            picture.width = number_at(bytes, data);
            picture.height = number_at(bytes, data + 4);
            kind = static_cast<std::uint8_t>(bytes[data + 9]);
            if (bytes[data + 8] != 8 || bytes[data + 12] != 0) refuse("it must have 8 bits a channel, and no interlacing");
        } else if (name == "PLTE") {
            palette.assign(bytes, data, size);
        } else if (name == "tRNS") {
            alphas.assign(bytes, data, size);
        } else if (name == "IDAT") {
            stream.append(bytes, data, size);
        }
        is_end = name == "IEND";
        at += size + 12;
    }
    const std::size_t channels = kind == 0 || kind == 3 ? 1 : kind == 4 ? 2 : kind == 2 ? 3 : kind == 6 ? 4 : 0;
    if (channels == 0) refuse("its kind of colours is unknown");
    const std::size_t width = picture.width, height = picture.height, row_size = width * channels;
    if (width == 0 || height == 0 || width > most_side || height > most_side) refuse("its size is invalid");
    std::string rows = inflate(stream, (row_size + 1) * height);
    if (rows.size() != (row_size + 1) * height) refuse("its data has another size");
    unfilter(rows, row_size, channels);
    picture.pixels.resize(width * height * 4);
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            const auto* const from = reinterpret_cast<const std::uint8_t*>(rows.data()) + y * (row_size + 1) + 1 + x * channels;
            std::uint8_t* const to = &picture.pixels[(y * width + x) * 4];
            to[3] = 255;
            if (kind == 3) {
                if (from[0] * 3u + 2 >= palette.size()) refuse("a colour is not in its palette");
                for (std::size_t c = 0; c < 3; ++c) to[2 - c] = static_cast<std::uint8_t>(palette[from[0] * 3u + c]);
                if (from[0] < alphas.size()) to[3] = static_cast<std::uint8_t>(alphas[from[0]]);
                continue;
            }
            const bool is_gray = channels < 3;
            for (std::size_t c = 0; c < 3; ++c) to[2 - c] = from[is_gray ? 0 : c];
            if (channels % 2 == 0) to[3] = from[channels - 1];
        }
    return picture;
}

} // namespace watch
