#!/usr/bin/env python3
"""Golden names and strikes, made without the library: BLAKE3 written here from its specification, SHA-1 from Python.

    tools/check_fingerprints.py          prints what docs/formats.md and the tests have
    tools/check_fingerprints.py --check  also fails unless docs/formats.md and the tests have every one of them
"""
import hashlib
import struct
import sys
from pathlib import Path

IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
CHUNK_START, CHUNK_END, PARENT, ROOT, CONTEXT, MATERIAL = 1, 2, 4, 8, 32, 64


def rotated(word, by):
    return (word >> by | word << (32 - by)) & 0xFFFFFFFF


def mix(state, a, b, c, d, first, second):
    for word, (by_d, by_b) in ((first, (16, 12)), (second, (8, 7))):
        state[a] = (state[a] + state[b] + word) & 0xFFFFFFFF
        state[d] = rotated(state[d] ^ state[a], by_d)
        state[c] = (state[c] + state[d]) & 0xFFFFFFFF
        state[b] = rotated(state[b] ^ state[c], by_b)


def compress(key, block, counter, length, flags):
    words = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    state = key[:] + IV[:4] + [counter & 0xFFFFFFFF, counter >> 32, length, flags]
    for _ in range(7):
        for n, (a, b, c, d) in enumerate(((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))):
            mix(state, a, b, c, d, words[2 * n], words[2 * n + 1])
        for n, (a, b, c, d) in enumerate(((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))):
            mix(state, a, b, c, d, words[8 + 2 * n], words[9 + 2 * n])
        words = [words[at] for at in PERMUTATION]
    return [state[n] ^ state[n + 8] for n in range(8)]


def chunk(key, data, counter, flags):
    """What is left to compress of a chunk of at most 1024 bytes."""
    blocks = [data[at : at + 64] for at in range(0, len(data), 64)] or [b""]
    value = key
    for n, block in enumerate(blocks):
        now = flags | (CHUNK_START if n == 0 else 0) | (CHUNK_END if n == len(blocks) - 1 else 0)
        if n == len(blocks) - 1:
            return value, block, counter, len(block), now
        value = compress(value, block, counter, 64, now)


def subtree(key, data, counter, flags):
    if len(data) <= 1024:
        return chunk(key, data, counter, flags)
    left = 1024
    while left * 2 < len(data):
        left *= 2
    halves = (subtree(key, data[:left], counter, flags), subtree(key, data[left:], counter + left // 1024, flags))
    return key, b"".join(struct.pack("<8I", *compress(*half)) for half in halves), 0, 64, flags | PARENT


def blake3(data, key=IV, flags=0):
    *rest, last = subtree(key[:], data, 0, flags)
    return struct.pack("<8I", *compress(*rest, last | ROOT))


def derived(context, data):
    key = list(struct.unpack("<8I", blake3(context.encode(), IV, CONTEXT)))
    return blake3(data, key, MATERIAL)


def name(context, parts):
    return derived(context, b"".join(struct.pack("<IIQ", kind, index, len(data)) + blake3(data) for kind, index, data in parts))


def framed(data):
    return struct.pack("<Q", len(data)) + data


def sha1(data):
    return hashlib.sha1(data).digest()


VERTEX = b"attribute vec4 a;void main(){gl_Position=a;}"
FRAGMENT = b"void main(){gl_FragColor=vec4(1.0);}"
MAP = {b"uv": 1, b"position": 0}
LONG = bytes(n % 251 for n in range(5000))


def golden():
    bindings = sorted(MAP.items())
    attributes = b"".join(framed(text) + struct.pack("<I", at) for text, at in bindings)
    feedback = struct.pack("<I", 0x8C8C) + framed(b"out_position") + framed(b"out_normal")
    stages = [(1, 0, VERTEX), (1, 4, FRAGMENT)]
    program, environment = "hobgoblin program 1", "hobgoblin environment 1"
    yield "bytes, none", blake3(b"")
    yield "bytes, 5000", blake3(LONG)
    yield "shader, the fragment stage", name("hobgoblin shader 1", stages[1:])
    yield "program, two stages", name(program, stages)
    yield "program, everything", name(
        program, stages + [(2, 0, attributes), (3, 0, b"FOG 1\n"), (4, 0, feedback), (5, 0, b"\x01")])
    yield "program, a vertex stage of 5000 bytes", name(program, [(1, 0, LONG)])
    map_bytes = b"".join(text + struct.pack(">I", at) for text, at in bindings)
    yield "SHA-1, two stages", sha1(sha1(VERTEX) + sha1(FRAGMENT)) + bytes(12)
    yield "SHA-1, with attributes", sha1(sha1(VERTEX) + sha1(FRAGMENT) + map_bytes) + bytes(12)
    yield "environment, nothing known", struct.pack(">Q", struct.unpack("<Q", name(environment, [])[:8])[0])
    yield "environment, 8-byte pointers alone", struct.pack(">Q", struct.unpack("<Q", name(environment, [
        (4, 0, struct.pack("<I", 8))])[:8])[0])
    yield "environment, everything known", struct.pack(">Q", struct.unpack("<Q", name(environment, [
        (1, 0, struct.pack("<I", 3)), (2, 0, struct.pack("<I", 0x10005)), (3, 0, b"\x01\0\0\0"),
        (4, 0, struct.pack("<I", 8)), (5, 0, struct.pack("<Q", 0x5000001)), (6, 0, bytes(range(16))),
        (7, 0, bytes(range(16, 32))), (8, 0, b"Mesa"), (9, 0, b"llvmpipe"), (10, 0, b"25.0.7"), (11, 0, b"build 7"),
    ])[:8])[0])


def strikes():
    """The strikes file that docs/formats.md has as its example."""
    magic = b"HOBQSTRK"

    def sealed(record):
        return record + blake3(magic + record)[:8]

    def strike(environment, key, incident, when):
        return sealed(struct.pack("<Q", environment) + bytes([key]) * 32 + struct.pack("<QQ", incident, when))

    header = sealed(magic + struct.pack("<IIQ", 1, 64, 0) + bytes(32))
    now = 1_700_000_000
    return header + strike(7, 0x0A, 0x1234, now) + strike(7, 0x0A, 0x5678, now) + strike(9, 0x0B, 0x1234, 0)


def material():
    """What a program was made from, as docs/formats.md has it: a long source and two texts."""
    def part(label, data):
        shown = data if len(data) <= 60 else b""
        return bytes([len(label), len(shown)]) + struct.pack("<Q", len(data)) + blake3(data)[:8] + label + shown

    return part(b"vertex stage", LONG) + part(b"defines", b"FOG 1") + part(b"driver", b"25.0.7")


def dump(data):
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        yield f"{at:04x}  {row.hex(' ')}  {text}"


def main():
    root = Path(__file__).resolve().parent.parent
    held = [root / "docs/formats.md", root / "src/fingerprint/tests.rs"]
    missing = 0
    for what, digest in golden():
        print(f"{digest.hex()}  {what}")
        if "--check" in sys.argv:
            for file in held:
                if digest.hex() not in file.read_text():
                    missing += 1
                    print(f"  is not in {file.relative_to(root)}")
    for example in (strikes(), material()):
        example = "\n".join(dump(example))
        print(example)
        if "--check" in sys.argv and example not in held[0].read_text():
            missing += 1
            print("  is not in docs/formats.md")
    # From the published test vectors of BLAKE3, for the hash itself.
    assert blake3(b"").hex() == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    sys.exit(1 if missing else 0)


main()
