// hobgoblin/hobgoblin.hpp: the C API as C++17. Header only, by hand. MIT OR Apache-2.0.
//
// Owners are move-only and destroy what they own; capi() gives the C handle for whatever is not wrapped here.
// A failure throws hob::Error. Without exceptions (-fno-exceptions, or HOB_NO_EXCEPTIONS defined) every function that
// can fail returns hob::Result<T> instead of T, and owners are made by create() instead of a constructor.
// Callbacks may be any callable. One that throws does not harm the library: the exception is held until the C call has
// returned and is thrown on from there.
//
// One file for each topic; each may be included by itself.

#ifndef HOBGOBLIN_HOBGOBLIN_HPP
#define HOBGOBLIN_HOBGOBLIN_HPP

#include "executor.hpp"
#include "fingerprint.hpp"
#include "goblin.hpp"
#include "hobgoblin.h"
#include "profile.hpp"
#include "program_cache.hpp"
#include "store.hpp"

#endif  // HOBGOBLIN_HOBGOBLIN_HPP
