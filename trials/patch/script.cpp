#include "script.h"

namespace patch {

namespace {

struct Edit {
    int part; ///< It is made before the first frame of this part.
    const char* text;
    void (*make)(Patch& patch);
};

const Edit edits[] = {
    {1, "the user turns detail on: condition 1 holds", [](Patch& patch) { patch.set("detail", 1); }},
    {3, "insert bloom between composite and picture", [](Patch& patch) { patch.insert_bloom(); }},
    {4, "the user switches from ribbons to moons", [](Patch& patch) { patch.set("scene", 1); }},
    {5, "rewire tint from hue to wander", [](Patch& patch) { patch.rewire("wander", "tint", 0); }},
    {6, "the user switches back to ribbons", [](Patch& patch) { patch.set("scene", 0); }},
    {7, "insert mirror between switch and composite", [](Patch& patch) { patch.insert_mirror(); }},
    {8, "the user sets hue, which tint does not read", [](Patch& patch) { patch.set("hue", 0.2); }},
    {9, "rewire tint back to hue",
     [](Patch& patch) { patch.rewire("hue", "tint", 0); }},
    {9, "remove mirror, and rewire composite to switch", [](Patch& patch) {
         patch.remove("mirror");
         patch.rewire("switch", "composite", 1);
     }},
};

} // namespace

std::vector<std::string> edit(Patch& patch, int frame, int frames) {
    std::vector<std::string> lines;
    for (const Edit& edit : edits) {
        if (first_frame_of(edit.part, frames) != frame) continue;
        edit.make(patch);
        lines.push_back(edit.text);
    }
    if (first_frame_of(2, frames) == frame) {
        const auto refused = patch.graph().try_connect(patch.id("composite"), 0, patch.id("palette"), 1);
        if (!refused) lines.push_back(std::string("refused: ") + refused.message());
    }
    return lines;
}

} // namespace patch
