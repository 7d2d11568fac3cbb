// hobgoblin/base.hpp: results, failures and exceptions. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_BASE_HPP
#define HOBGOBLIN_BASE_HPP

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base.h"

// Modules with and without exceptions may be linked together: what differs has different names.
#if !defined(HOB_NO_EXCEPTIONS) && (defined(__cpp_exceptions) || defined(_CPPUNWIND))
#define HOB_EXCEPTIONS 1
#define HOB_NAMESPACE_BEGIN namespace hob { inline namespace with_exceptions {
#include <exception>
#include <stdexcept>
#else
#define HOB_EXCEPTIONS 0
#define HOB_NAMESPACE_BEGIN namespace hob { inline namespace without_exceptions {
#endif
#define HOB_NAMESPACE_END } }

HOB_NAMESPACE_BEGIN

/// A result code and its sentence.
struct Failure {
    hob_result code = HOB_RESULT_OK;
    std::string sentence;
};

/// A value, or why there is none.
template <class T>
class Result {
public:
    Result(T value) : value_(std::make_unique<T>(std::move(value))) {}
    Result(Failure failure) : failure_(std::move(failure)) {}

    explicit operator bool() const noexcept { return value_ != nullptr; }
    /// Only if there is a value.
    T& operator*() noexcept { return *value_; }
    T* operator->() noexcept { return value_.get(); }
    const Failure& failure() const noexcept { return failure_; }

private:
    std::unique_ptr<T> value_;
    Failure failure_;
};

/// It worked, or why not.
template <>
class Result<void> {
public:
    Result() = default;
    Result(Failure failure) : failure_(std::move(failure)) {}

    explicit operator bool() const noexcept { return failure_.code == HOB_RESULT_OK; }
    const Failure& failure() const noexcept { return failure_; }

private:
    Failure failure_;
};

#if HOB_EXCEPTIONS
/// What a failed call throws; what() is the sentence.
class Error : public std::runtime_error {
public:
    explicit Error(Failure failure) : std::runtime_error(failure.sentence), code_(failure.code) {}
    hob_result code() const noexcept { return code_; }

private:
    hob_result code_;
};

template <class T>
using Outcome = T;
#else
template <class T>
using Outcome = Result<T>;
#endif

namespace detail {

inline Failure last_failure(hob_result code) { return Failure{code, hob_last_error()}; }

/// Throw, or return the failure.
template <class T>
Outcome<T> fail(hob_result code) {
#if HOB_EXCEPTIONS
    throw Error(last_failure(code));
#else
    return Outcome<T>(last_failure(code));
#endif
}

/// Throw, or return, that an argument makes no sense: for what the library cannot see.
template <class T>
Outcome<T> refuse(const char* sentence) {
    Failure failure{HOB_RESULT_INVALID_ARGUMENT, sentence};
#if HOB_EXCEPTIONS
    throw Error(std::move(failure));
#else
    return Outcome<T>(std::move(failure));
#endif
}

inline Outcome<void> check(hob_result code) {
    if (code != HOB_RESULT_OK) return fail<void>(code);
    return Outcome<void>();
}

inline hob_str text(std::string_view view) noexcept { return hob_str_of(view.data(), view.size()); }

/// Where a callback's exception waits until the C call has returned.
struct Pending {
#if HOB_EXCEPTIONS
    std::exception_ptr exception;
    /// Callbacks that have not returned: what they throw is for the call outside all of them.
    int depth = 0;

    template <class Call>
    void guard(Call&& call) noexcept {
        ++depth;
        try {
            call();
        } catch (...) {
            if (!exception) exception = std::current_exception();
        }
        --depth;
    }
    bool waits() const noexcept { return exception != nullptr; }
    void rethrow() {
        if (exception && depth == 0) std::rethrow_exception(std::exchange(exception, nullptr));
    }
#else
    template <class Call>
    void guard(Call&& call) noexcept {
        call();
    }
    bool waits() const noexcept { return false; }
    void rethrow() {}
#endif
};

/// Where the first exception of several threads waits until it can be thrown on.
class Thrown {
public:
#if HOB_EXCEPTIONS
    template <class Call>
    void guard(Call&& call) noexcept {
        try {
            call();
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (!exception_) exception_ = std::current_exception();
        }
    }
    bool waits() const noexcept {
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
    void guard(Call&& call) noexcept {
        call();
    }
    bool waits() const noexcept { return false; }
    void rethrow() {}
#endif
};

}  // namespace detail

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_BASE_HPP
