// The parts of Unreal Engine's Core that packaging/unreal uses, for a test without the engine. `main.cpp` has the bodies.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

using TCHAR = char16_t;
#define TEXT(text) u##text
#define check(condition) ((void)(condition))
#define verify(condition) ((void)(condition))
#define ensure(condition) (!!(condition))
#define THIRD_PARTY_INCLUDES_START
#define THIRD_PARTY_INCLUDES_END
#ifndef PLATFORM_WINDOWS
#define PLATFORM_WINDOWS 0
#endif
#ifndef PLATFORM_MAC
#define PLATFORM_MAC 0
#endif

class FString {
public:
    FString() = default;
    FString(const TCHAR* text) : text_(text) {}
    bool IsEmpty() const { return text_.empty(); }
    const TCHAR* operator*() const { return text_.c_str(); }

private:
    std::u16string text_;
};

FString FromUtf8(const char* text);
#define UTF8_TO_TCHAR(text) FromUtf8(text)

void Log(const char* category, const char* verbosity, const TCHAR* format, ...);
#define DEFINE_LOG_CATEGORY_STATIC(category, standard, compiled) static const char* const category = #category
#define UE_LOG(category, verbosity, format, ...) Log(category, #verbosity, format __VA_OPT__(, ) __VA_ARGS__)

class IModuleInterface {
public:
    virtual ~IModuleInterface() = default;
    virtual void StartupModule() {}
    virtual void ShutdownModule() {}
};

IModuleInterface* TheModule();
#define IMPLEMENT_MODULE(type, name)   \
    IModuleInterface* TheModule() {    \
        static type module;            \
        return &module;                \
    }

struct FModuleManager {
    template <typename Interface>
    static Interface* GetModulePtr(const TCHAR* name) {
        return std::u16string(name) == u"Hobgoblin" ? static_cast<Interface*>(TheModule()) : nullptr;
    }
};

struct FPlatformProcess {
    static void* GetDllHandle(const TCHAR* path);
    static void FreeDllHandle(void* handle);
};

struct FPaths {
    static FString Combine(const FString& folder, const FString& file) {
        return (std::u16string(*folder) + u"/" + *file).c_str();
    }
};

struct IPlugin {
    FString GetBaseDir() const { return u"/game/Plugins/Hobgoblin"; }
};

struct IPluginManager {
    static IPluginManager& Get() {
        static IPluginManager manager;
        return manager;
    }
    std::shared_ptr<IPlugin> FindPlugin(const FString&) { return std::make_shared<IPlugin>(); }
};
