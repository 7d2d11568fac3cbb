// Compiled, never run: all headers after hostile_macros.h, and the expansions of their macros.
#include "hostile_macros.h"

#include <hobgoblin/hobgoblin.h>
#include <hobgoblin/hobgoblin.hpp>
#include <hobgoblin/hobgoblin_skia.hpp>

hob_str uses_macros(hob_goblin_desc* goblin, hob_setting_desc* setting, hob_decision* decision);

hob_str uses_macros(hob_goblin_desc* goblin, hob_setting_desc* setting, hob_decision* decision) {
    *goblin = HOB_GOBLIN_DESC_INIT;
    *setting = HOB_SETTING_DESC_INIT;
    *decision = HOB_DECISION_INIT;
    if (HOB_VERSION != HOB_MAKE_VERSION(HOB_VERSION_MAJOR, HOB_VERSION_MINOR, HOB_VERSION_PATCH)) return {nullptr, 0};
    return HOB_STR("shadows");
}
