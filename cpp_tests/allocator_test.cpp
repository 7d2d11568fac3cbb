// The allocator hook: when a host can exchange it, and how blocks grow with and without it.
#include <string>
#include <vector>

#include "allocator.h"
#include "malloc_count.h"
#include "program_cache_support.h"

using namespace support;

namespace {

hob_allocator_hook failing_hook() {
    hob_allocator_hook hook = HOB_ALLOCATOR_HOOK_INIT;
    hook.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
    hook.free = [](void*, void*, size_t, size_t) {};
    return hook;
}

/// Expects that setting and clearing the hook fail, with a message that names this many handles.
void ensure_is_busy(const char* handles) {
    const hob_allocator_hook hook = failing_hook();
    ENSURE(hob_set_allocator_hook(&hook) == HOB_RESULT_BUSY);
    ENSURE(last_error_has("the library holds ") && last_error_has(handles) && last_error_has("release all blobs"));
    ENSURE(hob_set_allocator_hook(nullptr) == HOB_RESULT_BUSY);
}

/// Expects that setting and clearing the hook work.
void ensure_is_exchangeable() {
    const hob_allocator_hook hook = failing_hook();
    ENSURE_OK(hob_set_allocator_hook(&hook));
    ENSURE_OK(hob_set_allocator_hook(nullptr));
}

void add_settings(hob_knapsack* knapsack, int count) {
    const hob_knapsack_option options[] = {{0, 1, 0}, {1, 2, 0}, {2, 3, 0}, {3, 4, 0}};
    for (int n = 0; n < count; ++n) {
        ENSURE_OK(hob_knapsack_add_setting(knapsack, options, sizeof options[0], 4, nullptr));
    }
}

}  // namespace

TEST("memory: the allocator cannot be replaced while a blob is pinned, even after its cache is destroyed") {
    ensure_is_exchangeable();
    Blob blob;
    {
        const Cache cache = open(HOB_PROGRAM_CACHE_DESC_INIT);
        ENSURE_OK(put(cache.get(), "pinned", "bytes"));
        ENSURE_OK(get(cache.get(), "pinned", blob));
        ensure_is_busy("(1 live handles)");
    }
    ensure_is_busy("(0 live handles)");
    ENSURE(blob.data() == "bytes");
    hob_blob_release(&blob.view);
    ensure_is_exchangeable();
}

TEST("memory: a blob pinned under a host's allocator keeps that allocator active") {
    HostAllocator host;
    Blob blob;
    {
        const Cache cache = open(HOB_PROGRAM_CACHE_DESC_INIT);
        ENSURE_OK(put(cache.get(), "pinned", "bytes"));
        ENSURE_OK(get(cache.get(), "pinned", blob));
    }
    ENSURE(!host.remove() && host.live_blocks() > 0);
    hob_blob_release(&blob.view);
    ENSURE(host.live_blocks() == 0 && host.mistakes() == 0);
    ENSURE(host.remove());
}

TEST("memory: destroying a bound cache with a measured blob leaks no memory") {
    {
        const Cache cache = open(HOB_PROGRAM_CACHE_DESC_INIT);
        ENSURE_OK(hob_program_cache_bind_egl(cache.get()));
        hob_egl_blob_set("key", 3, "value", 5);
        ENSURE(hob_egl_blob_get("key", 3, nullptr, 0) == 5);
        ensure_is_busy("(1 live handles)");
    }
    ensure_is_exchangeable();
}

TEST("memory: the allocator can be replaced after a failed call and a stale handle") {
    hob_goblin* goblin = nullptr;
    hob_goblin_desc desc = gpu_budget(9);
    desc.struct_size = 1;
    ENSURE(hob_goblin_create(&desc, &goblin) == HOB_RESULT_INVALID_ARGUMENT);
    hob_profile* profile = nullptr;
    ENSURE_OK(hob_profile_create(nullptr, &profile));
    ENSURE(hob_profile_load(profile, "{", 1) != HOB_RESULT_OK);
    hob_profile_destroy(profile);
    ensure_is_exchangeable();
}

TEST("memory: without a hook large blocks grow without a copy") {
    const Knapsack knapsack = make_knapsack();
    add_settings(knapsack.get(), 100);
    const LargeBlocks before = large_blocks();
    add_settings(knapsack.get(), 100000);
    const LargeBlocks after = large_blocks();
    ENSURE(after.allocated == before.allocated);
    ENSURE(after.grown > before.grown || !is_static);
}

TEST("memory: with a hook blocks grow by a copy through the host and keep their contents") {
    HostAllocator host;
    {
        const Knapsack knapsack = make_knapsack();
        const LargeBlocks before = large_blocks();
        add_settings(knapsack.get(), 100000);
        ENSURE(host.live_bytes() > 100000 && large_blocks().grown == before.grown);
        hob_knapsack_solve_desc desc = HOB_KNAPSACK_SOLVE_DESC_INIT;
        desc.capacity = 400000;
        hob_knapsack_solution solution = HOB_KNAPSACK_SOLUTION_INIT;
        ENSURE_OK(hob_knapsack_solve(knapsack.get(), &desc, &solution));
        ENSURE(solution.value == 300000);
    }
    ENSURE(host.live_blocks() == 0 && host.mistakes() == 0);
}
