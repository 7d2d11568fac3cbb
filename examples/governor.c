// governor.c: a frame loop whose quality settings are chosen by a goblin, in C.
//
// It shows four settings on two lanes, GPU samples that arrive three frames late, and notices of changed choices. It
// prints the reason of each choice, and saves a profile for the next run. The scene gets heavier halfway. The renderer
// is simulated: replace cost_of() by your timers, and on_choice() by your renderer's switches.
//
// Build and run it in the repository:
//
//     cargo build --release
//     cc -Iinclude examples/governor.c -o governor -Ltarget/release -lhobgoblin -Wl,-rpath,target/release
//     ./governor [PROFILE]                      (default: governor.json; delete it to start without a profile)

#include <hobgoblin/goblin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS = 4, OPTIONS = 4, FRAMES = 1200, GPU_FRAMES_LATE = 3 };

static const double GPU_BUDGET_MS = 16.6, GAME_BUDGET_MS = 5.0;

// A setting of the renderer.
typedef struct setting {
    const char *name;
    hob_lane lane;          // the resource that it costs
    double value[OPTIONS];  // worth of each option to the player, in a unit of your own
    double cost[OPTIONS];   // milliseconds: only the simulated renderer knows them
    hob_setting_id id;
    uint32_t applied;       // the option that the renderer uses
    uint32_t changes;
} setting;

static setting settings[SETTINGS] = {
    {"shadows", HOB_LANE_GPU, {0, 40, 60, 70}, {0.2, 1.5, 2.8, 4.5}, {0, 0}, 0, 0},
    {"reflections", HOB_LANE_GPU, {0, 15, 35, 45}, {0.0, 0.9, 2.6, 5.0}, {0, 0}, 0, 0},
    {"resolution", HOB_LANE_GPU, {0, 50, 80, 100}, {3.5, 5.0, 6.5, 9.0}, {0, 0}, 0, 0},
    {"crowd", HOB_LANE_GAME_THREAD, {0, 10, 20, 30}, {0.5, 1.5, 3.0, 6.0}, {0, 0}, 0, 0},
};

// A frame that the GPU has not finished yet.
typedef struct frame_in_flight {
    uint64_t decision_id;
    double gpu_ms[SETTINGS];
} frame_in_flight;

// Ends the program with the library's own sentence, unless a call succeeded.
static void check(hob_result result, const char *call) {
    if (result == HOB_RESULT_OK) return;
    fprintf(stderr, "%s: %s\n", call, hob_last_error());
    exit(EXIT_FAILURE);
}

// The notice of a changed choice. It runs inside hob_goblin_update, before the frame is drawn.
static void on_choice(void *user_data, uint32_t choice, uint64_t decision_id) {
    setting *changed = user_data;
    (void)decision_id;
    changed->applied = choice;  // in an engine: resize the shadow map, switch the shader, ...
    changed->changes += 1;
}

// The cost of a setting in this frame, with 3 % of noise: a stand-in for a GPU timer query or a clock.
static double cost_of(const setting *what, double load) {
    static uint32_t random = 1;
    random = random * 1664525u + 1013904223u;
    return what->cost[what->applied] * load * (0.97 + 0.06 * (random >> 8) / 16777216.0);
}

// In the second half more objects are in view.
static double load_of(int frame) { return frame < FRAMES / 2 ? 1.0 : 1.35; }

static void add_settings(hob_goblin *goblin) {
    for (setting *one = settings; one < settings + SETTINGS; ++one) {
        hob_option options[OPTIONS];
        memset(options, 0, sizeof options);
        for (int option = 0; option < OPTIONS; ++option) options[option].value = one->value[option];
        hob_setting_desc desc = HOB_SETTING_DESC_INIT;
        desc.id = hob_str_from(one->name);
        desc.options = options;
        desc.option_count = OPTIONS;
        desc.user_data = one;
        desc.set_choice = on_choice;
        check(hob_goblin_add_setting(goblin, &desc, &one->id), "hob_goblin_add_setting");
    }
}

// Loads what an earlier run has learned. Without the file, or with a damaged one, the goblin starts without a profile.
static void load_profile(hob_goblin *goblin, const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        printf("no profile yet: the goblin learns from the start\n");
        return;
    }
    static char json[1 << 20];
    const size_t size = fread(json, 1, sizeof json, file);
    fclose(file);
    if (hob_goblin_load_profile(goblin, json, size) == HOB_RESULT_OK) printf("loaded the profile %s\n", path);
    else printf("%s is not used: %s\n", path, hob_last_error());
}

// Saves the profile. A whole file replaces the old one, so that Ctrl-C cannot leave half of it.
static void save_profile(const hob_goblin *goblin, const char *path) {
    size_t size = 0;  // with the NUL at the end
    const hob_result asked = hob_goblin_save_profile(goblin, NULL, 0, &size);
    if (asked != HOB_RESULT_BUFFER_TOO_SMALL) check(asked, "hob_goblin_save_profile");
    char *json = malloc(size);
    char beside[1024];
    if (json == NULL || snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside) {
        fprintf(stderr, "no memory for the profile, or its path is too long\n");
        exit(EXIT_FAILURE);
    }
    check(hob_goblin_save_profile(goblin, json, size, &size), "hob_goblin_save_profile");
    FILE *file = fopen(beside, "wb");
    int is_written = file != NULL && fwrite(json, 1, size - 1, file) == size - 1;
    if (file != NULL && fclose(file) != 0) is_written = 0;
    if (!is_written || rename(beside, path) != 0) fprintf(stderr, "the profile cannot be written: %s\n", path);
    free(json);
}

// Gives the goblin a sample. A failure must not end the game. HOB_RESULT_NOT_FOUND: the sample is too late.
static void sample(hob_goblin *goblin, uint64_t decision_id, const setting *of, double ms) {
    const hob_result result = hob_goblin_measure(goblin, decision_id, of->id, of->lane, ms, HOB_SAMPLE_QUALITY_OK);
    if (result != HOB_RESULT_OK && result != HOB_RESULT_NOT_FOUND) fprintf(stderr, "%s\n", hob_last_error());
}

static void run_frames(hob_goblin *goblin) {
    frame_in_flight frames[GPU_FRAMES_LATE];
    int late = 0, late_at_end = 0;
    uint32_t trials = 0;
    for (int frame = 0; frame < FRAMES; ++frame) {
        frame_in_flight *slot = &frames[frame % GPU_FRAMES_LATE];
        if (frame >= GPU_FRAMES_LATE)  // the GPU has finished that frame: its timers have results now
            for (int s = 0; s < SETTINGS; ++s)
                if (settings[s].lane == HOB_LANE_GPU)
                    sample(goblin, slot->decision_id, &settings[s], slot->gpu_ms[s]);
        hob_decision decision = HOB_DECISION_INIT;
        check(hob_goblin_update(goblin, &decision), "hob_goblin_update");  // calls on_choice
        slot->decision_id = decision.id;
        trials += decision.trial_count;
        double gpu_ms = 0;
        for (int s = 0; s < SETTINGS; ++s) {  // draws the frame
            const double ms = cost_of(&settings[s], load_of(frame));
            slot->gpu_ms[s] = ms;
            if (settings[s].lane == HOB_LANE_GPU) gpu_ms += ms;
            else sample(goblin, decision.id, &settings[s], ms);  // the game thread's clock has no delay
        }
        late += gpu_ms > GPU_BUDGET_MS;
        late_at_end += gpu_ms > GPU_BUDGET_MS && frame >= FRAMES - 200;
    }
    printf("%d frames, %u trials: %d over the GPU budget, %d of them in the last 200\n", FRAMES, trials, late,
           late_at_end);
}

static void report(const hob_goblin *goblin) {
    double gpu_ms = 0, game_ms = 0;
    for (const setting *one = settings; one < settings + SETTINGS; ++one) {
        const uint32_t choice = hob_goblin_choice(goblin, one->id);
        const double ms = one->cost[choice] * load_of(FRAMES - 1);
        *(one->lane == HOB_LANE_GPU ? &gpu_ms : &game_ms) += ms;
        char reason[256];
        check(hob_goblin_get_reason_text(goblin, one->id, reason, sizeof reason, NULL), "hob_goblin_get_reason_text");
        printf("%-12s %u  %4.1f ms  %2u changes  %s\n", one->name, choice, ms, one->changes, reason);
    }
    printf("GPU %.1f of %.1f ms, game thread %.1f of %.1f ms\n", gpu_ms, GPU_BUDGET_MS, game_ms, GAME_BUDGET_MS);
}

int main(int argument_count, char **arguments) {
    const char *path = argument_count > 1 ? arguments[1] : "governor.json";
    hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
    desc.lanes[HOB_LANE_GPU].limit = GPU_BUDGET_MS;
    desc.lanes[HOB_LANE_GAME_THREAD].limit = GAME_BUDGET_MS;
    desc.overrun_probability = 0.01;  // one frame in a hundred may be late
    hob_goblin *goblin = NULL;
    check(hob_goblin_create(&desc, &goblin), "hob_goblin_create");
    add_settings(goblin);
    load_profile(goblin, path);
    run_frames(goblin);
    report(goblin);
    save_profile(goblin, path);
    hob_goblin_destroy(goblin);
    return EXIT_SUCCESS;
}
