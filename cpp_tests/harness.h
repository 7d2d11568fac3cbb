// The harness: a test registers itself. A failed ENSURE ends it; a failed EXPECT is noted, and the test continues. MIT
// OR Apache-2.0.
#pragma once

#include <hobgoblin/hobgoblin.h>

namespace harness {

struct Test {
    const char* name;
    void (*run)();
};

/// Registers a test, for TEST.
class Registration {
public:
    Registration(const char* name, void (*run)());
};

/// Ends the running test as failed.
[[noreturn]] void fail(const char* file, int line, const char* what);

/// Notes a failure and continues.
///
/// For callbacks and threads, which no exception may leave.
void note(const char* file, int line, const char* what) noexcept;

/// Ends the running test because this machine lacks something.
///
/// A failure if HOB_REQUIRE_ALL is set.
[[noreturn]] void skip(const char* reason);

/// Ends the running test because it says nothing about this program.
[[noreturn]] void not_applicable(const char* reason);

/// `count` repetitions, divided by HOB_TEST_SCALE if that is set (under valgrind and sanitizers).
int scaled(int count);

inline void ensure_ok(hob_result result, const char* file, int line, const char* what) {
    if (result != HOB_RESULT_OK) fail(file, line, what);
}

}  // namespace harness

#define HARNESS_JOINED(a, b) a##b
#define HARNESS_JOIN(a, b) HARNESS_JOINED(a, b)

/// A test, named by a statement about the product.
#define TEST(name)                                                                                                    \
    static void HARNESS_JOIN(test_, __LINE__)();                                                                      \
    static const ::harness::Registration HARNESS_JOIN(registration_, __LINE__)(name, &HARNESS_JOIN(test_, __LINE__)); \
    static void HARNESS_JOIN(test_, __LINE__)()

/// The test fails here unless the condition holds.
#define ENSURE(...) ((__VA_ARGS__) ? void() : ::harness::fail(__FILE__, __LINE__, #__VA_ARGS__))

/// The test fails when it ends unless the condition holds.
#define EXPECT(...) ((__VA_ARGS__) ? void() : ::harness::note(__FILE__, __LINE__, #__VA_ARGS__))

/// The test fails here unless the call returns HOB_RESULT_OK.
#define ENSURE_OK(...) ::harness::ensure_ok((__VA_ARGS__), __FILE__, __LINE__, #__VA_ARGS__)
