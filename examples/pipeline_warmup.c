// pipeline_warmup.c: pipelines that are built late in the first run, and ahead in every later one, in C.
//
// A small game draws trees, in a depth pass and a main pass with a pipeline each. The driver is simulated: it sleeps
// for 3 ms per pipeline. The first run builds each pipeline in the frame of its first use, and hitches. The library keeps
// the descriptions in the user's cache, so that the next run builds them behind a loading screen, in the background. A tree
// is drawn in both passes or not at all. Run it twice.
//
// Build and run it in the repository:
//
//     cargo build --release
//     cc -Iinclude examples/pipeline_warmup.c -o pipeline_warmup -Ltarget/release -lhobgoblin -Wl,-rpath,target/release
//     ./pipeline_warmup && ./pipeline_warmup

#define _POSIX_C_SOURCE 200809L // nanosleep, clock_gettime

#include <hobgoblin/pipeline.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TREES = 30, PASSES = 2, FRAMES = 120, FRAMES_PER_TREE = 3, BUILD_US = 3000, BUDGET_US = 4000 };

static void fail(const char *sentence) {
    fprintf(stderr, "pipeline_warmup: %s\n", sentence);
    exit(1);
}

static void expect(hob_result result) {
    if (result != HOB_RESULT_OK) fail(hob_last_error());
}

static uint64_t now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void sleep_us(uint64_t us) {
    const struct timespec wait = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    (void)nanosleep(&wait, NULL);
}

// ---- The game -------------------------------------------------------------------------------------------------------

// Everything but the shaders. The fields have a fixed order, and no padding.
typedef struct tree_state {
    uint8_t pass, culls, blends, species;
} tree_state;

typedef struct tree_pipeline {
    tree_state state;
    hob_pipeline_shader shaders[2];
    hob_fingerprint key;
    atomic_bool is_built; // in place of the graphics API's object
} tree_pipeline;

typedef struct tree {
    tree_pipeline passes[PASSES];
    hob_pipeline_group_id group;
} tree;

typedef struct game {
    tree trees[TREES];
    atomic_uint builds;
    unsigned hitches, hidden, partial;
    uint64_t worst_us;
} game;

static hob_pipeline_desc describe(const tree_pipeline *pipeline) {
    hob_pipeline_desc desc = HOB_PIPELINE_DESC_INIT;
    desc.schema = 1; // the layout of tree_state
    desc.state = &pipeline->state;
    desc.state_size = sizeof pipeline->state;
    desc.shaders = pipeline->shaders;
    desc.shader_count = pipeline->state.pass == 0 ? 1 : 2; // the depth pass has no colour
    return desc;
}

static void plant(game *all) {
    for (uint8_t i = 0; i < TREES; ++i)
        for (uint8_t pass = 0; pass < PASSES; ++pass) {
            tree_pipeline *pipeline = &all->trees[i].passes[pass];
            pipeline->state = (tree_state){pass, i % 2, i % 3 == 0, i};
            // In a game, the hashes are those of the shaders' bytecode.
            pipeline->shaders[0] = (hob_pipeline_shader){HOB_SHADER_STAGE_VERTEX, {1, i}};
            pipeline->shaders[1] = (hob_pipeline_shader){HOB_SHADER_STAGE_FRAGMENT, {2, i}};
            const hob_pipeline_desc desc = describe(pipeline);
            expect(hob_pipeline_get_key(&desc, &pipeline->key));
        }
}

static tree_pipeline *find(game *all, const hob_fingerprint *key) {
    for (tree *one = all->trees; one < all->trees + TREES; ++one)
        for (tree_pipeline *pipeline = one->passes; pipeline < one->passes + PASSES; ++pipeline)
            if (memcmp(&pipeline->key, key, sizeof *key) == 0) return pipeline;
    return NULL;
}

// vkCreateGraphicsPipelines, and a first draw where the driver compiles there.
static void build(game *all, tree_pipeline *pipeline) {
    sleep_us(BUILD_US);
    atomic_store(&pipeline->is_built, true);
    atomic_fetch_add(&all->builds, 1);
}

// Called by the background. A pipeline that this version of the game does not have fails.
static uint32_t compile(void *user_data, const hob_pipeline_job *job) {
    tree_pipeline *pipeline = find(user_data, &job->key);
    if (pipeline == NULL) return HOB_PIPELINE_BUILT_FAILED;
    build(user_data, pipeline);
    return HOB_PIPELINE_BUILT_READY;
}

// ---- The frame ------------------------------------------------------------------------------------------------------

static void use(game *all, const hob_pipeline_library *library, tree_pipeline *pipeline) {
    if (hob_pipeline_library_use(library, &pipeline->key) != HOB_PIPELINE_STATE_UNKNOWN) return;
    const uint64_t begin = now_us(); // no cache has it: a hitch
    build(all, pipeline);
    ++all->hitches;
    const hob_pipeline_desc desc = describe(pipeline);
    expect(hob_pipeline_library_add(library, &desc, now_us() - begin, NULL));
}

static void draw(game *all, const hob_pipeline_library *library, tree *one) {
    for (int pass = 0; pass < PASSES; ++pass) use(all, library, &one->passes[pass]);
    if (hob_pipeline_library_decide(library, one->group, HOB_PIPELINE_POLICY_SKIP, 0) != HOB_PIPELINE_DECISION_DRAW) {
        ++all->hidden;
        return;
    }
    for (int pass = 0; pass < PASSES; ++pass) all->partial += !atomic_load(&one->passes[pass].is_built);
}

static void play(game *all, const hob_pipeline_library *library) {
    for (int frame = 0; frame < FRAMES; ++frame) {
        const uint64_t begin = now_us();
        expect(hob_pipeline_library_begin_frame(library, BUDGET_US));
        for (int i = 0; i < TREES && i <= frame / FRAMES_PER_TREE; ++i) draw(all, library, &all->trees[i]);
        const uint64_t took_us = now_us() - begin;
        if (took_us > all->worst_us) all->worst_us = took_us;
        sleep_us(1000);
    }
}

int main(void) {
    static game all;
    plant(&all);
    hob_executor *executor = NULL;
    expect(hob_executor_create_pool(0, &executor)); // one thread in the background
    hob_pipeline_library_desc desc = HOB_PIPELINE_LIBRARY_DESC_INIT;
    desc.project = HOB_STR("trees");
    desc.format = HOB_STR("none");
    desc.version = HOB_STR("1.0");
    desc.directory = HOB_STR("pipeline_warmup_cache");
    desc.api = HOB_GRAPHICS_API_USER;
    desc.executor = executor;
    desc.user_data = &all;
    desc.compile = compile;
    hob_pipeline_library *library = NULL;
    expect(hob_pipeline_library_create(&desc, &library));
    for (tree *one = all.trees; one < all.trees + TREES; ++one)
        expect(hob_pipeline_library_add_group(library, &one->passes[0].key, sizeof(tree_pipeline), PASSES, &one->group));

    // A loading screen: nothing to do in the first run. A frame of it allows as much as the mode does.
    uint32_t remaining = 0;
    for (expect(hob_pipeline_library_get_remaining(library, &remaining)); remaining > 0;
         expect(hob_pipeline_library_get_remaining(library, &remaining))) {
        expect(hob_pipeline_library_begin_frame(library, UINT64_MAX));
        sleep_us(1000);
    }
    const unsigned ahead = atomic_load(&all.builds);
    expect(hob_pipeline_library_set_mode(library, HOB_PIPELINE_MODE_BACKGROUND));
    play(&all, library);

    hob_pipeline_statistics counts = HOB_PIPELINE_STATISTICS_INIT;
    expect(hob_pipeline_library_get_statistics(library, &counts));
    expect(hob_pipeline_library_flush(library));
    printf("%u pipelines ahead, %u in a frame; %u ready at their first use; worst frame %.1f ms\n", ahead, all.hitches,
           (unsigned)counts.ready_at_first_use, (double)all.worst_us / 1000);
    printf("%u trees hidden, %u passes drawn without a pipeline\n", all.hidden, all.partial);
    hob_pipeline_library_destroy(library);
    hob_executor_destroy(executor);
    return 0;
}
