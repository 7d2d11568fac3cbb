#!/usr/bin/env python3
"""Atari games through the shared library: reads digits of the score, and counts the work with and without reuse.

    cargo build --release && python3 tools/atari.py [--library target/release/libhobgoblin.so] [--frames 1500] [GAME ...]

Needs ale-py and numpy of PyPI; without them it prints the reason and ends with status 0. ale-py brings the games. A digit
of the score is a nibble of the console's memory, which labels each frame. The first 500 frames tell where the digit is on
the screen: its pixels are those that change, and depend on the digit alone. A picture of each digit is cut from the first
frame that shows it. All later frames must be read without an error. Besides, each tile of 8x8 pixels has its mean.
"""
import argparse
import ctypes as c
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TILE = 8
LEARNED = 500
# Digits of the score that change: the address of the byte, and whether the digit is in its high half.
GAMES = {
    "asterix": [(0x5F, 0)],
    "asteroids": [(0x3E, 0)],
    "atlantis2": [(0x21, 0)],
    "boxing": [(0x12, 0)],
    "casino": [(0x15, 1)],
    "phoenix": [(0x48, 0)],
    "pong": [(0x0E, 0)],
    "seaquest": [(0x3A, 1)],
    "space_invaders": [(0x68, 0), (0x66, 1)],
}
ALWAYS, NEVER = 1, 2
MEAN, GLYPHS = 9, 12
COLOR = 4
RGB8, GRAY8 = 6, 7


def struct(name, fields):
    return type(name, (c.Structure,), {"_fields_": fields})


Id = struct("Id", [("index1", c.c_uint32), ("generation", c.c_uint32)])
Rect = struct("Rect", [(name, c.c_uint32) for name in ("x", "y", "width", "height")])
Str = struct("Str", [("data", c.c_char_p), ("len", c.c_size_t)])
Image = struct("Image", [("struct_size", c.c_uint32), ("format", c.c_uint32), ("pixels", c.c_void_p),
                         ("width", c.c_uint32), ("height", c.c_uint32), ("stride", c.c_size_t),
                         ("chroma", c.c_void_p), ("chroma_stride", c.c_size_t)])
Desc = struct("Desc", [("struct_size", c.c_uint32), ("history", c.c_uint32), ("memory_limit", c.c_uint64),
                       ("graft", c.c_uint32), ("prefetch", c.c_uint32), ("compare_order", c.c_uint32),
                       ("prefetch_divisor", c.c_uint32), ("audit_share", c.c_double), ("uses_table", c.c_uint32),
                       ("borrows_frames", c.c_uint32)])
Glyph = struct("Glyph", [("digit", c.c_uint32), ("reserved", c.c_uint32), ("image", c.c_void_p), ("mask", c.c_void_p)])
Operator = struct("Operator", [("struct_size", c.c_uint32), ("kind", c.c_uint32), ("name", Str), ("flags", c.c_uint32),
                               ("channel", c.c_uint32), ("level", c.c_uint32), ("radius", c.c_uint32),
                               ("factor", c.c_uint32), ("max_digits", c.c_uint32), ("image", c.c_void_p),
                               ("limit", c.c_uint64), ("glyphs", c.c_void_p), ("glyph_stride", c.c_size_t),
                               ("glyph_count", c.c_uint32), ("tolerance", c.c_uint32), ("spacing", c.c_uint32),
                               ("correlation", c.c_uint32)])
Step = struct("Step", [("cognition", Id), ("region", Rect), ("parameters", c.c_void_p), ("parameters_size", c.c_size_t),
                       ("tolerance", c.c_uint32), ("reserved", c.c_uint32)])
Pipeline = struct("Pipeline", [("struct_size", c.c_uint32), ("prefetch", c.c_uint32), ("name", Str), ("state", Str),
                               ("inputs", c.c_void_p), ("input_count", c.c_uint32), ("step_count", c.c_uint32),
                               ("steps", c.c_void_p), ("step_stride", c.c_size_t)])
Frame = struct("Frame", [("struct_size", c.c_uint32), ("format", c.c_uint32), ("pixels", c.c_void_p),
                         ("width", c.c_uint32), ("height", c.c_uint32), ("stride", c.c_size_t), ("chroma", c.c_void_p),
                         ("chroma_stride", c.c_size_t), ("dirty", c.c_void_p), ("moves", c.c_void_p),
                         ("dirty_count", c.c_uint32), ("move_count", c.c_uint32), ("trust", c.c_uint32),
                         ("reserved", c.c_uint32)])
Question = struct("Question", [("pipeline", Id), ("frames", c.c_uint32), ("reserved", c.c_uint32)])
Answer = struct("Answer", [("integer", c.c_int64), ("word", c.c_uint64), ("first_frame", c.c_uint64),
                           ("result", c.c_uint32), ("reserved", c.c_uint32)])
Statistics = struct("Statistics", [("struct_size", c.c_uint32), ("is_distrusted", c.c_uint32)]
                    + [(name, c.c_uint64) for name in (
                        "pipelines", "steps", "prefetched", "workers", "frames", "grafted_frames", "queries", "runs",
                        "prefetch_runs", "past_runs", "audit_runs", "findings", "operations", "grafts", "cut_offs", "moves",
                        "same_regions", "changed_regions", "compared_bytes", "copied_bytes", "restarts")]
                    + [("order_shares", c.c_double * 4)]
                    + [(name, c.c_double) for name in ("grafted_ms", "plain_ms", "take_ms", "prefetch_ms", "query_ms")]
                    + [("memory_used", c.c_uint64)])
INITS = {Image: "hob_image_init", Desc: "hob_perception_desc_init", Operator: "hob_operator_desc_init",
         Pipeline: "hob_perception_pipeline_desc_init", Frame: "hob_frame_init",
         Statistics: "hob_perception_statistics_init"}


class Eye:
    """A perception over the C API."""

    def __init__(self, library, graft):
        self.library = library
        library.hob_last_error.restype = c.c_char_p
        self.handle = c.c_void_p()
        desc = self.new(Desc, graft=graft, prefetch=NEVER)
        self.call("create", c.byref(desc), c.byref(self.handle), handle=False)
        self.questions = []

    def check(self, result):
        if result != 0:
            raise RuntimeError(self.library.hob_last_error().decode())

    def call(self, name, *arguments, handle=True):
        first = (self.handle,) if handle else ()
        self.check(getattr(self.library, "hob_perception_" + name)(*first, *arguments))

    def new(self, struct_type, **fields):
        made = struct_type()
        self.check(getattr(self.library, INITS[struct_type])(c.byref(made), c.c_uint32(c.sizeof(made))))
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    def add_operator(self, **fields):
        cognition = Id()
        desc = self.new(Operator, **fields)
        self.call("add_operator", c.byref(desc), c.byref(cognition))
        return cognition

    def image(self, pixels):
        kind = RGB8 if pixels.ndim == 3 else GRAY8
        height, width = pixels.shape[:2]
        return self.new(Image, format=kind, pixels=pixels.ctypes.data, width=width, height=height)

    def add_reader(self, pictures, mask):
        """`pictures` has a picture for each digit that was seen."""
        glyphs = (Glyph * len(pictures))()
        mask_image = self.image(mask)
        images = [self.image(picture) for picture in pictures.values()]
        for glyph, digit, image in zip(glyphs, pictures, images):
            glyph.digit, glyph.image, glyph.mask = digit, c.addressof(image), c.addressof(mask_image)
        return self.add_operator(kind=GLYPHS, flags=COLOR, max_digits=1, glyphs=c.addressof(glyphs),
                                 glyph_stride=c.sizeof(Glyph), glyph_count=len(pictures))

    def add_pipeline(self, cognition, x, y, width, height):
        step = Step(cognition=cognition, region=Rect(x, y, width, height))
        desc = self.new(Pipeline, steps=c.addressof(step), step_stride=c.sizeof(Step), step_count=1)
        pipeline = Id()
        self.call("add_pipeline", c.byref(desc), c.byref(pipeline))
        self.questions.append(pipeline)

    def watch(self, frames):
        """Yields the answers of each frame."""
        count = len(self.questions)
        questions = (Question * count)(*[Question(pipeline, 1, 0) for pipeline in self.questions])
        answers = (Answer * count)()
        got = c.c_size_t()
        for pixels in frames:
            height, width = pixels.shape[:2]
            frame = self.new(Frame, format=RGB8, pixels=pixels.ctypes.data, width=width, height=height)
            self.call("begin_frame", c.byref(frame), None)
            self.call("query_many", questions, c.c_size_t(c.sizeof(Question)), c.c_size_t(count), answers,
                      c.c_size_t(c.sizeof(Answer)), c.c_size_t(count), c.byref(got))
            yield [(answer.result, answer.integer, answer.word) for answer in answers]

    def statistics(self):
        statistics = self.new(Statistics)
        self.call("get_statistics", c.byref(statistics))
        return statistics

    def close(self):
        self.library.hob_perception_destroy(self.handle)


def play(ale_py, np, game, count):
    """Screens of `count` frames, and the console's memory. The player acts at random, with a fixed seed."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setInt("random_seed", 1)
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(str(pathlib.Path(ale_py.__file__).parent / "roms" / f"{game}.bin"))
    actions, random = ale.getMinimalActionSet(), np.random.default_rng(3)
    screens, memories = [], []
    for at in range(count):
        if at % 4 == 0:
            action = actions[random.integers(len(actions))]
        ale.act(action)
        if ale.game_over():
            ale.reset_game()
        screens.append(np.ascontiguousarray(ale.getScreenRGB()))
        memories.append(ale.getRAM().copy())
    return np.array(screens), np.array(memories)


def find_cell(np, screens, digits):
    """Where the first frames show a digit, as rectangle and mask, and how many frames the screen is late."""
    best = None
    for late in range(3):
        seen, shown = digits[: len(digits) - late], screens[late:]
        fits, pictures = np.ones(screens.shape[1:3], bool), []
        for digit in np.unique(seen):
            with_digit = shown[seen == digit]
            fits &= (with_digit == with_digit[0]).all((0, 3))
            pictures.append(with_digit[0])
        varies = (np.array(pictures) != pictures[0]).any((0, 3))
        ys, xs = np.nonzero(fits & varies)
        if len(ys) and (best is None or len(ys) > best[0]):
            top, left, bottom, right = ys.min(), xs.min(), ys.max() + 1, xs.max() + 1
            mask = np.ascontiguousarray(fits[top:bottom, left:right].astype(np.uint8) * 255)
            best = (len(ys), (int(left), int(top), int(right - left), int(bottom - top)), mask, late)
    return best and best[1:]


def cut(np, screens, digits, cell):
    """A picture of each digit from the first frame that shows it, and these frames."""
    (x, y, width, height), _, late = cell
    pictures, frames = {}, set()
    for at in range(late, len(screens)):
        digit = int(digits[at - late])
        if digit not in pictures:
            pictures[digit] = np.ascontiguousarray(screens[at, y : y + height, x : x + width])
            frames.add(at)
    return pictures, frames


def watch_game(library, ale_py, np, game, count):
    screens, memories = play(ale_py, np, game, count)
    _, height, width, _ = screens.shape
    rows, columns = height // TILE, width // TILE
    moved = (screens[1:] != screens[:-1]).any(3)[:, : rows * TILE, : columns * TILE]
    static = 1 - moved.reshape(count - 1, rows, TILE, columns, TILE).any((2, 4)).mean()
    cells = []
    for address, is_high in GAMES[game]:
        digits = memories[:, address] >> (4 if is_high else 0) & 15
        cell = find_cell(np, screens[:LEARNED], digits[:LEARNED])
        if cell:
            cells.append((digits, cell, *cut(np, screens, digits, cell)))
    answers, operations = {}, {}
    for graft in (ALWAYS, NEVER):
        eye = Eye(library, graft)
        for _, (rect, mask, _), pictures, _ in cells:
            eye.add_pipeline(eye.add_reader(pictures, mask), *rect)
        mean = eye.add_operator(kind=MEAN)
        for tile in range(rows * columns):
            eye.add_pipeline(mean, tile % columns * TILE, tile // columns * TILE, TILE, TILE)
        answers[graft] = list(eye.watch(screens))
        operations[graft] = eye.statistics().operations
        eye.close()
    right = labels = 0
    for at, (digits, (_, _, late), _, cut_frames) in enumerate(cells):
        for frame in range(late, count):
            if frame not in cut_frames:
                labels += 1
                right += answers[ALWAYS][frame][at][:2] == (0, int(digits[frame - late]))
    glyphs = sum(len(pictures) for _, _, pictures, _ in cells)
    ratio = operations[NEVER] / operations[ALWAYS]
    is_same = answers[ALWAYS] == answers[NEVER]
    is_good = labels > 0 and right == labels and is_same and (static < 0.97 or ratio >= 10)
    print(f"{game:15} {len(cells):6} {glyphs:7} {right:6}/{labels:<6} {100 * static:7.2f} % {operations[NEVER]:12}"
          f" {operations[ALWAYS]:12} {ratio:7.1f} x  {'yes' if is_same else 'NO':5} {'yes' if is_good else 'NO'}", flush=True)
    return is_good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=str(ROOT / "target/release/libhobgoblin.so"))
    parser.add_argument("--frames", type=int, default=1500)
    parser.add_argument("games", nargs="*", default=list(GAMES), metavar="GAME", help=", ".join(GAMES))
    options = parser.parse_args()
    try:
        import ale_py
        import numpy as np
    except ImportError as why:
        print(f"skipped: {why} (pip install ale-py numpy)")
        return 0
    library = c.CDLL(options.library)
    print(f"{options.frames} frames of each game\n{'game':15} digits pictures  right/labels  static   operations without"
          "  with reuse   fewer  equal good")
    good = [watch_game(library, ale_py, np, game, options.frames) for game in options.games]
    print(f"{sum(good)} of {len(good)} games are read without an error, with at least 10 times fewer operations where 97 %"
          " of the tiles are static")
    return 0 if all(good) else 1


sys.exit(main())
