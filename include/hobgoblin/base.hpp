// hobgoblin/base.hpp: results, failures and exceptions. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_BASE_HPP
#define HOBGOBLIN_BASE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base.h"

// Define HOB_NO_EXCEPTIONS to leave out the throwing functions where the compiler has exceptions.
// Modules with and without exceptions can be linked together: the inline namespace gives their types different names.
#if !defined(HOB_NO_EXCEPTIONS) && (defined(__cpp_exceptions) || defined(_CPPUNWIND))
/// Whether the throwing functions exist: 1 or 0.
#define HOB_EXCEPTIONS 1
#define HOB_NAMESPACE_BEGIN namespace hob { inline namespace with_exceptions {
#include <exception>
#else
#define HOB_EXCEPTIONS 0
#define HOB_NAMESPACE_BEGIN namespace hob { inline namespace without_exceptions {
#endif
#define HOB_NAMESPACE_END } }

HOB_NAMESPACE_BEGIN

/// The version of the library that is linked or loaded, as HOB_MAKE_VERSION.
/// HOB_VERSION is that of the headers.
inline uint32_t library_version() noexcept { return hob_version(); }

/// Whether the library that is linked or loaded works with these headers.
/// Check it once after loading a library.
inline bool is_compatible() noexcept { return hob_abi_version() == HOB_ABI_VERSION; }

/// The name of a result code, such as "HOB_RESULT_OK".
inline const char* result_name(hob_result code) noexcept { return hob_result_name(code); }

/// A result code and its message.
/// The message is stored inside, so a failure allocates nothing.
class Failure {
public:
    /// `message` is copied; bytes beyond the first 511 are dropped.
    Failure(hob_result code, std::string_view message) noexcept
        : code_(code), size_(message.size() < sizeof message_ ? message.size() : sizeof message_ - 1) {
        if (size_ > 0) std::memcpy(message_, message.data(), size_);
        message_[size_] = '\0';
    }
    Failure(const Failure& other) noexcept : Failure(other.code_, {other.message_, other.size_}) {}
    Failure& operator=(const Failure& other) noexcept {
        code_ = other.code_;
        size_ = other.size_;
        std::memmove(message_, other.message_, size_ + 1);
        return *this;
    }
    ~Failure() = default;

    /// The result of the call.
    hob_result code() const noexcept { return code_; }
    /// The error message of the call, with a NUL at its end.
    const char* message() const noexcept { return message_; }

private:
    hob_result code_;
    std::size_t size_;
    char message_[512];  // as long as the longest hob_last_error()
};

#if HOB_EXCEPTIONS
/// The exception of a failed call, with its sentence.
class Error : public std::exception {
public:
    /// Keeps a copy of the failure.
    explicit Error(const Failure& failure) noexcept : failure_(failure) {}
    /// The result of the call.
    hob_result code() const noexcept { return failure_.code(); }
    /// The result and its message.
    const Failure& failure() const noexcept { return failure_; }
    /// The error message of the call.
    const char* what() const noexcept override { return failure_.message(); }

private:
    Failure failure_;
};
#endif

/// A value, or the failure of the call that should have returned it.
/// Stored inline: a Result allocates nothing.
template <class T>
class [[nodiscard]] Result {
public:
    /// A success.
    Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>)
        : state_(std::in_place_index<0>, std::move(value)) {}
    /// A failure.
    Result(const Failure& failure) noexcept : state_(std::in_place_index<1>, failure) {}

    /// Whether the call succeeded. Of a Result<bool> this is not the value.
    explicit operator bool() const noexcept { return state_.index() == 0; }
    /// The value. Undefined behaviour after a failure.
    T& operator*() & noexcept { return *std::get_if<0>(&state_); }
    /// The value. Undefined behaviour after a failure.
    const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
    /// The value. Undefined behaviour after a failure.
    T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
    /// Access to the value. Undefined behaviour after a failure.
    T* operator->() noexcept { return std::get_if<0>(&state_); }
    /// Access to the value. Undefined behaviour after a failure.
    const T* operator->() const noexcept { return std::get_if<0>(&state_); }
    /// The value, or `other` after a failure.
    T value_or(T other) && { return *this ? *std::move(*this) : std::move(other); }

    /// HOB_RESULT_OK after success.
    hob_result code() const noexcept { return *this ? HOB_RESULT_OK : std::get_if<1>(&state_)->code(); }
    /// The error message. Empty after success.
    const char* message() const noexcept { return *this ? "" : std::get_if<1>(&state_)->message(); }
    /// The failure. Undefined behaviour after success.
    const Failure& failure() const noexcept { return *std::get_if<1>(&state_); }

#if HOB_EXCEPTIONS
    /// The value. Throws Error after a failure.
    T value() && {
        if (!*this) throw Error(failure());
        return *std::move(*this);
    }
#endif

private:
    std::variant<T, Failure> state_;
};

/// The result of a call that returns no value.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() noexcept = default;
    /// A failure.
    Result(const Failure& failure) noexcept : failure_(failure) {}

    /// Whether the call succeeded.
    explicit operator bool() const noexcept { return !failure_.has_value(); }
    /// HOB_RESULT_OK after success.
    hob_result code() const noexcept { return failure_ ? failure_->code() : HOB_RESULT_OK; }
    /// The error message. Empty after success.
    const char* message() const noexcept { return failure_ ? failure_->message() : ""; }
    /// The failure. Undefined behaviour after success.
    const Failure& failure() const noexcept { return *failure_; }

#if HOB_EXCEPTIONS
    /// Throws Error after a failure.
    void value() && {
        if (failure_) throw Error(*failure_);
    }
#endif

private:
    std::optional<Failure> failure_;
};

/// A read-only view of values side by side, for parameters.
/// It takes a braced list, a std::vector, a std::array or a C array, and copies nothing.
template <class T>
class ArrayView {
public:
    ArrayView() noexcept = default;
    /// A view of a braced list. Only for an argument of a call.
    ArrayView(std::initializer_list<T> list) noexcept {
        data_ = list.begin();
        size_ = list.size();
    }
    /// A view of a container with contiguous values.
    template <class Container,
              class = std::enable_if_t<std::is_same_v<decltype(std::data(std::declval<const Container&>())), const T*>>>
    ArrayView(const Container& container) noexcept : data_(std::data(container)), size_(std::size(container)) {}
    /// A view of `size` values at `data`.
    static ArrayView of(const T* data, std::size_t size) noexcept {
        ArrayView view;
        view.data_ = data;
        view.size_ = size;
        return view;
    }

    /// The first value. NULL: an empty view may have none.
    const T* data() const noexcept { return data_; }
    /// The number of values.
    std::size_t size() const noexcept { return size_; }
    /// Whether there are no values.
    bool empty() const noexcept { return size_ == 0; }
    /// The first value.
    const T* begin() const noexcept { return data_; }
    /// Behind the last value.
    const T* end() const noexcept { return data_ + size_; }
    /// The size for a C parameter of 32 bits. A size that does not fit becomes UINT32_MAX, which the library refuses.
    uint32_t count() const noexcept { return size_ < UINT32_MAX ? static_cast<uint32_t>(size_) : UINT32_MAX; }

private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail {

/// The failure of the C call that this thread made last.
inline Failure last_failure(hob_result code) noexcept { return Failure(code, hob_last_error()); }

/// The failure of a call with an argument that the library cannot check.
inline Failure invalid(const char* message) noexcept { return Failure(HOB_RESULT_INVALID_ARGUMENT, message); }

/// The result of a C call that returns no value.
inline Result<void> result_of(hob_result code) noexcept {
    if (code != HOB_RESULT_OK) return last_failure(code);
    return {};
}

/// The result of a C call that has filled in `value`.
template <class T>
Result<T> result_of(hob_result code, T value) {
    if (code != HOB_RESULT_OK) return last_failure(code);
    return Result<T>(std::move(value));
}

/// The result of `call(&value)`, a C call that fills in its argument.
template <class T, class Call>
Result<T> filled_by(T value, const Call& call) {
    const hob_result code = call(&value);
    return result_of(code, std::move(value));
}

/// The result of a C call with the two-call protocol: `call(buffer, capacity, &size)`.
template <class Container, class Call>
Result<Container> read_all(const Call& call) {
    Container buffer;
    for (;;) {  // the content may grow between the two calls
        std::size_t size = 0;
        hob_result code = call(nullptr, 0, &size);
        buffer.resize(size);
        if (code == HOB_RESULT_OK && size > 0) code = call(buffer.data(), size, &size);
        if (code == HOB_RESULT_BUFFER_TOO_SMALL) continue;
        if (code != HOB_RESULT_OK) return last_failure(code);
        buffer.resize(size);
        return Result<Container>(std::move(buffer));
    }
}

/// An empty struct that the library fills in.
/// Unlike its _INIT macro this calls nothing.
template <class T>
T sized() noexcept {
    T value = {};
    value.struct_size = static_cast<uint32_t>(sizeof value);
    return value;
}

inline hob_str text(std::string_view view) noexcept { return hob_str_of(view.data(), view.size()); }
inline std::string_view view(hob_str text) noexcept { return {text.data, text.len}; }

/// Holds the exception of a callback until the C call has returned.
class Pending {
public:
#if HOB_EXCEPTIONS
    /// Runs a callback. Keeps its exception unless one is held already.
    template <class Call>
    void guard(const Call& call) noexcept {
        ++depth_;
        try {
            call();
        } catch (...) {
            if (!exception_) exception_ = std::current_exception();
        }
        --depth_;
    }
    bool has_exception() const noexcept { return exception_ != nullptr; }
    /// Throws the exception, unless a callback further out is still running: its own call then throws.
    void rethrow() {
        if (exception_ && depth_ == 0) std::rethrow_exception(std::exchange(exception_, nullptr));
    }

private:
    std::exception_ptr exception_;
    int depth_ = 0;
#else
    template <class Call>
    void guard(const Call& call) noexcept {
        call();
    }
    bool has_exception() const noexcept { return false; }
    void rethrow() noexcept {}
#endif
};

/// The state of a recording.
template <class Write>
struct Tape {
    Write write;
    std::shared_ptr<Pending> pending;

    static void release(void* user_data) noexcept { delete static_cast<Tape*>(user_data); }
    static void take(void* user_data, const void* data, std::size_t size) noexcept {
        Tape& tape = *static_cast<Tape*>(user_data);
        tape.pending->guard([&] { tape.write(std::string_view(static_cast<const char*>(data), size)); });
    }
};

/// Holds the first exception of several threads.
class SharedPending {
public:
#if HOB_EXCEPTIONS
    /// Runs a callback. Keeps its exception unless one is held already.
    template <class Call>
    void guard(const Call& call) noexcept {
        try {
            call();
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!exception_) exception_ = std::current_exception();
        }
    }
    bool has_exception() const noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        return exception_ != nullptr;
    }
    void rethrow() {
        std::unique_lock<std::mutex> lock(mutex_);
        const auto exception = std::exchange(exception_, nullptr);
        lock.unlock();
        if (exception) std::rethrow_exception(exception);
    }

private:
    mutable std::mutex mutex_;
    std::exception_ptr exception_;
#else
    template <class Call>
    void guard(const Call& call) noexcept {
        call();
    }
    bool has_exception() const noexcept { return false; }
    void rethrow() noexcept {}
#endif
};

}  // namespace detail

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_BASE_HPP
