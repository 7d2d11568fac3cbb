// hobgoblin/executor.hpp: who does the work. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_EXECUTOR_HPP
#define HOBGOBLIN_EXECUTOR_HPP

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base.hpp"
#include "executor.h"

HOB_NAMESPACE_BEGIN

/// Who does the work, and what works in the background; see hob_executor.
class Executor {
public:
#if HOB_EXCEPTIONS
    /// Inline, with a background that is pumped.
    Executor() : Executor(hob_executor_desc(HOB_EXECUTOR_DESC_INIT)) {}
    explicit Executor(const hob_executor_desc& desc) : Executor(create(desc)) {}
#endif
    static Outcome<Executor> create(const hob_executor_desc& desc) {
        hob_executor* executor = nullptr;
        const hob_result result = hob_executor_create(&desc, &executor);
        if (result != HOB_RESULT_OK) return detail::fail<Executor>(result);
        return Executor(executor);
    }
    /// So many threads beside those that call, and one for the background.
    static Outcome<Executor> pool(uint32_t threads) {
        hob_executor* executor = nullptr;
        const hob_result result = hob_executor_create_pool(threads, &executor);
        if (result != HOB_RESULT_OK) return detail::fail<Executor>(result);
        return Executor(executor);
    }
    /// Own a C handle.
    explicit Executor(hob_executor* executor) : executor_(executor), thrown_(std::make_shared<detail::Thrown>()) {}

    /// Call `body(block)` or `body(block, worker)` for every block, on several threads at once. What it throws is thrown
    /// on when all that had begun have ended; of several exceptions the first. After one, no further block is begun.
    template <class Body>
    Outcome<void> parallel_for(uint32_t blocks, const Body& body, hob_priority priority = HOB_PRIORITY_NORMAL,
                               std::string_view name = {}) const {
        Loop<Body> loop{body, {}};
        const hob_result result = hob_executor_parallel_for(executor_.get(), blocks, &Loop<Body>::call, &loop,
                                                            static_cast<uint32_t>(priority), detail::text(name));
        loop.thrown.rethrow();
        return detail::check(result);
    }

    /// Call `work()` in the background, once. What it throws is thrown on by the next pump() or wait_idle().
    template <class Work>
    Outcome<void> post(Work work, hob_priority priority = HOB_PRIORITY_NORMAL, std::string_view name = {}) const {
        auto task = std::make_unique<Task<Work>>(Task<Work>{std::move(work), thrown_});
        const hob_result result = hob_executor_post(executor_.get(), &Task<Work>::run, task.get(), &Task<Work>::release,
                                                    static_cast<uint32_t>(priority), detail::text(name));
        if (result == HOB_RESULT_OK) (void)task.release();  // the executor's now; Task::release takes it back
        return detail::check(result);
    }

    /// Run background tasks on this thread; how many did.
    Outcome<uint32_t> pump(uint64_t budget_us = UINT64_MAX) const {
        uint32_t ran = 0;
        const auto thrown = thrown_;  // a task may destroy or move this object
        const hob_result result = hob_executor_pump(executor_.get(), budget_us, &ran);
        if (thrown) thrown->rethrow();
        if (result != HOB_RESULT_OK) return detail::fail<uint32_t>(result);
        return ran;
    }
    /// Until no task is left.
    Outcome<void> wait_idle(uint64_t timeout_us = UINT64_MAX) const {
        const auto thrown = thrown_;
        const hob_result result = hob_executor_wait_idle(executor_.get(), timeout_us);
        if (thrown) thrown->rethrow();
        return detail::check(result);
    }
    Outcome<hob_executor_statistics> statistics() const {
        hob_executor_statistics found = HOB_EXECUTOR_STATISTICS_INIT;
        const hob_result result = hob_executor_get_statistics(executor_.get(), &found);
        if (result != HOB_RESULT_OK) return detail::fail<hob_executor_statistics>(result);
        return found;
    }

    hob_executor* capi() noexcept { return executor_.get(); }
    const hob_executor* capi() const noexcept { return executor_.get(); }

private:
    template <class Body>
    struct Loop {
        const Body& body;
        detail::Thrown thrown;

        static void call(void* user_data, uint32_t block, uint32_t worker) noexcept {
            Loop& loop = *static_cast<Loop*>(user_data);
            if (loop.thrown.waits()) return;
            loop.thrown.guard([&] {
                if constexpr (std::is_invocable_v<const Body&, uint32_t, uint32_t>) {
                    loop.body(block, worker);
                } else {
                    (void)worker;
                    loop.body(block);
                }
            });
        }
    };

    /// What a task owns.
    template <class Work>
    struct Task {
        Work work;
        std::shared_ptr<detail::Thrown> thrown;

        static void run(void* user_data) noexcept {
            Task& task = *static_cast<Task*>(user_data);
            task.thrown->guard([&] { task.work(); });
        }
        static void release(void* user_data) noexcept { delete static_cast<Task*>(user_data); }
    };

    struct Destroy {
        void operator()(hob_executor* executor) const noexcept { hob_executor_destroy(executor); }
    };
    std::unique_ptr<hob_executor, Destroy> executor_;
    std::shared_ptr<detail::Thrown> thrown_;
};

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_EXECUTOR_HPP
