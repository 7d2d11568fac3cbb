// The frame loop of a client that was compiled with other headers than its library.
#include "client.h"

#include <string>

namespace abi {

namespace {

/// A setting with callbacks.
struct Setting {
    uint32_t choice = 0;
    bool has_run = false, is_pending = false;
    int measured = 0, released = 0;
};

void describe(hob_setting_desc& desc, Setting& setting) {
    desc.user_data = &setting;
    desc.get_id = [](void*, hob_str* out_id) { *out_id = text("fog"); };
    desc.get_options = [](void*, hob_option* options, uint32_t capacity) {
        for (uint32_t n = 0; n < 3 && capacity >= 3; ++n) {
            options[n] = hob_option{};
            options[n].value = n;
        }
        return 3u;
    };
    desc.set_choice = [](void* self, uint32_t choice, uint64_t) {
        static_cast<Setting*>(self)->choice = choice;
        static_cast<Setting*>(self)->has_run = true;
    };
    desc.measure = [](void* self, hob_sample* out_sample) {
        // The library's own struct: at least as large as it was in the first release.
        CHECK(out_sample->struct_size >= offsetof(hob_sample, reserved) + sizeof out_sample->reserved);
        Setting& measured = *static_cast<Setting*>(self);
        // One sample a frame, of the latest decision.
        measured.is_pending = measured.has_run && !measured.is_pending;
        if (!measured.is_pending) return 0u;
        ++measured.measured;
        out_sample->burden = 1.0 + measured.choice;
        return 1u;
    };
    desc.release = [](void* self) { ++static_cast<Setting*>(self)->released; };
}

hob_setting_id add_array_setting(hob_goblin* goblin) {
    hob_option options[2] = {};
    options[1].value = 3;
    Guarded<hob_setting_desc> desc;
    desc->id = text("water");
    desc->options = options;
    desc->option_count = 2;
    desc->option_stride = sizeof options[0];
    hob_setting_id setting = {0, 0};
    CHECK_OK(hob_goblin_add_setting(goblin, desc.get(), &setting));
    return setting;
}

hob_setting_id add_product(hob_goblin* goblin) {
    const double values[] = {0, 1, 2};
    hob_product_axis axes[2] = {};
    for (hob_product_axis& axis : axes) {
        axis.values = values;
        axis.count = 3;
    }
    Guarded<hob_product_desc> desc;
    desc->id = text("shadows");
    desc->axes = axes;
    desc->axis_stride = sizeof axes[0];
    desc->axis_count = 2;
    hob_setting_id setting = {0, 0};
    CHECK_OK(hob_goblin_add_product(goblin, desc.get(), &setting));
    CHECK(hob_goblin_product_index(goblin, setting, 8, 0) == 2);
    return setting;
}

void run_frames(hob_goblin* goblin, hob_setting_id water, hob_setting_id shadows) {
    for (uint64_t frame = 1; frame <= 50; ++frame) {
        Guarded<hob_decision> decision;
        CHECK_OK(hob_goblin_update(goblin, decision.get()));
        decision.check();
        CHECK(decision->id == frame && decision->feasible == 1);
        for (const hob_setting_id setting : {water, shadows}) {
            const double burden = 0.5 + hob_goblin_choice(goblin, setting);
            CHECK_OK(hob_goblin_measure(goblin, frame, setting, HOB_LANE_GPU, burden, HOB_SAMPLE_QUALITY_OK));
        }
        CHECK_OK(hob_goblin_measure_total(goblin, frame, HOB_LANE_GPU, 5, HOB_SAMPLE_QUALITY_OK));
    }
}

void read_answers(hob_goblin* goblin, hob_setting_id water) {
    Guarded<hob_goblin_statistics> statistics;
    CHECK_OK(hob_goblin_get_statistics(goblin, statistics.get()));
    statistics.check();
    CHECK(statistics->setting_count == 3 && statistics->decisions == 50 && statistics->samples > 100);
    Guarded<hob_decision_details> details;
    CHECK_OK(hob_goblin_get_decision(goblin, details.get()));
    details.check();
    CHECK(details->id == 50 && details->setting_count == 3 && details->lanes[HOB_LANE_GPU].capacity == 8);
    Guarded<hob_reason> reason;
    CHECK_OK(hob_goblin_get_reason(goblin, water, reason.get()));
    reason.check();
    CHECK(reason->why != HOB_WHY_UNDECIDED);
    Guarded<hob_estimate> estimate;
    CHECK_OK(hob_goblin_get_estimate(goblin, water, 1, HOB_LANE_GPU, estimate.get()));
    estimate.check();
    CHECK(estimate->count > 0 && estimate->mean > 1 && estimate->mean < 2);
    Guarded<hob_goblin_desc> desc;
    CHECK_OK(hob_goblin_get_desc(goblin, desc.get()));
    desc.check();
    CHECK(desc->lanes[HOB_LANE_GPU].limit == 8 && desc->patience == 2);
    desc->patience = 1;
    CHECK_OK(hob_goblin_set_desc(goblin, desc.get()));
    Guarded<hob_goblin_tuning> tuning;
    CHECK_OK(hob_goblin_get_tuning(goblin, tuning.get()));
    tuning.check();
    CHECK(tuning->node_limit == 512);
    tuning->node_limit = 256;
    CHECK_OK(hob_goblin_set_tuning(goblin, tuning.get()));
}

void replay(const std::string& recording) {
    Guarded<hob_replay_report> report;
    CHECK_OK(hob_goblin_replay(recording.data(), recording.size(), report.get()));
    report.check();
    CHECK(report->end == HOB_REPLAY_END_COMPLETE && report->decisions == 50 && report->different == 0);
}

}  // namespace

void drive_goblin() {
    Guarded<hob_goblin_desc> desc;
    desc->lanes[HOB_LANE_GPU].limit = 8;
    desc->patience = 2;
    Guarded<hob_goblin_tuning> tuning;
    tuning->node_limit = 512;
    desc->tuning = tuning.get();
    hob_goblin* goblin = nullptr;
    CHECK_OK(hob_goblin_create(desc.get(), &goblin));
    std::string recording;
    const auto write = [](void* bytes, const void* data, size_t size) {
        static_cast<std::string*>(bytes)->append(static_cast<const char*>(data), size);
    };
    CHECK_OK(hob_goblin_start_recording(goblin, write, &recording, nullptr));
    const hob_setting_id water = add_array_setting(goblin), shadows = add_product(goblin);
    Setting fog;
    Guarded<hob_setting_desc> talking;
    describe(*talking.get(), fog);
    hob_setting_id setting = {0, 0};
    CHECK_OK(hob_goblin_add_setting(goblin, talking.get(), &setting));
    Guarded<hob_strategy_desc> other;
    other->lanes[HOB_LANE_GPU].limit = 2;
    other->incentive = -100;
    uint32_t strategy = 0;
    CHECK_OK(hob_goblin_add_strategy(goblin, other.get(), &strategy));
    run_frames(goblin, water, shadows);
    CHECK(fog.measured > 10);
    CHECK_OK(hob_goblin_stop_recording(goblin));
    replay(recording);
    read_answers(goblin, water);
    hob_goblin_destroy(goblin);
    CHECK(fog.released == 1);
}

}  // namespace abi
