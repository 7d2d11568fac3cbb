#include "api/arguments.h"

#include <algorithm>
#include <string>

namespace api {

bool ends_with(const char* name, const char* end) {
    const size_t size = std::strlen(name), part = std::strlen(end);
    return size >= part && std::strcmp(name + size - part, end) == 0;
}

Block::Block(size_t size) : size_(size), whole_(size + margin), bytes_(new unsigned char[size + margin]) {
    std::memset(bytes_.get(), canary, whole_);
    remember();
}

bool Block::has_canary() const {
    return std::all_of(bytes_.get() + size_, bytes_.get() + whole_, [](unsigned char byte) { return byte == canary; });
}

void Block::cut(size_t size) {
    size_ = std::min(size_, size);
    std::memset(bytes_.get() + size_, canary, whole_ - size_);
    remember();
}

Call::Call(const Table& table, const Function& function, World& world)
    : table_(table), function_(function), world_(world) {
    if (function.count > most) give_up(__FILE__, __LINE__, "a function with more than 16 parameters");
    world.is_for(function.name);
    for (size_t n = 0; n < function.count; ++n) make_argument(n);
    // A length needs the array that it belongs to.
    for (size_t n = 0; n < function.count; ++n) {
        const Param& p = param(n);
        if (p.role == Role::none) continue;
        if (p.of < 0) {
            set_integer(n, static_cast<uint64_t>(world.number(p.name)));
            continue;
        }
        const auto of = static_cast<size_t>(p.of);
        const Struct* s = structure(of);
        const size_t element = param(of).size;
        const bool has_bytes = param(of).kind == Kind::memory && param(of).is_const;
        const uint64_t value = is_init()                    ? s->size
                               : p.role == Role::stride     ? world.stride(p.name, element)
                               : p.role == Role::capacity   ? elements_[of]
                               : p.role == Role::size       ? (has_bytes ? world.bytes().size() : elements_[of])
                                                            : 2;
        set_integer(n, value);
    }
}

Call::~Call() {
    const bool worked = was_made_ && function_.returns == Returns::result && result_ == HOB_RESULT_OK;
    for (size_t n = 0; n < function_.count; ++n) {
        const Param& p = param(n);
        if (!blocks_[n]) continue;
        if (p.kind == Kind::handle_out && worked) {
            void* made = nullptr;
            std::memcpy(&made, blocks_[n]->at(), sizeof made);
            if (args_[n].as<void*>() == blocks_[n]->at()) table_.handles[p.index].destroy(made);
        }
        const Struct* s = structure(n);
        if (s != nullptr && s->keeps_state && !is_init()) s->done(world_, blocks_[n]->at());
    }
    const bool is_destroyed = was_made_ && args_[0].as<void*>() == doomed_;
    if (doomed_ != nullptr && !is_destroyed) table_.handles[param(0).index].destroy(doomed_);
}

Answer Call::make() {
    for (size_t n = 0; n < function_.count; ++n) {
        if (blocks_[n]) blocks_[n]->remember();
    }
    was_made_ = true;
    const Answer answer = function_.call(args_);
    if (function_.returns == Returns::result) result_ = answer.result();
    return answer;
}

void* Call::take_handle(size_t n) {
    void* made = nullptr;
    std::memcpy(&made, blocks_[n]->at(), sizeof made);
    std::memset(blocks_[n]->at(), 0, sizeof made);
    return made;
}

const Struct* Call::structure(size_t n) const {
    const Param& p = param(n);
    return p.kind == Kind::structure ? &table_.structs[p.index] : nullptr;
}

bool Call::is_init() const {
    return ends_with(function_.name, "_init") && function_.count == 2 && param(0).kind == Kind::structure;
}

bool Call::is_destroy() const {
    return ends_with(function_.name, "_destroy") && function_.count == 1 && param(0).kind == Kind::handle;
}

bool Call::is_array(size_t n) const {
    for (size_t length = n + 1; length < function_.count; ++length) {
        if (param(length).of == static_cast<int>(n) && !is_init()) return true;
    }
    return false;
}

Block& Call::replace(size_t n, size_t size) {
    blocks_[n] = std::make_unique<Block>(size);
    args_[n].set(static_cast<void*>(blocks_[n]->at()));
    return *blocks_[n];
}

void Call::set_integer(size_t n, uint64_t value) {
    std::memset(args_[n].bytes, 0, sizeof args_[n].bytes);
    std::memcpy(args_[n].bytes, &value, std::min(sizeof value, param(n).size));
}

void Call::make_array(size_t n, bool is_array) {
    constexpr size_t many = 64, bytes = 65536;
    const Param& p = param(n);
    elements_[n] = !is_array ? 1 : p.kind == Kind::memory ? bytes : many;
    // Room for a stride of twice the element's size.
    Block& block = replace(n, elements_[n] * p.size * (is_array && p.kind != Kind::memory ? 2 : 1));
    if (p.kind == Kind::memory) {
        if (!p.is_const) return;
        const std::string& some = world_.bytes();
        elements_[n] = some.size();
        std::memcpy(replace(n, some.size()).at(), some.data(), some.size());
        return;
    }
    for (size_t element = 0; element < elements_[n]; ++element) {
        unsigned char* at = block.at() + element * p.size;
        const Struct* s = structure(n);
        if (s != nullptr) {
            if (is_init() || (!p.is_const && !s->is_versioned)) continue;
            std::memset(at, 0, p.size);
            if (s->is_versioned && s->init == nullptr) std::memcpy(at, &p.size, sizeof(uint32_t));
            if (s->is_versioned && s->init != nullptr) MUST_OK(s->init(at, static_cast<uint32_t>(s->size)));
            if (p.is_const && s->fill != nullptr) s->fill(world_, at);
        } else if (p.is_const && std::strcmp(p.type, "double") == 0) {
            const auto value = static_cast<double>(element);
            std::memcpy(at, &value, sizeof value);
        } else if (p.is_const) {
            std::memset(at, 0, p.size);
        }
    }
}

void Call::make_argument(size_t n) {
    const Param& p = param(n);
    switch (p.kind) {
        case Kind::handle:
            if (is_destroy()) doomed_ = table_.handles[p.index].make(world_);
            args_[n].set(is_destroy() ? doomed_ : world_.handle(table_.handles[p.index].name));
            break;
        case Kind::handle_out:
            (void)replace(n, sizeof(void*));
            break;
        case Kind::structure:
        case Kind::numbers:
        case Kind::memory:
            make_array(n, is_array(n));
            break;
        case Kind::user_data:
            args_[n].set(static_cast<void*>(&world_));
            break;
        case Kind::callback:
            args_[n].set(p.callback);
            break;
        case Kind::string: {
            const hob_str text = world_.text(p.name);
            (void)std::memcpy(replace(n, text.len).at(), text.data, text.len);
            const auto* at = reinterpret_cast<const char*>(blocks_[n]->at());
            args_[n].set(hob_str_of(at, text.len));
            break;
        }
        case Kind::id:
            table_.structs[p.index].fill(world_, args_[n].bytes);
            break;
        case Kind::enumeration:
            set_integer(n, static_cast<uint64_t>(table_.enums[p.index].values[0]));
            break;
        case Kind::integer:
            if (p.role == Role::none) set_integer(n, static_cast<uint64_t>(world_.number(p.name)));
            break;
        case Kind::real: {
            const double value = world_.real(p.name);
            args_[n].set(value);
            break;
        }
        case Kind::embedded:
            give_up(__FILE__, __LINE__, "a struct by value that is not an id: add it to api::Call::make_argument");
    }
}

bool Call::is_out_unchanged() const {
    for (size_t n = 0; n < function_.count; ++n) {
        if (blocks_[n] && !blocks_[n]->is_unchanged()) return false;
    }
    return true;
}

bool Call::has_canaries() const {
    for (size_t n = 0; n < function_.count; ++n) {
        if (blocks_[n] && !blocks_[n]->has_canary()) return false;
    }
    return true;
}

}  // namespace api
