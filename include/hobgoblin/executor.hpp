// hobgoblin/executor.hpp: loops on several threads, and background tasks. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_EXECUTOR_HPP
#define HOBGOBLIN_EXECUTOR_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base.hpp"
#include "executor.h"

HOB_NAMESPACE_BEGIN

/// Runs loops on several threads and tasks in the background; see hob_executor.
///
/// An exception from a loop or a task is rethrown by the call that waits for it, also by its try_ form.
class Executor {
public:
#if HOB_EXCEPTIONS
    /// Loops run on the calling thread. Background tasks wait for pump().
    Executor() : Executor(hob_executor_desc(HOB_EXECUTOR_DESC_INIT)) {}
    explicit Executor(const hob_executor_desc& desc) : Executor(try_create(desc).value()) {}
#endif
    static Result<Executor> try_create(const hob_executor_desc& desc = HOB_EXECUTOR_DESC_INIT) {
        hob_executor* executor = nullptr;
        const hob_result code = hob_executor_create(&desc, &executor);
        return detail::result_of(code, Executor(executor));
    }
    /// An executor with `threads` threads beside the calling ones, and one background thread.
    static Result<Executor> try_create_pool(uint32_t threads) {
        hob_executor* executor = nullptr;
        const hob_result code = hob_executor_create_pool(threads, &executor);
        return detail::result_of(code, Executor(executor));
    }
    /// Takes ownership of a C handle.
    explicit Executor(hob_executor* executor)
        : executor_(executor), pending_(std::make_shared<detail::SharedPending>()) {}

    /// Calls `body(block)` or `body(block, worker)` for each block, on several threads at once. After an exception no
    /// further block starts. The first exception is rethrown when the running blocks have ended.
    template <class Body>
    Result<void> try_parallel_for(uint32_t blocks, const Body& body, hob_priority priority = HOB_PRIORITY_NORMAL,
                                  std::string_view name = {}) const {
        Loop<Body> loop{body, {}};
        const hob_result code = hob_executor_parallel_for(capi(), blocks, &Loop<Body>::call, &loop, priority,
                                                          detail::text(name));
        loop.pending.rethrow();
        return detail::result_of(code);
    }
    /// Calls `work()` once in the background. The next pump() or wait_idle() rethrows its exception.
    template <class Work>
    Result<void> try_post(Work work, hob_priority priority = HOB_PRIORITY_NORMAL, std::string_view name = {}) const {
        auto task = std::make_unique<Task<Work>>(Task<Work>{std::move(work), pending_});
        const hob_result code = hob_executor_post(capi(), &Task<Work>::run, task.get(), &Task<Work>::release, priority,
                                                  detail::text(name));
        if (code == HOB_RESULT_OK) (void)task.release();  // the executor owns it and calls Task::release
        return detail::result_of(code);
    }

    /// Runs background tasks on this thread for up to `budget_us` microseconds. Returns how many.
    Result<uint32_t> try_pump(uint64_t budget_us = UINT64_MAX) const {
        uint32_t ran = 0;
        const auto pending = pending_;  // a task may destroy or move this object
        const hob_result code = hob_executor_pump(capi(), budget_us, &ran);
        if (pending) pending->rethrow();
        return detail::result_of(code, ran);
    }
    /// Waits up to `timeout_us` microseconds until all background tasks have ended.
    Result<void> try_wait_idle(uint64_t timeout_us = UINT64_MAX) const {
        const auto pending = pending_;
        const hob_result code = hob_executor_wait_idle(capi(), timeout_us);
        if (pending) pending->rethrow();
        return detail::result_of(code);
    }
    /// Counts of background tasks.
    Result<hob_executor_statistics> try_statistics() const {
        return detail::filled_by(detail::sized<hob_executor_statistics>(), [&](hob_executor_statistics* statistics) {
            return hob_executor_get_statistics(capi(), statistics);
        });
    }
    /// Bytes that the executor holds, without its threads' stacks and its tasks' own memory.
    std::size_t memory_used() const noexcept { return hob_executor_memory_used(capi()); }

#if HOB_EXCEPTIONS
    // The throwing forms.
    static Executor create_pool(uint32_t threads) { return try_create_pool(threads).value(); }
    template <class Body>
    void parallel_for(uint32_t blocks, const Body& body, hob_priority priority = HOB_PRIORITY_NORMAL,
                      std::string_view name = {}) const {
        try_parallel_for(blocks, body, priority, name).value();
    }
    template <class Work>
    void post(Work work, hob_priority priority = HOB_PRIORITY_NORMAL, std::string_view name = {}) const {
        try_post(std::move(work), priority, name).value();
    }
    uint32_t pump(uint64_t budget_us = UINT64_MAX) const { return try_pump(budget_us).value(); }
    void wait_idle(uint64_t timeout_us = UINT64_MAX) const { try_wait_idle(timeout_us).value(); }
    hob_executor_statistics statistics() const { return try_statistics().value(); }
#endif

    hob_executor* capi() noexcept { return executor_.get(); }
    const hob_executor* capi() const noexcept { return executor_.get(); }

private:
    template <class Body>
    struct Loop {
        const Body& body;
        detail::SharedPending pending;

        static void call(void* user_data, uint32_t block, uint32_t worker) noexcept {
            Loop& loop = *static_cast<Loop*>(user_data);
            if (loop.pending.has_exception()) return;
            loop.pending.guard([&] {
                if constexpr (std::is_invocable_v<const Body&, uint32_t, uint32_t>) {
                    loop.body(block, worker);
                } else {
                    (void)worker;
                    loop.body(block);
                }
            });
        }
    };

    template <class Work>
    struct Task {
        Work work;
        std::shared_ptr<detail::SharedPending> pending;

        static void run(void* user_data) noexcept {
            Task& task = *static_cast<Task*>(user_data);
            task.pending->guard([&] { task.work(); });
        }
        static void release(void* user_data) noexcept { delete static_cast<Task*>(user_data); }
    };

    struct Destroy {
        void operator()(hob_executor* executor) const noexcept { hob_executor_destroy(executor); }
    };
    std::unique_ptr<hob_executor, Destroy> executor_;
    std::shared_ptr<detail::SharedPending> pending_;
};

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_EXECUTOR_HPP
