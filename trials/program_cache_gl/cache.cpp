// The library in use: all the code that a host has to write. Either a key per program, `use` around the driver call,
// and `put` after a compile; or a manager, which does all of it.
#include "cache.h"

#include <hobgoblin/fingerprint.h>
#include <hobgoblin/program_cache.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace program_cache_gl {

namespace {

constexpr std::uint64_t memory_limit = std::uint64_t{512} << 20, disk_limit = std::uint64_t{1} << 30;
constexpr std::uint64_t patience_us = 60'000'000; // for the disk: this program has nothing else to do

hob_str text(const std::string& string) { return {string.data(), string.size()}; }

void check(hob_result result) {
    if (result != HOB_RESULT_OK) throw std::runtime_error(hob_last_error());
}

const hob_fingerprint& fingerprint(const Key& key) {
    static_assert(sizeof(Key) == sizeof(hob_fingerprint), "a key is a fingerprint");
    return reinterpret_cast<const hob_fingerprint&>(key);
}

void set(hob_program& program, const Binary& binary) {
    program.format = binary.format;
    program.data = binary.data;
    program.size = binary.size;
    program.reflection = binary.reflection;
    program.reflection_size = binary.reflection_size;
}

// The manager passes pointers to the driver's functions: GL's object numbers travel as pointers.
void* pointer_to(trials::GLuint object) { return reinterpret_cast<void*>(std::uintptr_t{object}); }
trials::GLuint object_of(void* pointer) {
    return static_cast<trials::GLuint>(reinterpret_cast<std::uintptr_t>(pointer));
}

hob_use_outcome outcome_of(Taken taken) {
    switch (taken) {
        case Taken::no: return HOB_USE_OUTCOME_REJECTED;
        case Taken::loaded: return HOB_USE_OUTCOME_UNUSED;
        case Taken::drawn: break;
    }
    return HOB_USE_OUTCOME_OK;
}

struct BlobRelease {
    hob_blob& blob;
    ~BlobRelease() { hob_blob_release(&blob); }
};

} // namespace

struct Cache::Handle {
    hob_program_cache* cache = nullptr;
    ~Handle() { hob_program_cache_destroy(cache); }
};

Cache::Cache(const std::string& directory, const Environment& environment) : handle(std::make_unique<Handle>()) {
    hob_environment identity = HOB_ENVIRONMENT_INIT;
    identity.api = environment.is_es ? HOB_GRAPHICS_API_OPENGL_ES : HOB_GRAPHICS_API_OPENGL;
    identity.vendor = text(environment.vendor);
    identity.device = text(environment.device);
    identity.driver = text(environment.driver);
    identity.build = HOB_STR("program_cache_gl 1"); // a host that changes its shaders' meaning changes this

    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = text(directory);
    desc.environment = &identity;
    desc.memory_limit = memory_limit;
    desc.disk_limit = disk_limit;
    check(hob_program_cache_create(&desc, &handle->cache));
}

Cache::~Cache() = default;

void Cache::load() { check(hob_program_cache_wait_idle(handle->cache, patience_us)); }

Key Cache::key_of(const Program& program) const {
    const hob_program_stage stages[] = {
        {HOB_SHADER_STAGE_VERTEX, 0, program.vertex.data(), program.vertex.size()},
        {HOB_SHADER_STAGE_FRAGMENT, 0, program.fragment.data(), program.fragment.size()},
    };
    hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;
    desc.stages = stages;
    desc.stage_stride = sizeof stages[0];
    desc.stage_count = 2;
    hob_fingerprint print;
    check(hob_fingerprint_hash_program(&desc, &print));
    Key key;
    std::copy(std::begin(print.bytes), std::end(print.bytes), key.bytes.begin());
    return key;
}

Answer Cache::use(const Key& key, const std::function<Taken(const Binary&)>& driver_takes) {
    hob_blob blob = HOB_BLOB_INIT;
    const hob_result found = hob_program_cache_get(handle->cache, &fingerprint(key), &blob);
    if (found == HOB_RESULT_NOT_FOUND) return Answer::miss;
    if (found == HOB_RESULT_BANNED) return Answer::banned;
    check(found);
    const BlobRelease release{blob};
    hob_use_id use = {};
    const hob_result begun = hob_program_cache_begin_use(handle->cache, &fingerprint(key), &use);
    if (begun == HOB_RESULT_BANNED) return Answer::banned;
    check(begun);
    const Taken taken = driver_takes({blob.format, blob.data, blob.size, blob.reflection, blob.reflection_size});
    check(hob_program_cache_end_use(handle->cache, use, outcome_of(taken)));
    return taken == Taken::no ? Answer::rejected : Answer::hit;
}

void Cache::put(const Key& key, const Binary& binary, std::uint64_t build_us) {
    hob_program program = HOB_PROGRAM_INIT;
    set(program, binary);
    program.build_us = build_us;
    check(hob_program_cache_put(handle->cache, &fingerprint(key), &program));
}

void Cache::flush() { check(hob_program_cache_flush(handle->cache, patience_us)); }

struct Manager::Handle {
    hob_program_cache* cache = nullptr;
    hob_program_manager* manager = nullptr;
    ManagedDriver driver;
    hob_use_id use = {};

    ~Handle() {
        end_use(HOB_USE_OUTCOME_UNUSED);
        hob_program_manager_destroy(manager);
    }
    void end_use(hob_use_outcome outcome) {
        const hob_use_id ended = std::exchange(use, hob_use_id{});
        if (ended.index1 != 0) (void)hob_program_cache_end_use(cache, ended, outcome);
    }

    static ManagedDriver& driver_of(void* user_data) { return static_cast<Handle*>(user_data)->driver; }
    static uint32_t compile(void* user_data, void* shader, uint32_t, const void* source, size_t size) {
        return !driver_of(user_data).compile(object_of(shader), {static_cast<const char*>(source), size});
    }
    static uint32_t link(void* user_data, void* program) { return !driver_of(user_data).link(object_of(program)); }
    static uint32_t load(void* user_data, void* program, const hob_blob* blob) {
        return !driver_of(user_data).load(
            object_of(program), {blob->format, blob->data, blob->size, blob->reflection, blob->reflection_size});
    }
    static uint32_t binary(void* user_data, void* program, hob_program* kept) {
        Binary binary;
        if (!driver_of(user_data).binary(object_of(program), binary)) return 1;
        set(*kept, binary);
        return 0;
    }
};

Manager::Manager(const Cache& cache, ManagedDriver driver) : handle(std::make_unique<Handle>()) {
    handle->cache = cache.handle->cache;
    handle->driver = std::move(driver);
    hob_program_callbacks calls = HOB_PROGRAM_CALLBACKS_INIT;
    calls.user_data = handle.get();
    calls.compile = Handle::compile;
    calls.link = Handle::link;
    calls.load = Handle::load;
    calls.get_binary = Handle::binary;
    check(hob_program_manager_create(handle->cache, &calls, &handle->manager));
}

Manager::~Manager() = default;

Manager::Shader Manager::add(bool is_vertex, trials::GLuint object, const std::string& source) {
    hob_shader_id shader = {};
    check(hob_program_manager_add_shader(handle->manager, is_vertex ? HOB_SHADER_STAGE_VERTEX : HOB_SHADER_STAGE_FRAGMENT,
                                         pointer_to(object), &shader));
    check(hob_program_manager_set_source(handle->manager, shader, source.data(), source.size()));
    return {shader.index1, shader.generation};
}

Manager::Compiled Manager::compile(Shader shader) {
    hob_shader_state state = HOB_SHADER_STATE_NOT_COMPILED;
    uint32_t code = 0;
    const hob_result result =
        hob_program_manager_compile(handle->manager, {shader.index, shader.generation}, &state, &code);
    if (code != 0) return Compiled::never;
    check(result);
    return state == HOB_SHADER_STATE_DEFERRED ? Compiled::put_off : Compiled::now;
}

Manager::Linked Manager::link(trials::GLuint program, Shader vertex, Shader fragment) {
    handle->end_use(HOB_USE_OUTCOME_UNUSED);
    const hob_shader_id shaders[] = {{vertex.index, vertex.generation}, {fragment.index, fragment.generation}};
    hob_program_link_desc desc = HOB_PROGRAM_LINK_DESC_INIT;
    desc.program = pointer_to(program);
    desc.shaders = shaders;
    desc.shader_count = 2;
    hob_link_result linked = HOB_LINK_RESULT_INIT;
    const hob_result result = hob_program_manager_link(handle->manager, &desc, &linked);
    handle->use = linked.first_use; // empty unless the program was loaded
    switch (linked.outcome) {
        case HOB_LINK_OUTCOME_LOADED: return Linked::from_cache;
        case HOB_LINK_OUTCOME_COMPILE_FAILED:
        case HOB_LINK_OUTCOME_LINK_FAILED: return Linked::never;
        default: check(result); return Linked::from_sources;
    }
}

void Manager::drawn() { handle->end_use(HOB_USE_OUTCOME_OK); }

void Cache::bind_egl() { check(hob_program_cache_bind_egl(handle->cache)); }
const trials::EglSetBlob Cache::egl_set = hob_egl_blob_set;
const trials::EglGetBlob Cache::egl_get = hob_egl_blob_get;

} // namespace program_cache_gl
