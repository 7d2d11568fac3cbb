#include "api/spoil.h"

#include <algorithm>

namespace api {

double Dice::real() {
    const double infinity = std::numeric_limits<double>::infinity();
    if (!one_in(3)) return static_cast<double>(below(2000)) / 100;
    return of({0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 1e-6, 1e9, 1e10, -1e9, 1e100, 1e300, -1e300, 5e-324, infinity, -infinity,
               std::nan(""), std::numeric_limits<double>::max()});
}

uint64_t Dice::integer(uint64_t most) {
    const uint64_t value = one_in(5) ? of<uint64_t>({UINT64_MAX, UINT32_MAX, INT32_MAX, 1u << 31, 65535, 65536, 4096, 256, 1u << 20})
                           : one_in(3) ? below(100)
                                       : below(4);
    return std::min(value, most);
}

unsigned char* Spoiler::keep(size_t size) {
    kept_.push_back(std::make_unique<Block>(size));
    return kept_.back()->at();
}

uint64_t Spoiler::integer(const char* name, size_t size) {
    const uint64_t most = World::most(name);
    // The library refuses thread counts above its limit, and starts no thread for them.
    if (most == 2 && dice_.one_in(4)) return dice_.of<uint64_t>({64, 65, UINT32_MAX});
    return dice_.integer(size == 4 ? std::min<uint64_t>(most, UINT32_MAX) : most);
}

uint64_t Spoiler::enumeration(int index) {
    const Enum& e = table_.enums[index];
    if (dice_.one_in(16)) return dice_.of<uint64_t>({e.count, e.count + 1, 0xcccccccc, UINT32_MAX});
    return static_cast<uint64_t>(e.values[dice_.below(e.count)]);
}

hob_str Spoiler::string(const char* name) {
    const bool is_path = std::strcmp(name, "path") == 0 || std::strcmp(name, "directory") == 0;
    std::string text;
    switch (dice_.below(12)) {
        case 0: return hob_str_of(nullptr, 0);
        case 1: return hob_str_of(nullptr, dice_.of<size_t>({1, 5, SIZE_MAX}));
        case 2: text = ""; break;
        case 3: text = std::string(300, 'x'); break;
        case 4:
            for (int n = 0; n < 6; ++n) text.push_back(static_cast<char>(dice_.below(256)));
            break;
        default:
            text = (is_path ? world_.directory() + "/" : std::string()) + dice_.of({"a", "b", "c", "task", "setting"});
            if (std::strcmp(name, "directory") == 0) text += "-cache";
    }
    if (!is_path || text.rfind(world_.directory(), 0) != 0) std::replace(text.begin(), text.end(), '/', '_');
    unsigned char* const at = keep(text.size() + 1);
    std::memcpy(at, text.c_str(), text.size() + 1);
    return hob_str_of(reinterpret_cast<const char*>(at), dice_.one_in(8) ? SIZE_MAX : text.size());
}

void* Spoiler::some_handle(int type, bool may_look, bool may_fight) {
    const auto index = static_cast<size_t>(type);
    const auto pick = [&](const std::vector<void*>& from) { return from[dice_.below(from.size())]; };
    if (dice_.one_in(3 * rarity_)) return nullptr;
    if (dice_.one_in(3 * rarity_) && !pool_.stale[index].empty()) {
        const Pool::Stale& one = pool_.stale[index][dice_.below(pool_.stale[index].size())];
        if (Memory::get().keeps(one.freed)) return one.at;
    }
    if (dice_.one_in(6 * rarity_)) return pick(pool_.own[dice_.below(table_.handle_count)]);
    if (!is_alone_ && (may_look || may_fight) && dice_.one_in(2))
        return pick(may_look && (!may_fight || dice_.one_in(2)) ? pool_.looked_at[index] : pool_.fought_for[index]);
    return pick(pool_.own[index]);
}

void Spoiler::handle(Call& call, size_t n) {
    const Param& p = call.param(n);
    const Function& f = call.function();
    if (call.is_destroy()) {
        // Destroy only objects that no other thread uses. The first of each type belongs to the world.
        auto& own = pool_.own[static_cast<size_t>(p.index)];
        if (own.size() > 1 && dice_.one_in(2)) {
            const size_t place = 1 + dice_.below(own.size() - 1);
            call.arg(n).set(own[place]);
            own.erase(own.begin() + static_cast<std::ptrdiff_t>(place));
        } else if (dice_.one_in(3)) {
            void* const at = some_handle(p.index, false, false);
            const auto is_live = [&](const std::vector<void*>& list) { return std::find(list.begin(), list.end(), at) != list.end(); };
            bool may_be_passed = true;
            for (size_t type = 0; type < table_.handle_count; ++type) {
                const bool is_same = static_cast<int>(type) == p.index;
                may_be_passed &= (is_alone_ || !is_live(pool_.looked_at[type])) && !(is_same && is_live(pool_.own[type]));
            }
            if (may_be_passed) call.arg(n).set(at);
        }
        return;
    }
    if (!dice_.one_in(2)) return;
    // Handles that other threads use: allowed for const calls that several threads may make, for exclusive calls, and
    // for calls of any thread at any time.
    const bool is_any = f.threads == Threads::any;
    const bool may_look = p.is_const && (is_any || f.threads == Threads::shared || n > 0);
    const bool may_fight = p.is_const ? is_any : f.threads == Threads::exclusive;
    call.arg(n).set(some_handle(p.index, may_look, may_fight));
}

void Spoiler::id(Call& call, size_t n) {
    if (dice_.one_in(3)) return;
    const auto found = pool_.ids.find({call.arg(0).as<void*>(), call.param(n).index});
    Id id = {static_cast<uint32_t>(dice_.below(4)), static_cast<uint32_t>(dice_.below(4))};
    if (found != pool_.ids.end() && !found->second.empty() && !dice_.one_in(rarity_))
        id = found->second[dice_.below(found->second.size())];
    call.arg(n).set(id);
}

void Spoiler::memory(Call& call, size_t n) {
    const Param& p = call.param(n);
    if (!p.is_const || dice_.one_in(2)) return;
    std::string bytes = world_.bytes();
    if (dice_.one_in(2)) bytes.resize(dice_.below(bytes.size() + 1));
    for (uint64_t flips = dice_.below(3); flips > 0 && !bytes.empty(); --flips)
        bytes[dice_.below(bytes.size())] = static_cast<char>(dice_.below(256));
    if (dice_.one_in(4)) bytes += bytes;
    std::memcpy(call.replace(n, bytes.size()).at(), bytes.data(), bytes.size());
    for (size_t length = 0; length < call.function().count; ++length) {
        if (call.param(length).of == static_cast<int>(n)) call.set_integer(length, bytes.size());
    }
}

void Spoiler::numbers(Call& call, size_t n) {
    const Param& p = call.param(n);
    if (!p.is_const) return;
    for (size_t element = 0; element < call.elements(n); ++element) {
        unsigned char* const at = call.block(n)->at() + element * p.size;
        const double real = dice_.real();
        const uint64_t integer = dice_.integer(UINT64_MAX);
        if (std::strcmp(p.type, "double") == 0) {
            std::memcpy(at, &real, sizeof real);
        } else {
            std::memcpy(at, &integer, p.size);
        }
    }
}

static bool has_text(const Struct& s) {
    return std::any_of(s.fields, s.fields + s.field_count, [](const Field& field) { return field.kind == Kind::string; });
}

void Spoiler::length(Call& call, size_t n) {
    const Param& p = call.param(n);
    if (p.of < 0 || call.is_init()) {
        call.set_integer(n, call.is_init() ? dice_.of<uint64_t>({0, 1, 4, p.size, UINT32_MAX}) : integer(p.name, p.size));
        return;
    }
    const auto of = static_cast<size_t>(p.of);
    const size_t element = call.param(of).size;
    // Never more than the block holds: eight elements fit at twice their size.
    const size_t most = call.param(of).kind == Kind::memory ? call.elements(of) : std::min<size_t>(call.elements(of), 8);
    if (call.param(of).kind == Kind::memory && call.param(of).is_const) return;
    if (p.role == Role::stride) {
        // Between two elements, a text would be a wild pointer, which no library can refuse.
        const uint64_t odd = call.structure(of) != nullptr && has_text(*call.structure(of)) ? element : element + 8;
        call.set_integer(n, dice_.of<uint64_t>({0, 1, element, element, odd, 2 * element}));
    } else {
        call.set_integer(n, dice_.below((p.role == Role::capacity ? call.elements(of) : most) + 1));
    }
    if (std::strcmp(p.type, "ptrdiff_t") == 0 && dice_.one_in(8)) call.set_integer(n, UINT64_MAX - dice_.below(100));
}

void Spoiler::structure(Call& call, size_t n) {
    const Struct& s = *call.structure(n);
    const Param& p = call.param(n);
    unsigned char* at = call.block(n)->at();
    if (call.is_init() || (s.keeps_state && !p.is_const)) return;
    if (p.is_const) {
        for (size_t element = 0; element < std::min<size_t>(call.elements(n), 8); ++element) {
            if (!dice_.one_in(3)) fields(s, at + element * p.size, 0);
        }
    }
    if (!s.is_versioned || !dice_.one_in(2 * rarity_)) return;
    uint32_t size = 0;
    switch (dice_.below(3)) {
        case 0: size = dice_.of<uint32_t>({0, 1, 4, 4097, 0xcccccccc, UINT32_MAX}); break;
        // A size at a field boundary: no header's size splits a pointer.
        case 1: size = static_cast<uint32_t>(dice_.below(s.size / 8 + 1) * 8); break;
        default: {
            const std::string known(reinterpret_cast<const char*>(at), s.size);
            at = call.replace(n, s.size + 24).at();
            std::memset(at, 0, s.size + 24);
            std::memcpy(at, known.data(), s.size);
            at[s.size + dice_.below(24)] = static_cast<unsigned char>(dice_.below(2));
            size = static_cast<uint32_t>(s.size) + 24;
        }
    }
    std::memcpy(at, &size, sizeof size);
}

void Spoiler::fields(const Struct& s, unsigned char* at, int depth) {
    for (uint64_t spoiled = 1 + dice_.below(4); spoiled > 0; --spoiled) {
        const size_t n = dice_.below(s.field_count);
        if (!(s.is_versioned && n == 0)) field(s, n, at, depth);
    }
}

/// Changes a field of the struct at `at`. A new length never exceeds the memory behind it.
void Spoiler::field(const Struct& s, size_t n, unsigned char* at, int depth) {
    const Field& f = s.fields[n];
    unsigned char* const to = at + f.offset;
    void* pointer = nullptr;
    const auto put = [to](auto value) { std::memcpy(to, static_cast<const void*>(&value), sizeof value); };
    const auto put_integer = [&](uint64_t value) { std::memcpy(to, &value, std::min(f.size, sizeof value)); };
    switch (f.kind) {
        case Kind::real: put(dice_.real()); break;
        case Kind::enumeration: put_integer(enumeration(f.index)); break;
        case Kind::integer:
            if (f.count > 1) {
                for (size_t byte = 0; byte < f.size; ++byte) to[byte] = static_cast<unsigned char>(dice_.below(256));
            } else if (f.role == Role::stride) {
                if (dice_.one_in(rarity_)) put_integer(dice_.below(2));
            } else if (f.role != Role::none) {
                uint64_t now = 0;
                std::memcpy(&now, to, std::min(f.size, sizeof now));
                put_integer(dice_.below(now + 1));
            } else if (std::strncmp(f.name, "reserved", 8) != 0 || dice_.one_in(rarity_)) {
                put_integer(integer(f.name, f.size));
            }
            break;
        case Kind::callback:
        case Kind::handle_out:
            if (dice_.one_in(rarity_)) put(pointer);
            break;
        case Kind::handle:
            // The callee keeps a handle in a struct. Use one of this thread that lives long enough.
            pointer = dice_.one_in(2) ? nullptr : pool_.own[static_cast<size_t>(f.index)][0];
            put(pointer);
            break;
        case Kind::string: put(string(f.name)); break;
        case Kind::embedded:
            if (table_.structs[f.index].field_count > 0) {
                const size_t size = f.size / f.count;
                fields(table_.structs[f.index], to + dice_.below(f.count) * size, depth);
            }
            break;
        case Kind::structure: {
            const Struct& inner = table_.structs[f.index];
            std::memcpy(&pointer, to, sizeof pointer);
            if (pointer != nullptr && dice_.one_in(rarity_)) {
                pointer = nullptr;
                put(pointer);
            }
            if (pointer != nullptr || inner.init == nullptr || depth > 1 || dice_.one_in(2)) break;
            unsigned char* const made = keep(inner.size);
            MUST_OK(inner.init(made, static_cast<uint32_t>(inner.size)));
            if (inner.fill != nullptr) inner.fill(world_, made);
            if (dice_.one_in(2)) fields(inner, made, depth + 1);
            pointer = made;
            put(pointer);
            break;
        }
        case Kind::memory: {
            const bool has_size = n + 1 < s.field_count && s.fields[n + 1].role == Role::size;
            if (!has_size) break;
            // Set the size first: it never exceeds the memory behind the pointer.
            uint64_t size = dice_.below(64);
            std::memcpy(at + s.fields[n + 1].offset, &size, s.fields[n + 1].size);
            if (!dice_.one_in(rarity_)) pointer = keep(64);
            put(pointer);
            break;
        }
        case Kind::numbers:
            if (dice_.one_in(rarity_)) put(pointer);
            break;
        case Kind::id: {
            const Id id = {static_cast<uint32_t>(dice_.below(4)), static_cast<uint32_t>(dice_.below(4))};
            put(id);
            break;
        }
        case Kind::user_data: break;
    }
}

void Spoiler::spoil(Call& call) {
    kept_.clear();
    rarity_ = dice_.of<uint64_t>({4, 8, 32, 1000});
    const bool is_careful = dice_.one_in(3);
    for (size_t n = 0; n < call.function().count; ++n) {
        const Param& p = call.param(n);
        const bool is_pointer = p.kind == Kind::structure || p.kind == Kind::numbers || p.kind == Kind::memory ||
                                p.kind == Kind::handle_out || p.kind == Kind::callback;
        if (p.kind == Kind::handle) handle(call, n);
        if (p.kind == Kind::id) id(call, n);
        if (is_careful) continue;
        if (is_pointer && dice_.one_in(2 * rarity_)) {
            call.arg(n).set(static_cast<void*>(nullptr));
            continue;
        }
        if (!dice_.one_in(2)) continue;
        switch (p.kind) {
            case Kind::structure: structure(call, n); break;
            case Kind::numbers: numbers(call, n); break;
            case Kind::memory: memory(call, n); break;
            case Kind::string: call.arg(n).set(string(p.name)); break;
            case Kind::enumeration: call.set_integer(n, enumeration(p.index)); break;
            case Kind::real: call.arg(n).set(dice_.real()); break;
            case Kind::integer:
                if (p.role == Role::none) {
                    call.set_integer(n, integer(p.name, p.size));
                } else {
                    length(call, n);
                }
                break;
            default: break;
        }
    }
}

}  // namespace api
