// The functions that take a goblin, each as a call with valid arguments: for tests of what holds of all of them.
// MIT OR Apache-2.0.
#pragma once

#include <functional>
#include <vector>

#include "support.h"

namespace support {

struct Call {
    const char* name;
    std::function<hob_result(hob_goblin*)> make;
};

/// Those that change it. `setting` is one with two options at least, of a goblin that has decided.
std::vector<Call> exclusive_calls(hob_setting_id setting);

/// Those that only look at it and return a result.
std::vector<Call> const_calls(hob_setting_id setting);

/// Note every call whose result is not `expected`.
void expect_all(const std::vector<Call>& calls, hob_goblin* goblin, hob_result expected);

}  // namespace support
