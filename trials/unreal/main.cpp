// Starts and ends the module of packaging/unreal twice, and uses the library between. Prints what the engine would see.
#include "Hobgoblin.h"

#include <cstdarg>
#include <cstdlib>
#include <cstring>

static std::string narrow(const TCHAR* text) {
    std::string narrow;
    for (; *text; ++text) narrow += static_cast<char>(*text);
    return narrow;
}

FString FromUtf8(const char* text) {
    std::u16string wide;
    for (; *text; ++text) wide += static_cast<TCHAR>(*text);
    return wide.c_str();
}

void Log(const char* category, const char* verbosity, const TCHAR* format, ...) {
    std::printf("%s %s: ", category, verbosity);
    va_list arguments;
    va_start(arguments, format);
    for (const TCHAR* at = format; *at; ++at) {
        if (at[0] == u'%' && at[1] == u's') {
            std::printf("%s", narrow(va_arg(arguments, const TCHAR*)).c_str());
            ++at;
        } else if (at[0] == u'%' && at[1] == u'u') {
            std::printf("%u", va_arg(arguments, unsigned));
            ++at;
        } else {
            std::putchar(static_cast<char>(*at));
        }
    }
    va_end(arguments);
    std::putchar('\n');
}

static int library;

void* FPlatformProcess::GetDllHandle(const TCHAR* path) {
    std::printf("load %s\n", narrow(path).c_str());
    return std::getenv("NO_LIBRARY") ? nullptr : &library;
}

void FPlatformProcess::FreeDllHandle(void* handle) { std::printf("free %s\n", handle == &library ? "it" : "another"); }

int main() {
    for (int run = 0; run < 2; ++run) {
        TheModule()->StartupModule();
        std::printf("loaded %d\n", IHobgoblin::IsLoaded());
        if (IHobgoblin::IsLoaded()) {
            // A goblin without any limit: a warning in the log.
            hob::Goblin goblin{hob::GoblinOptions{}};
            goblin.add("shadows", {0, 4, 6, 7});
            for (int i = 0; i < 10; ++i) goblin.update();
        }
        TheModule()->ShutdownModule();
        std::printf("loaded %d\n", IHobgoblin::IsLoaded());
    }
}
