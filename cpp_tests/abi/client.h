// Checks and guarded structs for a client that was compiled with other headers than its library. MIT OR Apache-2.0.
#pragma once

#include <hobgoblin/hobgoblin.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Made by tests/abi: HOB_VERSIONED_STRUCTS(X), X(name) for each versioned struct of these headers that has an _init.
#include "versioned_structs.h"

#define CHECK(condition) ((condition) ? (void)0 : abi::fail(__FILE__, __LINE__, #condition))
#define CHECK_OK(call) abi::check_ok((call), __FILE__, __LINE__, #call)

namespace abi {

[[noreturn]] inline void fail(const char* file, int line, const char* what) {
    std::fprintf(stderr, "%s:%d: %s (last error: %s)\n", file, line, what, hob_last_error());
    std::exit(1);
}

inline void check_ok(hob_result result, const char* file, int line, const char* what) {
    if (result != HOB_RESULT_OK) fail(file, line, what);
}

#define HOB_INIT_OF(name) \
    inline hob_result init(name* value, uint32_t size) { return name##_init(value, size); }
HOB_VERSIONED_STRUCTS(HOB_INIT_OF)
#undef HOB_INIT_OF

/// A versioned struct with defaults, exactly as large as its header says, in front of bytes that nobody may touch.
template <class Struct>
class Guarded {
public:
    Guarded() {
        std::memset(&value_, canary, sizeof value_);
        std::memset(beyond_, canary, sizeof beyond_);
        CHECK_OK(init(&value_, sizeof value_));
        check();
    }
    Guarded(const Guarded&) = delete;
    ~Guarded() { check(); }

    Struct* operator->() { return &value_; }
    Struct* get() { return &value_; }

    /// The struct still has its size, and nothing was written behind it.
    void check() const {
        CHECK(value_.struct_size == sizeof(Struct));
        for (const unsigned char byte : beyond_) CHECK(byte == canary);
    }

private:
    static constexpr unsigned char canary = 0xa5;

    Struct value_;
    unsigned char beyond_[64];
};

inline hob_str text(const char* literal) {
    return hob_str_of(literal, std::strlen(literal));
}

void drive_balance();
void drive_goblin();
void drive_program_cache();
void drive_pipeline();
void drive_graph();
void drive_perception();

}  // namespace abi
