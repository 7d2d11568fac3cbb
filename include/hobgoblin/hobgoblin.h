// hobgoblin/hobgoblin.h: everything.
// Generated; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_HOBGOBLIN_H
#define HOBGOBLIN_HOBGOBLIN_H

#include "base.h"
#include "executor.h"
#include "balance.h"
#include "knapsack.h"
#include "profile.h"
#include "goblin.h"
#include "fingerprint.h"
#include "store.h"
#include "program_cache.h"
#include "pipeline.h"
#include "graph.h"
#include "perception.h"

#endif  // HOBGOBLIN_HOBGOBLIN_H
