#!/usr/bin/env python3
"""Makes the data of the trial `watch` from 600 frames of a Doom engine and from Freedoom's WAD.

    cut.py FRAMES.raw LABELS.csv freedoom1.wad

FRAMES.raw has 320x200 pixels of 4 bytes: blue, green, red, 0. See README.md for the commands that make it.
"""
import csv
import pathlib
import struct
import sys
import zlib

WIDTH, HEIGHT = 320, 200
FIRST, COUNT = 95, 70  # four labels change in these frames, and the screen flashes
HERE = pathlib.Path(__file__).parent


def png(width, height, kind, rows, palette=None):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer = zlib.compressobj(9, zlib.DEFLATED, 15, 9)
    data = packer.compress(b"".join(b"\0" + row for row in rows)) + packer.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    colors = chunk(b"PLTE", palette) if palette else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + colors + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def png_of_frame(frame):
    pixels = [frame[at : at + 3][::-1] for at in range(0, len(frame), 4)]
    colors = sorted(set(pixels))
    index = {color: at for at, color in enumerate(colors)}
    rows = [bytes(index[p] for p in pixels[y * WIDTH : (y + 1) * WIDTH]) for y in range(HEIGHT)]
    return png(WIDTH, HEIGHT, 3, rows, b"".join(colors))


def lumps_of(wad):
    count, at = struct.unpack("<ii", wad[4:12])
    for start in range(at, at + 16 * count, 16):
        place, size = struct.unpack("<ii", wad[start : start + 8])
        yield wad[start + 8 : start + 16].rstrip(b"\0").decode(), wad[place : place + size]


def digit_of(lump):
    """The pixels of a picture, by place. The others are transparent."""
    width = struct.unpack("<h", lump[:2])[0]
    pixels = {}
    for x in range(width):
        at = struct.unpack("<i", lump[8 + 4 * x : 12 + 4 * x])[0]
        while lump[at] != 255:
            top, size = lump[at], lump[at + 1]
            for y in range(size):
                pixels[x, top + y] = lump[at + 3 + y]
            at += size + 4
    return pixels


def color_of(palette, index):
    """As chocolate-doom shows a color: with its gamma table, and 6 bits a channel."""
    return bytes((c + (c < 128)) & 0xFC for c in palette[3 * index : 3 * index + 3]) + b"\xff"


def main():
    frames, labels, wad = (pathlib.Path(path) for path in sys.argv[1:])
    size = 4 * WIDTH * HEIGHT
    with frames.open("rb") as raw, (HERE / "doom.pngs").open("wb") as out:
        raw.seek(FIRST * size)
        for _ in range(COUNT):
            out.write(png_of_frame(raw.read(size)))
    with labels.open() as rows, (HERE / "doom.csv").open("w") as out:
        print("frame,ammo,health,armor", file=out)
        for at, row in enumerate(list(csv.DictReader(rows))[FIRST : FIRST + COUNT]):
            print(at, row["ammo"], row["health"], row["armor"], sep=",", file=out)
    lumps = dict(lumps_of(wad.read_bytes()))
    digits = [digit_of(lumps[f"STTNUM{digit}"]) for digit in range(10)]
    width, height = struct.unpack("<hh", lumps["STTNUM0"][:4])
    rows = []
    for palette in (lumps["PLAYPAL"][at : at + 768] for at in range(0, 14 * 768, 768)):
        for y in range(height):
            places = [(digit, x) for digit in digits for x in range(width)]
            rows.append(b"".join(color_of(palette, d[x, y]) if (x, y) in d else bytes(4) for d, x in places))
    (HERE / "digits.png").write_bytes(png(10 * width, len(rows), 6, rows))


main()
