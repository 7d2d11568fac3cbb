// Misuses every function of the headers in every way that its signature allows.
//
// Handles: NULL, stale, of another type, poisoned, busy. Structs: of wrong, old and future sizes. Numbers: outside the
// enum. Ids: stale.
//
//   cases --directory DIR [--only NAME] [--verbose]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/arguments.h"
#include "api/table.h"

namespace {

using namespace api;

const Table table = {
    functions, std::size(functions), structs, std::size(structs), enums, handles, std::size(handles),
};

/// Any result is accepted, but the call must return.
constexpr int any = -1;

/// A correct answer that differs from the rule.
struct Exception {
    /// The end of the function's name, after `hob_`.
    const char* function;
    /// The parameter. "": all.
    const char* param;
    /// The kind of misuse.
    const char* misuse;
    int expected;
    const char* reason;
};

const Exception exceptions[] = {
#include "api/exceptions.inc"
};

struct Expected {
    int result;
    /// The message must contain one of these. NULL: any message.
    const char* names[2] = {nullptr, nullptr};
};

class Runner {
public:
    Runner(std::string directory, std::string only, bool is_verbose)
        : directory_(std::move(directory)), only_(std::move(only)), is_verbose_(is_verbose) {}

    int run_all();

private:
    using Spoil = std::function<void(Call&)>;

    bool is_wanted(const Function& f) const { return only_.empty() || f.name == only_; }
    World& world();
    void spend_world() { world_.reset(); }

    void run(const Function& f);
    int baseline(const Function& f);
    void handle_cases(const Function& f, size_t n);
    void pointer_case(const Function& f, size_t n);
    void struct_cases(const Function& f, size_t n);
    void init_cases(const Function& f);
    void number_cases(const Function& f, size_t n);
    void removed_child_case(const Function& f, size_t n);
    void poisoned_cases();
    void busy_cases();

    void check(const Function& f, const char* param, const char* misuse, Expected expected, const Spoil& spoil);
    void make_and_check(World& in, const Function& f, const char* param, const char* misuse, Expected expected,
                        const Spoil& spoil);
    void fail(const Function& f, const char* param, const char* misuse, const std::string& what);

    const std::string directory_, only_;
    const bool is_verbose_;
    std::unique_ptr<World> world_;
    int baseline_ = any;
    std::map<const Function*, int> baselines_;
    std::set<const Function*> covered_;
    std::set<const Exception*> used_;
    std::map<std::string, int> cases_;
    int failures_ = 0;
};

World& Runner::world() {
    if (!world_) world_ = std::make_unique<World>(directory_);
    return *world_;
}

void Runner::fail(const Function& f, const char* param, const char* misuse, const std::string& what) {
    ++failures_;
    std::printf("FAILED   %s(%s), %s: %s\n         %s, last error: %s\n", f.name, param, misuse, what.c_str(), f.at,
                hob_last_error());
}

void Runner::check(const Function& f, const char* param, const char* misuse, Expected expected, const Spoil& spoil) {
    make_and_check(world(), f, param, misuse, expected, spoil);
}

/// Makes the call in a world, with arguments changed by `spoil`, and checks all visible effects.
void Runner::make_and_check(World& in, const Function& f, const char* param, const char* misuse, Expected expected,
                            const Spoil& spoil) {
    ++cases_[misuse];
    covered_.insert(&f);
    const Exception* exception = nullptr;
    for (const Exception& one : exceptions) {
        if (!ends_with(f.name, one.function) || std::strcmp(one.misuse, misuse) != 0) continue;
        if (*one.param == '\0' || std::strcmp(one.param, param) == 0) exception = &one;
    }
    Call call(table, f, in);
    spoil(call);
    // Set another message first, so that an earlier one is not mistaken for this call's.
    std::string marker = "hob_log_hook is NULL";
    (void)(std::strcmp(f.name, "hob_log_hook_init") == 0 ? hob_clock_hook_init(nullptr, 0) : hob_log_hook_init(nullptr, 0));
    marker = hob_last_error();
    if (is_verbose_) {
        std::printf("         %s(%s), %s\n", f.name, param, misuse);
        std::fflush(stdout);
    }
    const Answer answer = call.make();
    if (!call.has_canaries()) fail(f, param, misuse, "wrote behind what it was given");
    if (f.returns == Returns::text && answer.text == nullptr) fail(f, param, misuse, "returned NULL");
    if (f.returns == Returns::result) {
        const hob_result result = answer.result();
        if (std::strcmp(hob_result_name(answer.result()), "HOB_RESULT_UNKNOWN") == 0)
            fail(f, param, misuse, "returned no hob_result");
        const std::string sentence = hob_last_error();
        const bool is_named = expected.names[0] == nullptr || sentence.find(expected.names[0]) != std::string::npos ||
                              sentence.find(expected.names[1]) != std::string::npos;
        const bool is_expected = expected.result == any || static_cast<int>(result) == expected.result;
        if (exception != nullptr && !(is_expected && is_named)) {
            used_.insert(exception);
            expected = {exception->expected};
        }
        if (expected.result != any && static_cast<int>(result) != expected.result) {
            fail(f, param, misuse, std::string("returned ") + hob_result_name(result) + ", not " +
                                       hob_result_name(static_cast<hob_result>(expected.result)));
        }
        if (result == HOB_RESULT_OK) {
            if (&in == world_.get()) spend_world();
            World::reset_hooks();
        } else {
            if (sentence.empty() || sentence == marker) fail(f, param, misuse, "set no message");
            if (expected.names[0] != nullptr && !is_named)
                fail(f, param, misuse, "the sentence names neither the parameter nor its type");
            const bool may_write = result == HOB_RESULT_BUFFER_TOO_SMALL;
            if (!may_write && !call.is_out_unchanged()) fail(f, param, misuse, "failed, and changed what it was given");
        }
    } else if (f.returns == Returns::number && expected.result == HOB_RESULT_INVALID_ARGUMENT && answer.number != 0) {
        fail(f, param, misuse, "returned " + std::to_string(answer.number) + ", not 0");
    }
}

/// The result for valid arguments. OK unless an exception says otherwise.
int Runner::baseline(const Function& f) {
    check(f, "", "valid", {HOB_RESULT_OK}, [](Call&) {});
    for (const Exception& one : exceptions) {
        if (ends_with(f.name, one.function) && std::strcmp(one.misuse, "valid") == 0) return one.expected;
    }
    return HOB_RESULT_OK;
}

void Runner::run(const Function& f) {
    baseline_ = baselines_[&f] = baseline(f);
    for (size_t n = 0; n < f.count; ++n) {
        const Param& p = f.params[n];
        switch (p.kind) {
            case Kind::handle: handle_cases(f, n); break;
            case Kind::structure:
                pointer_case(f, n);
                if (structs[p.index].is_versioned) struct_cases(f, n);
                break;
            case Kind::handle_out:
            case Kind::numbers:
            case Kind::memory:
            case Kind::callback: pointer_case(f, n); break;
            default: number_cases(f, n);
        }
    }
    if (f.count == 2 && f.params[0].kind == Kind::structure && ends_with(f.name, "_init")) init_cases(f);
    if (world_) spend_world();
}

void Runner::handle_cases(const Function& f, size_t n) {
    const Param& p = f.params[n];
    const Expected refused = {HOB_RESULT_INVALID_ARGUMENT, {handles[p.index].name, p.name}};
    const bool is_nullable = p.null == Null::Allowed;
    check(f, p.name, "NULL handle", is_nullable ? Expected{any} : refused,
          [&](Call& call) { call.arg(n).set(static_cast<void*>(nullptr)); });
    check(f, p.name, "stale handle", refused, [&](Call& call) {
        void* stale = handles[p.index].make(world());
        handles[p.index].destroy(stale);
        call.arg(n).set(stale);
    });
    check(f, p.name, "no handle", refused, [&](Call& call) {
        alignas(64) static const unsigned char zeros[4096] = {};
        call.arg(n).set(static_cast<const void*>(zeros));
    });
    check(f, p.name, "crooked handle", refused, [&](Call& call) {
        call.arg(n).set(static_cast<void*>(static_cast<char*>(world().handle(handles[p.index].name)) + 1));
    });
    for (size_t other = 0; other < std::size(handles); ++other) {
        if (static_cast<int>(other) == p.index) continue;
        check(f, p.name, "handle of another type", refused,
              [&](Call& call) { call.arg(n).set(world().handle(handles[other].name)); });
    }
}

void Runner::pointer_case(const Function& f, size_t n) {
    const Param& p = f.params[n];
    const bool is_required = p.null == Null::Never || p.null == Null::WhenEmpty;
    const Expected refused = {HOB_RESULT_INVALID_ARGUMENT, {p.name, p.type}};
    check(f, p.name, is_required ? "NULL pointer" : "NULL pointer, allowed", is_required ? refused : Expected{baseline_},
          [&](Call& call) { call.arg(n).set(static_cast<void*>(nullptr)); });
    if (p.null == Null::WhenSized) {
        Expected nowhere = refused;
        for (size_t all = 0; all < f.count; ++all) {
            if (f.params[all].null == Null::Protocol) nowhere.names[1] = f.params[all].name;
        }
        check(f, p.name, "nowhere to write the answer", nowhere, [&](Call& call) {
            for (size_t all = 0; all < f.count; ++all) {
                if (all == n || f.params[all].null == Null::Protocol) call.arg(all).set(static_cast<void*>(nullptr));
            }
        });
    }
    if (p.null != Null::WhenEmpty) return;
    check(f, p.name, "NULL pointer to nothing", {baseline_}, [&](Call& call) {
        call.arg(n).set(static_cast<void*>(nullptr));
        for (size_t length = 0; length < f.count; ++length) {
            if (f.params[length].of == static_cast<int>(n)) call.set_integer(length, 0);
        }
    });
}

/// Smallest size that init accepts: that of the first header with the struct.
uint32_t first_size(const Struct& s) {
    for (uint32_t size = 4; s.init != nullptr && size < s.size; ++size) {
        Block block(s.size);
        if (s.init(block.at(), size) == HOB_RESULT_OK) return size;
    }
    return static_cast<uint32_t>(s.size);
}

/// Sizes that no header has, and sizes that an unset field may hold.
std::set<uint32_t> wrong_sizes(const Struct& s) {
    return {0, 1, 4, first_size(s) - 1, 0xcccccccc, 0x7fffffff, UINT32_MAX};
}

void Runner::struct_cases(const Function& f, size_t n) {
    const Param& p = f.params[n];
    const Struct& s = structs[p.index];
    if (ends_with(f.name, "_init")) return;
    const auto set_size = [n](Call& call, uint32_t size) { std::memcpy(call.block(n)->at(), &size, sizeof size); };
    for (const uint32_t size : wrong_sizes(s)) {
        check(f, p.name, "struct of a wrong size", {HOB_RESULT_INVALID_ARGUMENT, {s.name, s.name}},
              [&](Call& call) { set_size(call, size); });
    }
    constexpr uint32_t more = 24;
    const auto grow = [&](Call& call, unsigned char last) {
        const std::string known(reinterpret_cast<const char*>(call.block(n)->at()), s.size);
        Block& longer = call.replace(n, s.size + more);
        std::memset(longer.at(), 0, s.size + more);
        std::memcpy(longer.at(), known.data(), s.size);
        longer.at()[s.size + more - 1] = last;
        set_size(call, static_cast<uint32_t>(s.size) + more);
    };
    check(f, p.name, "struct of a newer header, unused", {baseline_}, [&](Call& call) { grow(call, 0); });
    // Output structs are written up to their known size. The bytes behind do not matter.
    const bool goes_in = p.is_const;
    check(f, p.name, goes_in ? "struct of a newer header, used" : "answer for a newer header",
          {goes_in ? static_cast<int>(HOB_RESULT_UNSUPPORTED) : baseline_}, [&](Call& call) { grow(call, 1); });
    check(f, p.name, "struct of the first header", {s.name[0] == '\0' ? any : baseline_}, [&](Call& call) {
        const uint32_t size = first_size(s);
        call.block(n)->cut(size);
        set_size(call, size);
    });
}

void Runner::init_cases(const Function& f) {
    const Struct& s = structs[f.params[0].index];
    for (const uint32_t size : wrong_sizes(s)) {
        check(f, "size", "init of a wrong size", {HOB_RESULT_INVALID_ARGUMENT, {s.name, s.name}},
              [&](Call& call) { call.set_integer(1, size); });
    }
    const uint32_t first = first_size(s);
    if (first < 8) fail(f, "size", "init of a wrong size", "is accepted down to " + std::to_string(first) + " bytes");
    check(f, "size", "init for the first header", {HOB_RESULT_OK}, [&](Call& call) {
        call.block(0)->cut(first);
        call.set_integer(1, first);
    });
    check(f, "size", "init for a newer header", {HOB_RESULT_OK}, [&](Call& call) {
        (void)call.replace(0, s.size + 24);
        call.set_integer(1, s.size + 24);
    });
}

void Runner::number_cases(const Function& f, size_t n) {
    const Param& p = f.params[n];
    const Expected refused = {HOB_RESULT_INVALID_ARGUMENT};
    if (p.kind == Kind::enumeration) {
        const Enum& e = enums[p.index];
        int64_t last = 0;
        for (size_t value = 0; value < e.count; ++value) {
            if (e.values[value] != e.open_from) last = std::max(last, e.values[value]);
        }
        std::set<uint64_t> wrong = {static_cast<uint64_t>(last) + 1};
        if (e.open_from < 0) wrong.insert({0xcccccccc, 0x7fffffff, UINT32_MAX});
        for (const uint64_t value : wrong) {
            check(f, p.name, "number outside an enum", refused, [&](Call& call) { call.set_integer(n, value); });
        }
    } else if (p.kind == Kind::id) {
        const auto missing = [&](const char* misuse, uint32_t index, uint32_t generation) {
            check(f, p.name, misuse, {HOB_RESULT_NOT_FOUND}, [&](Call& call) {
                const uint32_t id[] = {index, generation};
                std::memcpy(call.arg(n).bytes, id, sizeof id);
            });
        };
        missing("id of nothing", 0, 0);
        missing("id from nowhere", 12345, 6);
        missing("id from nowhere", UINT32_MAX, UINT32_MAX);
        // The id of a removed child has a valid index and another generation.
        check(f, p.name, "stale id", {HOB_RESULT_NOT_FOUND}, [&](Call& call) {
            uint32_t id[2];
            std::memcpy(id, call.arg(n).bytes, sizeof id);
            ++id[1];
            std::memcpy(call.arg(n).bytes, id, sizeof id);
        });
        removed_child_case(f, n);
    } else if (p.kind == Kind::real) {
        check(f, p.name, "NaN", refused, [&](Call& call) { call.arg(n).set(std::nan("")); });
    } else if (p.role == Role::stride) {
        check(f, p.name, "stride that is too small", refused, [&](Call& call) { call.set_integer(n, 1); });
    } else if (p.role == Role::capacity) {
        check(f, p.name, "buffer that is too small", {any}, [&](Call& call) { call.set_integer(n, 0); });
    } else if (p.kind == Kind::string) {
        check(f, p.name, "text that is NULL", refused, [&](Call& call) { call.arg(n).set(hob_str_of(nullptr, 5)); });
        check(f, p.name, "text that is longer than memory", refused,
              [&](Call& call) { call.arg(n).set(hob_str_of("text", SIZE_MAX / 2 + 1)); });
    }
}

bool takes(const Function& f, size_t handle, bool is_const) {
    return f.count > 0 && f.params[0].kind == Kind::handle && f.params[0].index == static_cast<int>(handle) &&
           f.params[0].is_const == is_const;
}

/// The id of a child that a function has removed or ended.
void Runner::removed_child_case(const Function& f, size_t n) {
    for (const Function& end : functions) {
        const bool ends = std::strstr(end.name, "_remove_") != nullptr || std::strstr(end.name, "end_") != nullptr ||
                          ends_with(end.name, "_end");
        if (!ends || end.count < 2 || end.params[1].kind != Kind::id || end.params[1].index != f.params[n].index) continue;
        check(f, f.params[n].name, "id of a removed object", {HOB_RESULT_NOT_FOUND}, [&](Call& call) {
            world().is_for(f.name);
            Call first(table, end, world());
            first.arg(0) = call.arg(0);
            first.arg(1) = call.arg(n);
            MUST_OK(first.make().result());
        });
        spend_world();
    }
}

/// Calls every function that takes a handle, on a poisoned one.
void Runner::poisoned_cases() {
    for (size_t h = 0; h < std::size(handles); ++h) {
        World poisoned(directory_);
        // Some functions need another object of the same type.
        std::set<void*> done;
        for (const Function& f : functions) {
            const bool is_exclusive = takes(f, h, false);
            if (!is_wanted(f) || ends_with(f.name, "_destroy") || (!is_exclusive && !takes(f, h, true))) continue;
            poisoned.is_for(f.name);
            void* const handle = poisoned.handle(handles[h].name);
            if (done.insert(handle).second && !handles[h].poison(poisoned, handle)) {
                if (!handles[h].has_exclusive_calls) break;
                fail(f, "", "poisoned", "World::poison does not poison such a handle");
                break;
            }
            const Expected expected = {is_exclusive ? static_cast<int>(HOB_RESULT_POISONED) : baselines_[&f]};
            make_and_check(poisoned, f, "", is_exclusive ? "poisoned" : "poisoned, to look at", expected, [](Call&) {});
        }
    }
}

/// Calls every function that takes a handle, from inside an exclusive call on it.
void Runner::busy_cases() {
    struct Inside {
        Runner* runner;
        World* world;
        size_t handle;
    };
    for (size_t h = 0; h < std::size(handles); ++h) {
        World busy(directory_);
        busy.is_for("");
        Inside inside = {this, &busy, h};
        const auto run = [](void* data) {
            const auto& [runner, world, type] = *static_cast<Inside*>(data);
            world->is_for("");
            void* const handle = world->handle(handles[type].name);
            for (const Function& f : functions) {
                if (!takes(f, type, false) || !runner->is_wanted(f) || ends_with(f.name, "_destroy")) continue;
                runner->make_and_check(*world, f, "", "busy", {HOB_RESULT_BUSY}, [&](Call& call) { call.arg(0).set(handle); });
            }
        };
        if (handles[h].inside(busy, busy.handle(handles[h].name), run, &inside) || !handles[h].has_exclusive_calls) continue;
        std::printf("FAILED   %s has exclusive calls, and World::inside does not get into one\n", handles[h].name);
        ++failures_;
    }
}

int Runner::run_all() {
    for (const Function& f : functions) {
        if (is_wanted(f)) run(f);
    }
    poisoned_cases();
    busy_cases();
    int all = 0;
    for (const auto& [misuse, count] : cases_) {
        std::printf("%6d  %s\n", count, misuse.c_str());
        all += count;
    }
    for (const Exception& one : exceptions) {
        if (only_.empty() && used_.count(&one) == 0) {
            std::printf("FAILED   the exception for %s, %s is not needed: remove it\n", one.function, one.misuse);
            ++failures_;
        }
    }
    std::printf("functions covered: %zu of %zu\n%d cases, %d failures, %zu exceptions\n", covered_.size(),
                std::size(functions), all, failures_, used_.size());
    if (only_.empty() && covered_.size() != std::size(functions)) ++failures_;
    return failures_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** values) {
    std::string directory = ".", only;
    bool is_verbose = false;
    for (int n = 1; n < count; ++n) {
        const std::string option = values[n];
        if (option == "--directory" && n + 1 < count) {
            directory = values[++n];
        } else if (option == "--only" && n + 1 < count) {
            only = values[++n];
        } else if (option == "--verbose") {
            is_verbose = true;
        } else {
            std::fprintf(stderr, "usage: cases --directory DIR [--only NAME] [--verbose]\n");
            return 2;
        }
    }
    const hob_allocator_hook hook = Memory::hook();
    MUST_OK(hob_set_allocator_hook(&hook));
    return Runner(directory, only, is_verbose).run_all();
}
