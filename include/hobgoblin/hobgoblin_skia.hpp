// hobgoblin/hobgoblin_skia.hpp: a hob_program_cache as the persistent cache of a Skia context. MIT OR Apache-2.0.
//
//     hob::SkiaCache<GrContextOptions::PersistentCache, SkData, SkString> shaders{cache};
//     GrContextOptions options;
//     options.fPersistentCache = &shaders;
//
// Skia's types are template parameters, so this includes nothing of Skia and works with any of its versions.
// For an API that takes two C functions and user data see hob_dawn_blob_load in program_cache.h.
#ifndef HOBGOBLIN_SKIA_HPP
#define HOBGOBLIN_SKIA_HPP

#include <cstddef>

#include "program_cache.h"

namespace hob {

/// A persistent cache for Skia.
/// `Base` is GrContextOptions::PersistentCache, `Data` SkData, `Text` SkString.
///
/// The hob_program_cache must outlive it. A load looks in memory only, so call hob_program_cache_wait_idle before Skia
/// compiles. Skia does not report when it uses a shader, so no shader is ever banned. Threads: any.
template <class Base, class Data, class Text> class SkiaCache final : public Base {
public:
    /// A cache of these programs.
    explicit SkiaCache(hob_program_cache* cache) : cache_(cache) {}

    /// The bytes of a key. NULL: none.
    decltype(Data::MakeUninitialized(0)) load(const Data& key) override {
        const std::size_t size = hob_dawn_blob_load(key.data(), key.size(), nullptr, 0, cache_);
        if (size == 0) return nullptr;
        auto found = Data::MakeUninitialized(size);
        if (hob_dawn_blob_load(key.data(), key.size(), found->writable_data(), size, cache_) != size) return nullptr;
        return found;
    }

    /// Stores a copy of the bytes.
    void store(const Data& key, const Data& data, const Text&) override {
        hob_dawn_blob_store(key.data(), key.size(), data.data(), data.size(), cache_);
    }

private:
    hob_program_cache* cache_;
};

} // namespace hob

#endif // HOBGOBLIN_SKIA_HPP
