// profile.h: knowledge is loaded, changed, and saved again exactly.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "support.h"

using namespace support;

namespace {

const char* const household = R"({
  "shadows": [[120, 0.5, 0.05], [40, 1.25, 0.1], [0, 0, 0]],
  "bl\u00fcte \"x\"\n": [[7, 3, 0]]
})";

std::vector<std::string> task_ids(const hob_profile* profile) {
    std::vector<std::string> ids;
    for (uint32_t n = 0; n < hob_profile_task_count(profile); ++n) {
        hob_str id = {nullptr, 0};
        ENSURE_OK(hob_profile_get_task(profile, n, &id, nullptr));
        ids.push_back(text(id));
    }
    return ids;
}

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST("profile: a loaded profile can be queried") {
    const Profile profile = make_profile(household);
    ENSURE(task_ids(profile.get()) == std::vector<std::string>{"bl\xc3\xbcte \"x\"\n", "shadows"});
    uint32_t options = 0;
    hob_str id = {nullptr, 0};
    ENSURE_OK(hob_profile_get_task(profile.get(), 1, &id, &options));
    ENSURE(options == 3);
    const hob_estimate medium = known(profile.get(), "shadows", 1);
    ENSURE(medium.count == 40 && medium.mean == 1.25 && medium.deviation == 0.1);
    ENSURE(medium.source == HOB_ESTIMATE_SOURCE_PAST);
    ENSURE(known(profile.get(), "shadows", 2).source == HOB_ESTIMATE_SOURCE_BLIND);
}

TEST("profile: a saved profile loads back to the last digit") {
    const Profile profile = make_profile(household);
    const hob_profile_option odd[] = {{1, 0.1, 1.0 / 3}, {1u << 31, 1e-300, 1e300}, {3, 123456789.123456789, 0}};
    ENSURE_OK(hob_profile_set_task(profile.get(), HOB_STR("odd"), odd, sizeof odd[0], 3));
    const std::string json = saved(profile.get());
    const Profile again = make_profile(json);
    ENSURE(saved(again.get()) == json);
    for (uint32_t n = 0; n < 3; ++n) {
        const hob_estimate found = known(again.get(), "odd", n);
        ENSURE(found.count == odd[n].count && found.mean == odd[n].mean && found.deviation == odd[n].deviation);
    }
}

TEST("profile: a small buffer is unchanged and an exact one is not overrun") {
    const Profile profile = make_profile(household);
    const std::string json = saved(profile.get());
    for (size_t room = 0; room < json.size(); ++room) {
        std::string buffer(json.size(), '\x7e');
        size_t size = 0;
        ENSURE(hob_profile_save(profile.get(), buffer.data(), room, &size) == HOB_RESULT_BUFFER_TOO_SMALL);
        ENSURE(size == json.size() && buffer == std::string(json.size(), '\x7e'));
    }
    std::string buffer(json.size() + 8, '\x7e');
    ENSURE_OK(hob_profile_save(profile.get(), buffer.data(), json.size(), nullptr));
    ENSURE(buffer == json + std::string(8, '\x7e'));
}

TEST("profile: tasks can be set, replaced, removed and cleared") {
    const Profile profile = make_profile();
    const hob_profile_option options[] = {{5, 1, 0.5}, {6, 2, 0.5}};
    ENSURE_OK(hob_profile_set_task(profile.get(), HOB_STR("water"), options, sizeof options[0], 2));
    ENSURE_OK(hob_profile_set_task(profile.get(), HOB_STR("fog"), options, sizeof options[0], 1));
    ENSURE_OK(hob_profile_set_task(profile.get(), HOB_STR("water"), options + 1, sizeof options[0], 1));
    ENSURE(hob_profile_task_count(profile.get()) == 2);
    ENSURE(known(profile.get(), "water", 0).count == 6);
    ENSURE_OK(hob_profile_remove_task(profile.get(), HOB_STR("fog")));
    ENSURE(hob_profile_remove_task(profile.get(), HOB_STR("fog")) == HOB_RESULT_NOT_FOUND);
    ENSURE(task_ids(profile.get()) == std::vector<std::string>{"water"});
    ENSURE_OK(hob_profile_clear(profile.get()));
    ENSURE(hob_profile_task_count(profile.get()) == 0);
}

TEST("profile: merging pools the samples of both") {
    const Profile ours = make_profile(R"({"a":[[10,2,0]],"ours":[[1,1,0]],"other count":[[5,1,0]]})");
    const Profile theirs = make_profile(R"({"a":[[30,4,0]],"theirs":[[2,1,0]],"other count":[[9,1,0],[9,2,0]]})");
    ENSURE_OK(hob_profile_merge(ours.get(), theirs.get()));
    const hob_estimate pooled = known(ours.get(), "a", 0);
    ENSURE(pooled.count == 40 && close(pooled.mean, 3.5) && close(pooled.deviation, 0.8660254037844386));
    ENSURE(known(ours.get(), "ours", 0).count == 1 && known(ours.get(), "theirs", 0).count == 2);
    ENSURE(known(ours.get(), "other count", 1).mean == 2);
    ENSURE(hob_profile_task_count(theirs.get()) == 3);
}

TEST("profile: a merge whose deviation overflows is refused and changes nothing") {
    const Profile ours = make_profile(R"({"a":[[3,1,0]],"z":[[3,0,0]]})");
    const Profile theirs = make_profile(R"({"a":[[3,2,0]],"z":[[3,2e154,0]]})");
    const std::string before = saved(ours.get());
    ENSURE(hob_profile_merge(ours.get(), theirs.get()) == HOB_RESULT_INVALID_ARGUMENT && last_error_has("task 'z'"));
    ENSURE(saved(ours.get()) == before);
    ENSURE_OK(hob_profile_scale(ours.get(), 2));
    ENSURE_OK(hob_profile_remove_task(ours.get(), HOB_STR("z")));
    ENSURE_OK(hob_profile_merge(ours.get(), theirs.get()));
}

TEST("profile: a profile merged with itself has every sample twice") {
    const Profile profile = make_profile(household);
    ENSURE_OK(hob_profile_merge(profile.get(), profile.get()));
    const hob_estimate medium = known(profile.get(), "shadows", 1);
    ENSURE(medium.count == 80 && close(medium.mean, 1.25) && close(medium.deviation, 0.1));
}

TEST("profile: scaling makes all burdens those of a slower machine") {
    const Profile profile = make_profile(household);
    ENSURE_OK(hob_profile_scale(profile.get(), 2));
    const hob_estimate medium = known(profile.get(), "shadows", 1);
    ENSURE(medium.count == 40 && medium.mean == 2.5 && medium.deviation == 0.2);
}

TEST("profile: a saved file reads back and no temporary file remains") {
    const Profile profile = make_profile(household);
    const std::string path = scratch_file("profile.json");
    ENSURE_OK(hob_profile_save_file(profile.get(), str(path)));
    ENSURE(content(path) == saved(profile.get()));
    ENSURE(!std::ifstream(path + ".new"));
    const Profile again = make_profile();
    ENSURE_OK(hob_profile_load_file(again.get(), str(path)));
    ENSURE(saved(again.get()) == saved(profile.get()));
    ENSURE(std::remove(path.c_str()) == 0);
    ENSURE(hob_profile_load_file(again.get(), str(path)) == HOB_RESULT_IO);
    ENSURE(last_error_has("profile.json"));
    ENSURE(saved(again.get()) == saved(profile.get()));
}

TEST("profile: a failed save is reported and keeps the old file") {
    const Profile profile = make_profile(household);
    ENSURE(hob_profile_save_file(profile.get(), HOB_STR("no/such/folder/profile.json")) == HOB_RESULT_IO);
    ENSURE(last_error_has("no/such/folder"));
}

TEST("profile: the memory limit holds") {
    hob_profile_desc desc = HOB_PROFILE_DESC_INIT;
    ENSURE(desc.memory_limit == UINT64_MAX);
    desc.memory_limit = 2000;
    hob_profile* limited = nullptr;
    ENSURE_OK(hob_profile_create(&desc, &limited));
    const Profile owner(limited);
    const hob_profile_option options[8] = {};
    ENSURE_OK(hob_profile_set_task(limited, HOB_STR("first"), options, sizeof options[0], 8));
    const std::string before = saved(limited);
    const std::string large = "{\"large\":[" + std::string("[1,2,3]") + [] {
        std::string more;
        for (int n = 0; n < 200; ++n) more += ",[1,2,3]";
        return more;
    }() + "]}";
    ENSURE(hob_profile_load(limited, large.data(), large.size()) == HOB_RESULT_LIMIT_EXCEEDED);
    const Profile other = make_profile(large);
    ENSURE(hob_profile_merge(limited, other.get()) == HOB_RESULT_LIMIT_EXCEEDED);
    ENSURE(saved(limited) == before);
    const size_t used = hob_profile_memory_used(limited);
    ENSURE(used > 8 * sizeof options[0] && used < 2000);
}

TEST("profile: a byte order mark and white space are skipped") {
    const Profile profile = make_profile("\xef\xbb\xbf \t\r\n{ \"a\" : [ [ 1 , 2e0 , 0.0 ] ] } \n");
    ENSURE(known(profile.get(), "a", 0).mean == 2);
}

TEST("profile: truncated text is rejected at every length") {
    const Profile profile = make_profile(household);
    const std::string before = saved(profile.get());
    for (size_t size = 0; size + 1 < std::strlen(household); ++size) {
        ENSURE(hob_profile_load(profile.get(), household, size) == HOB_RESULT_MALFORMED);
        ENSURE(last_error_has("line"));
        ENSURE(saved(profile.get()) == before);
    }
}

TEST("profile: mutated text is rejected or parsed, and never crashes") {
    const std::string good = household;
    Dice dice(5);
    for (int n = 0; n < harness::scaled(20000); ++n) {
        std::string spoiled = good;
        for (uint32_t bytes = 1 + dice.below(4); bytes > 0; --bytes) {
            spoiled[dice.below(static_cast<uint32_t>(spoiled.size()))] = static_cast<char>(dice.below(256));
        }
        const Profile profile = make_profile();
        const hob_result result = hob_profile_load(profile.get(), spoiled.data(), spoiled.size());
        ENSURE(result == HOB_RESULT_OK || result == HOB_RESULT_MALFORMED);
        const std::string json = saved(profile.get());
        ENSURE(saved(make_profile(json).get()) == json);
    }
}

TEST("profile: hostile text is rejected with a position and a reason") {
    const std::string deep(100000, '[');
    const std::string cases[] = {
        "",
        "null",
        "[]",
        "{",
        "{}x",
        "{\"a\"}",
        "{\"a\":[[1,2]]}",
        "{\"a\":[[1,2,3,4]]}",
        "{\"a\":[[-1,2,3]]}",
        "{\"a\":[[1,-2,3]]}",
        "{\"a\":[[1,2,-3]]}",
        "{\"a\":[[1,1e999,3]]}",
        "{\"a\":[[1.5,2,3]]}",
        "{\"a\":[[1,NaN,3]]}",
        "{\"a\":[[1,Infinity,3]]}",
        "{\"a\":[],\"a\":[]}",
        "{\"\\ud800\":[]}",
        "{\"\xff\":[]}",
        "{\"a\":[[99999999999999999999999,2,3]]}",
        "{\"a\":[[01,2,3]]}",
        "{\"a\":[[1,2,3],]}",
        "{\"a\":" + deep,
    };
    const Profile profile = make_profile(household);
    const std::string before = saved(profile.get());
    for (const auto& text : cases) {
        ENSURE(hob_profile_load(profile.get(), text.data(), text.size()) == HOB_RESULT_MALFORMED);
        ENSURE(last_error_has("line") && last_error_has("column"));
        ENSURE(saved(profile.get()) == before);
    }
}
