// hobgoblin/hobgoblin.hpp: the C API as C++17. Header only, by hand. MIT OR Apache-2.0.
//
//     hob::GoblinOptions options;
//     options.gpu_ms = 16.6;
//     hob::Goblin goblin(options);                          // throws hob::Error
//     hob::Setting shadows = goblin.add("shadows", {0, 4, 6});
//     const hob::Decision frame = goblin.update();             // throws hob::Error
//     if (auto updated = goblin.try_update()) use(*updated);  // returns hob::Result<hob::Decision>
//     else log(updated.message());
//
// Each call that can fail has two forms. try_x() always exists and returns a hob::Result, which allocates nothing.
// x() exists only with exceptions and throws hob::Error. A constructor throws, and try_create() is its other form.
// Code that uses only try_ forms compiles with and without exceptions (-fno-exceptions or HOB_NO_EXCEPTIONS).
//
// Owners are move-only and destroy their handle. capi() returns the C handle for functions that are not wrapped.
// A callback can be any callable. If it throws, the call that ran it rethrows the exception after the C function has
// returned: both x() and try_x() do.
//
// One file for each topic; each can be included alone.

#ifndef HOBGOBLIN_HOBGOBLIN_HPP
#define HOBGOBLIN_HOBGOBLIN_HPP

#include "balance.hpp"
#include "executor.hpp"
#include "fingerprint.hpp"
#include "goblin.hpp"
#include "graph.hpp"
#include "hobgoblin.h"
#include "hooks.hpp"
#include "knapsack.hpp"
#include "perception.hpp"
#include "pipeline.hpp"
#include "profile.hpp"
#include "program_cache.hpp"
#include "store.hpp"

#endif  // HOBGOBLIN_HOBGOBLIN_HPP
