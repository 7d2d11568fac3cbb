// Types of the generated table of the C API (tests/common/api_table.rs writes it). MIT OR Apache-2.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include <hobgoblin/hobgoblin.h>

// Tests pass enums with invalid numbers on purpose.
#if defined(__clang__) || defined(__GNUC__)
#define API_ANY_ENUM __attribute__((no_sanitize("undefined")))
#else
#define API_ANY_ENUM
#endif

namespace api {

class World;

template <class T>
struct Of {};

/// The kind of a parameter or field.
enum class Kind : uint8_t {
    handle, handle_out, structure, numbers, memory, user_data, callback, string, id, enumeration, integer, real, embedded
};

/// The meaning of an integer.
enum class Role : uint8_t { none, stride, count, capacity, size };

/// Condition under which a pointer may be NULL.
///
/// `WhenEmpty`: if its size is 0. `Protocol`, `WhenSized`: the buffer and the size of the two-call protocol, not both.
enum class Null : uint8_t { Never, WhenEmpty, Protocol, WhenSized, Allowed };

/// Threads that may call a function.
///
/// `any`: any thread, any time. `alone`: the function's doc has a rule of its own.
enum class Threads : uint8_t { any, shared, exclusive, alone };

enum class Returns : uint8_t { result, nothing, text, real, number };

/// One argument of any type.
struct Arg {
    alignas(16) unsigned char bytes[16] = {};

    template <class T>
    API_ANY_ENUM T as() const {
        static_assert(sizeof(T) <= sizeof(bytes), "an argument larger than 16 bytes: make api::Arg larger");
        T value;
        std::memcpy(static_cast<void*>(&value), bytes, sizeof value);
        return value;
    }
    template <class T>
    void set(T value) {
        static_assert(sizeof(T) <= sizeof(bytes), "an argument larger than 16 bytes: make api::Arg larger");
        std::memset(bytes, 0, sizeof bytes);
        std::memcpy(bytes, static_cast<const void*>(&value), sizeof value);
    }
};

/// The result of a function: a number or a text.
struct Answer {
    uint64_t number = 0;
    const char* text = nullptr;
    hob_result result() const { return static_cast<hob_result>(number); }
};

struct Enum {
    const char* name;
    const int64_t* values;
    size_t count;
    /// First number that is free for the host. -1: no such range.
    int64_t open_from;
};

struct Field {
    const char* name;
    size_t offset, size, count;
    Kind kind;
    int index;
    Role role;
};

struct Struct {
    const char* name;
    size_t size;
    bool is_versioned, is_id, keeps_state;
    const Field* fields;
    size_t field_count;
    hob_result (*init)(void* at, uint32_t size);
    /// Fills an initialised struct with valid values. NULL: only the library writes the struct.
    void (*fill)(World& world, void* at);
    /// Releases the library's data in the struct.
    void (*done)(World& world, void* at);
};

struct Handle {
    const char* name;
    /// Whether any function except destroy takes it non-const.
    bool has_exclusive_calls;
    void (*destroy)(void* at);
    const char* (*last_error)(const void* at);
    void* (*make)(World& world);
    bool (*poison)(World& world, void* at);
    bool (*inside)(World& world, void* at, void (*run)(void*), void* data);
};

struct Param {
    const char* name;
    /// The type without const and pointer asterisks.
    const char* type;
    Kind kind;
    /// Index in enums, structs or handles. -1: not in these tables.
    int index;
    bool is_const;
    Null null;
    /// Bytes of the value. For a pointer: bytes of its target.
    size_t size;
    Role role;
    /// Index of the parameter whose length this is. -1: not a length.
    int of;
    /// A function that does nothing.
    void (*callback)();
};

struct Function {
    const char* name;
    /// Header and line.
    const char* at;
    Threads threads;
    Returns returns;
    const Param* params;
    size_t count;
    Answer (*call)(const Arg* args);
};

template <class Function, size_t Number>
struct ArgumentOf;
template <class Result, class... Args, size_t Number>
struct ArgumentOf<Result (*)(Args...), Number> {
    using type = std::tuple_element_t<Number, std::tuple<Args...>>;
};
template <class Function, size_t Number>
using Argument = typename ArgumentOf<Function, Number>::type;

/// The target type of a pointer parameter, or the type of its value.
///
/// A byte if that type has no size.
template <class T>
struct PointeeOf {
    using type = T;
};
template <class T>
struct PointeeOf<T*> {
    using type = std::conditional_t<std::is_void<T>::value || std::is_function<T>::value, char, T>;
};
template <class T, class = void>
struct Sized {
    using type = char;
};
template <class T>
struct Sized<T, std::void_t<decltype(sizeof(T))>> {
    using type = T;
};
template <class T>
using Pointee = typename Sized<typename PointeeOf<T>::type>::type;

template <class T>
struct Nothing;
template <class Result, class... Args>
struct Nothing<Result (*)(Args...)> {
    static Result call(Args...) { return Result(); }
};

/// A callback of this type that does nothing and returns 0.
template <class T>
void (*nothing())() {
    return reinterpret_cast<void (*)()>(&Nothing<T>::call);
}

template <class Result, class... Args, size_t... Number>
Answer call(Result (*function)(Args...), const Arg* args, std::index_sequence<Number...>) {
    Answer answer;
    (void)args;
    if constexpr (std::is_void<Result>::value) {
        function(args[Number].template as<Args>()...);
    } else {
        const Result result = function(args[Number].template as<Args>()...);
        if constexpr (std::is_pointer<Result>::value) {
            answer.text = result;
        } else if constexpr (std::is_floating_point<Result>::value) {
            std::memcpy(&answer.number, &result, sizeof result);
        } else {
            answer.number = static_cast<uint64_t>(result);
        }
    }
    return answer;
}

/// Calls a function with arguments of any type.
template <class Result, class... Args>
Answer call(Result (*function)(Args...), const Arg* args) {
    return call(function, args, std::index_sequence_for<Args...>());
}

}  // namespace api
