// The functions that take a goblin, each as a call with valid arguments, for tests of rules that all of them follow.
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

/// The calls that change a goblin.
///
/// `setting` has at least two options, and its goblin has decided.
std::vector<Call> exclusive_calls(hob_setting_id setting);

/// The calls that only read a goblin and return a result.
std::vector<Call> const_calls(hob_setting_id setting);

/// Notes every call whose result is not `expected`.
void expect_all(const std::vector<Call>& calls, hob_goblin* goblin, hob_result expected);

}  // namespace support
