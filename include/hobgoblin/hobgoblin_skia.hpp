// hobgoblin/hobgoblin_skia.hpp: A hob_program_cache as the persistent cache of a Skia context. MIT OR Apache-2.0.
//
//     hob::SkiaCache<GrContextOptions::PersistentCache, SkData, SkString> shaders{cache};
//     GrContextOptions options;
//     options.fPersistentCache = &shaders;
//
// Skia's types are parameters: nothing of Skia is included here, and none of its versions is asked for. What one call
// with user data can do without a class is in program_cache.h: hob_dawn_blob_load and hob_egl_blob_get.
#ifndef HOBGOBLIN_SKIA_HPP
#define HOBGOBLIN_SKIA_HPP

#include <cstddef>

#include "program_cache.h"

namespace hob {

/// `Base` is GrContextOptions::PersistentCache, `Data` SkData, `Text` SkString. The cache must outlive it; what it loads
/// comes from memory, so give the cache its time before Skia compiles (hob_program_cache_wait_idle). Skia does not say when it
/// uses a shader, so none is ever banned (hob_program_cache_use_begin). Threads: any.
template <class Base, class Data, class Text> class SkiaCache final : public Base {
public:
    explicit SkiaCache(hob_program_cache* cache) : cache_(cache) {}

    decltype(Data::MakeUninitialized(0)) load(const Data& key) override {
        const std::size_t size = hob_dawn_blob_load(key.data(), key.size(), nullptr, 0, cache_);
        if (size == 0) return nullptr;
        auto found = Data::MakeUninitialized(size);
        if (hob_dawn_blob_load(key.data(), key.size(), found->writable_data(), size, cache_) != size) return nullptr;
        return found;
    }

    void store(const Data& key, const Data& data, const Text&) override {
        hob_dawn_blob_store(key.data(), key.size(), data.data(), data.size(), cache_);
    }

private:
    hob_program_cache* cache_;
};

} // namespace hob

#endif // HOBGOBLIN_SKIA_HPP
