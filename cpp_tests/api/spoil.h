// Draws arguments of a call at random: valid ones, and typical mistakes of a host. MIT OR Apache-2.0.
#pragma once

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/arguments.h"

namespace api {

/// Pseudorandom numbers from a seed.
class Dice {
public:
    explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
    uint64_t roll() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ * 0x2545f4914f6cdd1du;
    }
    uint64_t below(uint64_t end) { return (roll() >> 11) % end; }
    bool one_in(uint64_t n) { return below(n) == 0; }
    template <class T>
    T of(std::initializer_list<T> values) {
        return values.begin()[below(values.size())];
    }
    double real();
    /// At most `most`.
    uint64_t integer(uint64_t most);

private:
    uint64_t state_;
};

struct Id {
    uint32_t index1, generation;
};

/// The objects that one thread may use.
struct Pool {
    struct Stale {
        void* at;
        uint64_t freed;
    };
    /// Objects by handle type.
    std::vector<std::vector<void*>> own;
    std::vector<std::vector<Stale>> stale;
    /// Objects that other threads use, too: for const calls only, and for exclusive calls only.
    std::vector<std::vector<void*>> looked_at, fought_for;
    /// Ids by handle and id type.
    std::map<std::pair<void*, int>, std::vector<Id>> ids;
};

/// Changes the valid arguments of a call at random.
class Spoiler {
public:
    Spoiler(const Table& table, World& world, Pool& pool, Dice& dice, bool is_alone)
        : table_(table), world_(world), pool_(pool), dice_(dice), is_alone_(is_alone) {}

    /// Changes the arguments of `call`. The new objects live until the next call of this function.
    void spoil(Call& call);

private:
    void handle(Call& call, size_t n);
    void* some_handle(int type, bool may_look, bool may_fight);
    void id(Call& call, size_t n);
    void memory(Call& call, size_t n);
    void numbers(Call& call, size_t n);
    void length(Call& call, size_t n);
    void structure(Call& call, size_t n);
    void fields(const Struct& s, unsigned char* at, int depth);
    void field(const Struct& s, size_t n, unsigned char* at, int depth);
    hob_str string(const char* name);
    uint64_t integer(const char* name, size_t size);
    uint64_t enumeration(int index);
    unsigned char* keep(size_t size);

    const Table& table_;
    World& world_;
    Pool& pool_;
    Dice& dice_;
    const bool is_alone_;
    /// One argument in `rarity_` is changed, on average.
    uint64_t rarity_ = 8;
    std::vector<std::unique_ptr<Block>> kept_;
};

}  // namespace api
