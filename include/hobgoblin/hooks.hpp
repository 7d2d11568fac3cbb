// hobgoblin/hooks.hpp: the process-wide hooks for log, clock, profiler zones and memory. Part of hobgoblin.hpp.
// MIT OR Apache-2.0.
//
//     const hob::Hook log = hob::set_log_hook([](hob_log_level, std::string_view line) { print(line); });
//     const hob::Hook clock = hob::set_clock_hook([] { return now_in_nanoseconds(); });
//
// A hook takes any callable. An exception that it throws is dropped.
#ifndef HOBGOBLIN_HOOKS_HPP
#define HOBGOBLIN_HOOKS_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "base.hpp"

// One copy for each module. A symbol that modules share would keep a module from being unloaded.
#if defined(__GNUC__) && !defined(_WIN32)
#define HOB_MODULE_LOCAL __attribute__((visibility("hidden")))
#else
#define HOB_MODULE_LOCAL
#endif

HOB_NAMESPACE_BEGIN

namespace detail {

enum class HookKind { log, clock, zone, allocator };

/// A hook that this module has installed.
struct HookSlot {
    void* callable = nullptr;
    void (*destroy)(void*) = nullptr;
    /// Whether its owner is destroyed, but the library still used it then.
    bool is_orphan = false;
};

/// All hooks that this module has installed, by HookKind.
struct HookSlots {
    std::mutex mutex;
    HookSlot by_kind[4];
};

HOB_MODULE_LOCAL inline HookSlots& hook_slots() {
    static HookSlots hooks;
    return hooks;
}

inline hob_result clear_hook(HookKind kind) noexcept {
    switch (kind) {
        case HookKind::log: return hob_set_log_hook(nullptr);
        case HookKind::clock: return hob_set_clock_hook(nullptr);
        case HookKind::zone: return hob_set_zone_hook(nullptr);
        case HookKind::allocator: return hob_set_allocator_hook(nullptr);
    }
    return HOB_RESULT_INVALID_ARGUMENT;
}

/// Runs a callable of a hook.
/// Drops its exception: a hook has no call that could throw it.
template <class Call>
void run_hook(const Call& call) noexcept {
#if HOB_EXCEPTIONS
    try {
        call();
    } catch (...) {
    }
#else
    call();
#endif
}

}  // namespace detail

/// Keeps a hook installed.
/// Its destructor removes the hook, unless another hook of that kind has replaced it.
///
/// For a clock, zone or allocator hook no other call of the library may run while it is installed or removed.
/// Destroy all handles before an allocator hook is removed. If one is alive, the hook stays until another is installed.
class [[nodiscard]] Hook {
public:
    /// No hook.
    Hook() = default;
    Hook(Hook&& other) noexcept
        : kind_(other.kind_), callable_(std::exchange(other.callable_, nullptr)), destroy_(other.destroy_) {}
    Hook& operator=(Hook&& other) noexcept {
        std::swap(kind_, other.kind_);
        std::swap(callable_, other.callable_);
        std::swap(destroy_, other.destroy_);
        return *this;
    }
    ~Hook() { remove(); }

    /// Whether a hook is installed.
    explicit operator bool() const noexcept { return callable_ != nullptr; }
    /// Removes the hook now.
    void remove() noexcept {
        void* const callable = std::exchange(callable_, nullptr);
        if (callable == nullptr) return;
        auto& hooks = detail::hook_slots();
        const std::lock_guard<std::mutex> lock(hooks.mutex);
        detail::HookSlot& slot = hooks.by_kind[static_cast<std::size_t>(kind_)];
        if (slot.callable == callable) {
            slot.is_orphan = detail::clear_hook(kind_) != HOB_RESULT_OK;
            if (slot.is_orphan) return;
            slot = {};
        }
        destroy_(callable);
    }

    /// For the set functions below: installs with `install()` and owns `callable`.
    template <class Callable, class Install>
    static Result<Hook> try_install(detail::HookKind kind, std::unique_ptr<Callable> callable, const Install& install) {
        auto& hooks = detail::hook_slots();
        const std::lock_guard<std::mutex> lock(hooks.mutex);
        const hob_result code = install();
        if (code != HOB_RESULT_OK) return detail::last_failure(code);
        detail::HookSlot& slot = hooks.by_kind[static_cast<std::size_t>(kind)];
        if (slot.is_orphan) slot.destroy(slot.callable);
        Hook hook;
        hook.kind_ = kind;
        hook.destroy_ = [](void* old) { delete static_cast<Callable*>(old); };
        hook.callable_ = callable.release();
        slot = {hook.callable_, hook.destroy_, false};
        return Result<Hook>(std::move(hook));
    }

private:
    detail::HookKind kind_ = detail::HookKind::log;
    void* callable_ = nullptr;
    void (*destroy_)(void*) = nullptr;
};

/// Installs `write(hob_log_level level, std::string_view line)` for log lines; see hob_log_hook.
/// Lines below `minimum_level` are dropped.
template <class Write>
Result<Hook> try_set_log_hook(Write write, hob_log_level minimum_level = HOB_LOG_LEVEL_INFO) {
    auto callable = std::make_unique<Write>(std::move(write));
    hob_log_hook hook = HOB_LOG_HOOK_INIT;
    hook.minimum_level = minimum_level;
    hook.user_data = callable.get();
    hook.write = [](void* user_data, hob_log_level level, hob_str line) {
        detail::run_hook([&] {
            (*static_cast<Write*>(user_data))(level, detail::view(line));
        });
    };
    return Hook::try_install(detail::HookKind::log, std::move(callable), [&] { return hob_set_log_hook(&hook); });
}

/// Installs `now()`, which returns monotonic nanoseconds; see hob_clock_hook.
template <class Now>
Result<Hook> try_set_clock_hook(Now now) {
    auto callable = std::make_unique<Now>(std::move(now));
    hob_clock_hook hook = HOB_CLOCK_HOOK_INIT;
    hook.user_data = callable.get();
    hook.now_ns = [](void* user_data) {
        uint64_t nanoseconds = 0;
        detail::run_hook([&] { nanoseconds = (*static_cast<Now*>(user_data))(); });
        return nanoseconds;
    };
    return Hook::try_install(detail::HookKind::clock, std::move(callable), [&] { return hob_set_clock_hook(&hook); });
}

/// Installs `begin(const char* name)` and `end()` for profiler zones; see hob_zone_hook.
template <class Begin, class End>
Result<Hook> try_set_zone_hook(Begin begin, End end) {
    using Callable = std::pair<Begin, End>;
    auto callable = std::make_unique<Callable>(std::move(begin), std::move(end));
    hob_zone_hook hook = HOB_ZONE_HOOK_INIT;
    hook.user_data = callable.get();
    hook.begin = [](void* user_data, const char* name) {
        detail::run_hook([&] { static_cast<Callable*>(user_data)->first(name); });
    };
    hook.end = [](void* user_data) { detail::run_hook([&] { static_cast<Callable*>(user_data)->second(); }); };
    return Hook::try_install(detail::HookKind::zone, std::move(callable), [&] { return hob_set_zone_hook(&hook); });
}

/// Installs the host's allocator; see hob_allocator_hook.
/// `allocate(size_t size, size_t alignment)` returns memory or NULL; `deallocate(void* memory, size_t size, size_t
/// alignment)` frees it. HOB_RESULT_BUSY while a handle is alive.
template <class Allocate, class Deallocate>
Result<Hook> try_set_allocator_hook(Allocate allocate, Deallocate deallocate) {
    using Callable = std::pair<Allocate, Deallocate>;
    auto callable = std::make_unique<Callable>(std::move(allocate), std::move(deallocate));
    hob_allocator_hook hook = HOB_ALLOCATOR_HOOK_INIT;
    hook.user_data = callable.get();
    hook.allocate = [](void* user_data, std::size_t size, std::size_t alignment) {
        void* memory = nullptr;
        detail::run_hook([&] { memory = static_cast<Callable*>(user_data)->first(size, alignment); });
        return memory;
    };
    hook.free = [](void* user_data, void* memory, std::size_t size, std::size_t alignment) {
        detail::run_hook([&] { static_cast<Callable*>(user_data)->second(memory, size, alignment); });
    };
    return Hook::try_install(detail::HookKind::allocator, std::move(callable),
                             [&] { return hob_set_allocator_hook(&hook); });
}

#if HOB_EXCEPTIONS
// The throwing forms.
template <class Write>
Hook set_log_hook(Write write, hob_log_level minimum_level = HOB_LOG_LEVEL_INFO) {
    return try_set_log_hook(std::move(write), minimum_level).value();
}
template <class Now>
Hook set_clock_hook(Now now) {
    return try_set_clock_hook(std::move(now)).value();
}
template <class Begin, class End>
Hook set_zone_hook(Begin begin, End end) {
    return try_set_zone_hook(std::move(begin), std::move(end)).value();
}
template <class Allocate, class Deallocate>
Hook set_allocator_hook(Allocate allocate, Deallocate deallocate) {
    return try_set_allocator_hook(std::move(allocate), std::move(deallocate)).value();
}
#endif

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_HOOKS_HPP
