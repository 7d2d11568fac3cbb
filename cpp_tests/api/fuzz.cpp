// Calls functions of the headers at random. Arguments are valid, stale, NULL, extreme or random.
//
// It detects crashes, hangs, panics, writes behind a buffer, and failures without a message.
//
//   fuzz [--seed S] [--calls N] [--threads T] [--seconds MOST] [--only NAME] [--directory DIR] [--verbose]
//
// Each thread has objects of its own. Threads share some objects for const calls only. They share others for exclusive
// calls, which work or return HOB_RESULT_BUSY. A thread never destroys objects that others use.
//
// The same seed makes the same calls of a thread. If the program crashes, it prints the call.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/spoil.h"
#include "api/table.h"

// Defined if a sanitizer is linked.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using namespace api;

const Table table = {
    functions, std::size(functions), structs, std::size(structs), enums, handles, std::size(handles),
};

struct Options {
    uint64_t seed = 1, calls = 100000, threads = 1, seconds = UINT64_MAX;
    std::string only, directory = ".";
    bool is_verbose = false;
};

constexpr size_t results = 16;
/// Number of calls until all objects are recreated, and limits on the objects of each type per thread.
constexpr uint64_t lifetime = 2000;
constexpr size_t most_objects = 4, most_blobs = 8, most_stale = 16, most_ids = 16;

/// The current call of a thread, for the message at a crash.
struct Place {
    std::atomic<uint64_t> call{0}, begun_ms{0};
    std::atomic<const char*> function{""};
    uint64_t seed = 0, thread = 0;
};
thread_local Place* here = nullptr;

uint64_t now_ms() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

void last_words() {
    if (here == nullptr) return;
    std::fprintf(stderr, "\nseed %llu, thread %llu, call %llu: %s\n", static_cast<unsigned long long>(here->seed),
                 static_cast<unsigned long long>(here->thread), static_cast<unsigned long long>(here->call.load()),
                 here->function.load());
}

void on_signal(int signal) {
    last_words();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

struct Counts {
    std::array<uint64_t, results> by_result{};
    uint64_t calls = 0;
    uint64_t slowest_us = 0;
};

/// State that all threads share.
struct Shared {
    std::unique_ptr<World> looked_at, fought_for;
};

class Actor {
public:
    Actor(const Options& options, uint64_t thread, const Shared& shared)
        : options_(options), directory_(options.directory + "/" + std::to_string(thread)), shared_(shared),
          dice_(options.seed * 1000 + thread), counts_(std::size(functions)) {
        place_.seed = options.seed;
        place_.thread = thread;
        std::filesystem::create_directories(directory_);
    }

    void run(uint64_t calls, uint64_t end_ms);
    const std::vector<Counts>& counts() const { return counts_; }
    Place& place() { return place_; }

private:
    void begin();
    void end();
    void step(bool is_inside);
    bool is_possible(const Function& f) const;
    void learn(Call& call, Answer answer);
    void complain(const Function& f, const char* what) const;
    void hooks_that_need_nothing_alive();

    const Options& options_;
    const std::string directory_;
    const Shared& shared_;
    Dice dice_;
    std::vector<Counts> counts_;
    std::unique_ptr<World> world_;
    Pool pool_;
    std::vector<std::pair<const Struct*, std::vector<unsigned char>>> kept_;
    Place place_;
};

void Actor::begin() {
    world_ = std::make_unique<World>(directory_);
    world_->is_for("");
    pool_ = {};
    for (const Handle& one : handles) {
        pool_.own.push_back({world_->handle(one.name)});
        pool_.stale.emplace_back();
        if (!shared_.looked_at) continue;
        pool_.looked_at.push_back({shared_.looked_at->handle(one.name)});
        pool_.fought_for.push_back({shared_.fought_for->handle(one.name)});
    }
}

void Actor::end() {
    for (auto& [s, bytes] : kept_) s->done(*world_, bytes.data());
    kept_.clear();
    // Destroy types in reverse order.
    for (size_t type = std::size(handles); type-- > 0;) {
        for (size_t n = 1; n < pool_.own[type].size(); ++n) handles[type].destroy(pool_.own[type][n]);
    }
    if (options_.threads == 1) World::reset_hooks();
    world_.reset();
}

void Actor::complain(const Function& f, const char* what) const {
    std::fprintf(stderr, "%s (%s): %s; last error: %s\n", f.name, f.at, what, hob_last_error());
    std::abort();
}

/// Sets the hooks that require that no handle is alive.
void Actor::hooks_that_need_nothing_alive() {
    const hob_allocator_hook hook = Memory::hook();
    for (size_t n = 0; n < std::size(functions); ++n) {
        const Function& f = functions[n];
        if (f.count != 1 || std::strcmp(f.params[0].type, "hob_allocator_hook") != 0 || !f.params[0].is_const) continue;
        Arg argument;
        argument.set(static_cast<const void*>(&hook));
        const hob_result result = f.call(&argument).result();
        if (result != HOB_RESULT_OK) complain(f, "refused while nothing is alive");
        counts_[n].calls++;
        counts_[n].by_result[0]++;
    }
}

/// Excludes functions that set process-wide hooks if several threads run.
bool Actor::is_possible(const Function& f) const {
    if (!options_.only.empty() && std::strstr(f.name, options_.only.c_str()) == nullptr) return false;
    const bool is_global = f.threads == Threads::alone && std::strstr(f.name, "hob_set_") == f.name;
    return options_.threads == 1 || !is_global;
}

void Actor::step(bool is_inside) {
    const size_t n = dice_.below(std::size(functions));
    const Function& f = functions[n];
    if (!is_possible(f)) return;
    place_.function = f.name;
    place_.begun_ms = now_ms();
    Call call(table, f, *world_);
    Spoiler spoiler(table, *world_, pool_, dice_, options_.threads == 1);
    spoiler.spoil(call);
    if (!is_inside && dice_.one_in(20)) {
        world_->on_callback([](void* self) { static_cast<Actor*>(self)->step(true); }, this);
    }
    if (options_.is_verbose) {
        std::printf("%llu %s", static_cast<unsigned long long>(place_.call.load()), f.name);
        for (size_t p = 0; p < f.count; ++p)
            std::printf(" %s=%llx", f.params[p].name, call.arg(p).as<unsigned long long>());
        std::printf("\n");
        std::fflush(stdout);
    }
    const auto begun = std::chrono::steady_clock::now();
    const Answer answer = call.make();
    const auto took = std::chrono::steady_clock::now() - begun;
    if (!is_inside) world_->on_callback(nullptr, nullptr);
    Counts& counts = counts_[n];
    counts.calls++;
    const auto us = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
    counts.slowest_us = std::max(counts.slowest_us, us);
    if (!call.has_canaries()) complain(f, "wrote behind what it was given");
    if (f.returns == Returns::text && answer.text == nullptr) complain(f, "returned NULL");
    if (f.returns == Returns::result) {
        if (std::strcmp(hob_result_name(answer.result()), "HOB_RESULT_UNKNOWN") == 0)
            complain(f, "returned no hob_result");
        const hob_result result = answer.result();
        counts.by_result[static_cast<size_t>(result) % results]++;
        if (result == HOB_RESULT_PANIC || result == HOB_RESULT_POISONED) complain(f, "an internal error");
        if (result != HOB_RESULT_OK && *hob_last_error() == '\0') complain(f, "failed without a sentence");
        if (result == HOB_RESULT_INVALID_ARGUMENT && !call.is_out_unchanged() && !is_inside)
            complain(f, "refused its arguments, and changed what they point to");
    }
    place_.begun_ms = 0;
    learn(call, answer);
}

/// Keeps the results of a call: handles, ids, structs with data of the library.
void Actor::learn(Call& call, Answer answer) {
    const Function& f = call.function();
    if (call.is_destroy()) {
        auto& stale = pool_.stale[static_cast<size_t>(f.params[0].index)];
        void* const at = call.arg(0).as<void*>();
        if (at != nullptr) stale.push_back({at, Memory::get().freed()});
        if (stale.size() > most_stale) stale.erase(stale.begin());
        return;
    }
    if (f.returns != Returns::result || answer.result() != HOB_RESULT_OK) return;
    for (size_t n = 0; n < f.count; ++n) {
        const Param& p = f.params[n];
        if (call.block(n) == nullptr || call.arg(n).as<void*>() != call.block(n)->at()) continue;
        if (p.kind == Kind::handle_out) {
            auto& own = pool_.own[static_cast<size_t>(p.index)];
            if (own.size() < most_objects) own.push_back(call.take_handle(n));
        }
        const Struct* const s = call.structure(n);
        if (s == nullptr || p.is_const) continue;
        if (s->is_id && f.params[0].kind == Kind::handle) {
            auto& ids = pool_.ids[{call.arg(0).as<void*>(), p.index}];
            Id id;
            std::memcpy(&id, call.block(n)->at(), sizeof id);
            ids.push_back(id);
            if (ids.size() > most_ids) ids.erase(ids.begin());
        }
        if (s->keeps_state && !call.is_init() && kept_.size() < most_blobs && dice_.one_in(2)) {
            kept_.emplace_back(s, std::vector<unsigned char>(call.block(n)->at(), call.block(n)->at() + s->size));
            MUST_OK(s->init(call.block(n)->at(), static_cast<uint32_t>(s->size)));
        }
    }
    if (!kept_.empty() && dice_.one_in(100)) {
        kept_.back().first->done(*world_, kept_.back().second.data());
        kept_.pop_back();
    }
}

void Actor::run(uint64_t calls, uint64_t end_ms) {
    here = &place_;
    for (uint64_t n = 0; n < calls && now_ms() < end_ms; ++n) {
        place_.call = n;
        if (n % lifetime == 0) {
            place_.function = "(making the world)";
            if (world_) end();
            if (options_.threads == 1) hooks_that_need_nothing_alive();
            begin();
        }
        step(false);
    }
    place_.function = "(ending the world)";
    if (world_) end();
    here = nullptr;
}

/// Ends the program if a call takes more than a minute.
class Watchdog {
public:
    explicit Watchdog(std::vector<std::unique_ptr<Actor>>& actors) : actors_(actors), thread_([this] { watch(); }) {}
    ~Watchdog() {
        is_done_ = true;
        thread_.join();
    }

private:
    void watch() {
        while (!is_done_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            for (auto& actor : actors_) {
                Place& place = actor->place();
                const uint64_t begun = place.begun_ms;
                if (begun == 0 || now_ms() < begun + 60000) continue;
                std::fprintf(stderr, "a call hangs\n");
                here = &place;
                std::abort();
            }
        }
    }

    std::vector<std::unique_ptr<Actor>>& actors_;
    std::atomic<bool> is_done_{false};
    std::thread thread_;
};

/// Prints a line for each function. Returns whether every function with a result returned OK at least once.
bool print(const std::vector<std::unique_ptr<Actor>>& actors, const Options& options) {
    uint64_t all = 0, worked = 0, could = 0;
    std::string never;
    std::printf("%-45s %9s %9s  other results, slowest\n", "function", "calls", "OK");
    for (size_t n = 0; n < std::size(functions); ++n) {
        Counts sum;
        for (const auto& actor : actors) {
            const Counts& one = actor->counts()[n];
            sum.calls += one.calls;
            sum.slowest_us = std::max(sum.slowest_us, one.slowest_us);
            for (size_t r = 0; r < results; ++r) sum.by_result[r] += one.by_result[r];
        }
        all += sum.calls;
        if (sum.calls == 0 && !options.only.empty()) continue;
        const bool has_result = functions[n].returns == Returns::result;
        std::printf("%-45s %9llu %9llu ", functions[n].name, static_cast<unsigned long long>(sum.calls),
                    static_cast<unsigned long long>(has_result ? sum.by_result[0] : sum.calls));
        for (size_t r = 1; r < results; ++r) {
            if (sum.by_result[r] > 0)
                std::printf(" %s %llu", hob_result_name(static_cast<hob_result>(r)) + sizeof "HOB_RESULT",
                            static_cast<unsigned long long>(sum.by_result[r]));
        }
        std::printf("  %llu us\n", static_cast<unsigned long long>(sum.slowest_us));
        ++could;
        const bool did = has_result ? sum.by_result[0] > 0 : sum.calls > 0;
        worked += did;
        if (!did) never += std::string(" ") + functions[n].name;
    }
    std::printf("%llu calls, seed %llu, %llu threads; %llu of %llu functions worked at least once\n",
                static_cast<unsigned long long>(all), static_cast<unsigned long long>(options.seed),
                static_cast<unsigned long long>(options.threads), static_cast<unsigned long long>(worked),
                static_cast<unsigned long long>(could));
    if (!never.empty()) std::printf("never worked:%s\n", never.c_str());
    return never.empty();
}

Options read(int count, char** values) {
    Options options;
    for (int n = 1; n < count; ++n) {
        const std::string name = values[n];
        if (name == "--verbose") {
            options.is_verbose = true;
            continue;
        }
        const char* value = n + 1 < count ? values[++n] : "";
        const uint64_t number = std::strtoull(value, nullptr, 10);
        if (name == "--seed") {
            options.seed = number;
        } else if (name == "--calls") {
            options.calls = number;
        } else if (name == "--threads") {
            options.threads = std::max<uint64_t>(number, 1);
        } else if (name == "--seconds") {
            options.seconds = number;
        } else if (name == "--only") {
            options.only = value;
        } else if (name == "--directory") {
            options.directory = value;
        } else {
            std::fprintf(stderr,
                         "usage: fuzz [--seed S] [--calls N] [--threads T] [--seconds MOST] [--only NAME] "
                         "[--directory DIR] [--verbose]\n");
            std::exit(2);
        }
    }
    return options;
}

}  // namespace

int main(int count, char** values) {
    Options options = read(count, values);
    // Random relative paths resolve to files in this directory.
    std::filesystem::current_path(options.directory);
    options.directory = std::filesystem::current_path().string();
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(&last_words);
    } else {
        for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, &on_signal);
    }
    std::signal(SIGABRT, &on_signal);
    const hob_allocator_hook hook = Memory::hook();
    MUST_OK(hob_set_allocator_hook(&hook));
    const uint64_t end_ms = options.seconds > 1000000 ? UINT64_MAX : now_ms() + options.seconds * 1000;
    Shared shared;
    if (options.threads > 1) {
        shared.looked_at = std::make_unique<World>(options.directory);
        shared.fought_for = std::make_unique<World>(options.directory);
        shared.looked_at->is_for("");
        shared.fought_for->is_for("");
    }
    std::vector<std::unique_ptr<Actor>> actors;
    for (uint64_t n = 0; n < options.threads; ++n) actors.push_back(std::make_unique<Actor>(options, n, shared));
    {
        const Watchdog watchdog(actors);
        std::vector<std::thread> threads;
        for (uint64_t n = 1; n < options.threads; ++n) {
            threads.emplace_back([&, n] { actors[n]->run(options.calls / options.threads, end_ms); });
        }
        actors[0]->run(options.calls / options.threads, end_ms);
        for (std::thread& thread : threads) thread.join();
    }
    shared = {};
    const bool is_covered = print(actors, options);
    // A short run need not cover every function.
    const bool must_be_covered = options.calls >= 1000000 && options.seconds == UINT64_MAX && options.threads == 1;
    return is_covered || !must_be_covered || !options.only.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
