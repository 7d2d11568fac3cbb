// Records the shader programs that an OpenGL application builds: their names, their order, the sizes of their binaries
// and the costs of their builds. It is preloaded between the application and its driver.
//
//     cc -O2 -shared -fPIC -o record.so record.c -ldl
//     PROGRAM_TRACE=out.txt MESA_SHADER_CACHE_DISABLE=true LD_PRELOAD=$PWD/record.so some-game
//
// Appends lines to the file. Times and costs are in microseconds. Costs are CPU time of the calling thread, so that
// other load on the machine does not count. A program's name is a hash of the sources of its shaders and of the bound
// locations.
//
//     L at program bytes compile link    a link request; costs of compiling all its shaders and of the link itself
//     D at program draw                  the first draw call with the program; drivers compile there what they deferred
//     U at program                       the program is used again after a frame without it
//     F at frames                        written at the end
//
// Limits: Linux only. Contexts that share nothing use the same numbers; a number means the program that was linked last
// under it. Locks separate the lines of different threads, but not their calls.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COMPILE_STATUS = 0x8B81, LINK_STATUS = 0x8B82, SOURCE_LENGTH = 0x8B88, BINARY_LENGTH = 0x8741, RETRIEVABLE_HINT = 0x8257 };
enum { MOST_NAMES = 1 << 16, MOST_SHADERS = 8 };

struct shader {
    uint64_t source;
    uint64_t compile_us;
};

struct program {
    uint64_t name;
    uint64_t bindings;
    uint64_t last_frame;
    char drawn;
};

static struct shader shaders[MOST_NAMES];
static struct program programs[MOST_NAMES];
static uint64_t frame = 1;
static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread unsigned current;

static uint64_t microseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000u;
}

static uint64_t now_us(void) { return microseconds(CLOCK_MONOTONIC); }
// Mesa's software drivers compile on the calling thread.
static uint64_t spent_us(void) { return microseconds(CLOCK_THREAD_CPUTIME_ID); }

// FNV-1a.
static uint64_t hash(uint64_t state, const void *bytes, size_t count) {
    const unsigned char *next = bytes;
    for (size_t i = 0; i < count; i++) state = (state ^ next[i]) * 0x100000001B3u;
    return state;
}

static uint64_t hash_of(const void *bytes, size_t count) { return hash(0xCBF29CE484222325u, bytes, count); }

static struct shader *shader_at(unsigned id) { return &shaders[id % MOST_NAMES]; }
static struct program *program_at(unsigned id) { return &programs[id % MOST_NAMES]; }

// Opened by the first line, so that helper processes that draw nothing create no file.
static void open_out(void) {
    const char *path = getenv("PROGRAM_TRACE");
    if (out || !path) return;
    out = fopen(path, "a");
    if (out) setvbuf(out, NULL, _IOLBF, 0);
}

#define WRITE(...)                          \
    do {                                    \
        pthread_mutex_lock(&lock);          \
        open_out();                         \
        if (out) fprintf(out, __VA_ARGS__); \
        pthread_mutex_unlock(&lock);        \
    } while (0)

// The replaced functions.

typedef void *(*get_proc)(const char *);
static get_proc real_get_proc;

// Other constructors may run before the one of this library.
static void *real_dlsym(void *library, const char *name) {
    static void *(*real)(void *, const char *);
    if (!real) *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    return real(library, name);
}

static void *real(const char *name) {
    void *found = real_dlsym(RTLD_NEXT, name);
    if (!found && real_get_proc) found = real_get_proc(name);
    return found;
}

// The driver's function of that name. It is looked up once.
#define REAL(type, name, parameters)                    \
    static type(*name##_) parameters;                   \
    if (!name##_) *(void **)&name##_ = real(#name);

static int query(const char *name, unsigned id, unsigned what) {
    void (*ask)(unsigned, unsigned, int *);
    int value = 0;
    *(void **)&ask = real(name);
    if (ask) ask(id, what, &value);
    return value;
}

// Shaders and programs.

void glCompileShader(unsigned shader) {
    REAL(void, glCompileShader, (unsigned))
    REAL(void, glGetShaderSource, (unsigned, int, int *, char *))
    uint64_t start = spent_us();
    glCompileShader_(shader);
    // The query waits for the compilation.
    query("glGetShaderiv", shader, COMPILE_STATUS);
    uint64_t compile_us = spent_us() - start;
    int length = query("glGetShaderiv", shader, SOURCE_LENGTH), got = 0;
    char *source = malloc((size_t)length + 1);
    if (!source) return;
    glGetShaderSource_(shader, length + 1, &got, source);
    *shader_at(shader) = (struct shader){hash_of(source, (size_t)got), compile_us};
    free(source);
}

// The order of the bindings does not matter.
static void bind_location(unsigned program, const char *name, unsigned location) {
    program_at(program)->bindings += hash(hash_of(name, strlen(name)), &location, sizeof location);
}

void glBindAttribLocation(unsigned program, unsigned location, const char *name) {
    REAL(void, glBindAttribLocation, (unsigned, unsigned, const char *))
    bind_location(program, name, location);
    glBindAttribLocation_(program, location, name);
}

void glBindFragDataLocation(unsigned program, unsigned location, const char *name) {
    REAL(void, glBindFragDataLocation, (unsigned, unsigned, const char *))
    bind_location(program, name, location | 0x10000u);
    glBindFragDataLocation_(program, location, name);
}

void glLinkProgram(unsigned program) {
    REAL(void, glLinkProgram, (unsigned))
    REAL(void, glProgramParameteri, (unsigned, unsigned, int))
    REAL(void, glGetAttachedShaders, (unsigned, int, int *, unsigned *))
    unsigned attached[MOST_SHADERS];
    int count = 0;
    glGetAttachedShaders_(program, MOST_SHADERS, &count, attached);
    struct program *at = program_at(program);
    uint64_t sources = 0, compile_us = 0;
    for (int i = 0; i < count; i++) {
        sources += shader_at(attached[i])->source;
        compile_us += shader_at(attached[i])->compile_us;
    }
    uint64_t name = hash(hash_of(&sources, sizeof sources), &at->bindings, sizeof at->bindings);
    if (glProgramParameteri_) glProgramParameteri_(program, RETRIEVABLE_HINT, 1);
    uint64_t asked_us = now_us(), start = spent_us();
    glLinkProgram_(program);
    int linked = query("glGetProgramiv", program, LINK_STATUS);
    uint64_t link_us = spent_us() - start;
    *at = (struct program){name, at->bindings, 0, 0};
    int bytes = linked ? query("glGetProgramiv", program, BINARY_LENGTH) : 0;
    if (linked) WRITE("L %lu %016lx %d %lu %lu\n", asked_us, name, bytes, compile_us, link_us);
}

void glUseProgram(unsigned program) {
    REAL(void, glUseProgram, (unsigned))
    glUseProgram_(program);
    current = program;
    struct program *at = program_at(program);
    if (!program || !at->name) return;
    if (at->last_frame + 1 < frame) WRITE("U %lu %016lx\n", now_us(), at->name);
    at->last_frame = frame;
}

// Draw calls.

static uint64_t before_draw(void) {
    REAL(void, glFinish, (void))
    if (!current || !program_at(current)->name || program_at(current)->drawn) return 0;
    glFinish_();
    return spent_us();
}

static void after_draw(uint64_t start) {
    if (!start) return;
    program_at(current)->drawn = 1;
    WRITE("D %lu %016lx %lu\n", now_us(), program_at(current)->name, spent_us() - start);
}

#define DRAW(name, parameters, arguments) \
    void name parameters {                \
        REAL(void, name, parameters)      \
        uint64_t start = before_draw();   \
        name##_ arguments;                \
        after_draw(start);                \
    }

typedef const void *address;
DRAW(glDrawArrays, (unsigned m, int f, int c), (m, f, c))
DRAW(glDrawArraysInstanced, (unsigned m, int f, int c, int n), (m, f, c, n))
DRAW(glDrawElements, (unsigned m, int c, unsigned t, address i), (m, c, t, i))
DRAW(glDrawElementsInstanced, (unsigned m, int c, unsigned t, address i, int n), (m, c, t, i, n))
DRAW(glDrawElementsBaseVertex, (unsigned m, int c, unsigned t, address i, int b), (m, c, t, i, b))
DRAW(glDrawElementsInstancedBaseVertex, (unsigned m, int c, unsigned t, address i, int n, int b), (m, c, t, i, n, b))
DRAW(glDrawElementsInstancedBaseVertexBaseInstance, (unsigned m, int c, unsigned t, address i, int n, int b, unsigned s),
     (m, c, t, i, n, b, s))
DRAW(glDrawRangeElements, (unsigned m, unsigned s, unsigned e, int c, unsigned t, address i), (m, s, e, c, t, i))
DRAW(glDrawRangeElementsBaseVertex, (unsigned m, unsigned s, unsigned e, int c, unsigned t, address i, int b),
     (m, s, e, c, t, i, b))
DRAW(glMultiDrawArrays, (unsigned m, const int *f, const int *c, int n), (m, f, c, n))
DRAW(glMultiDrawElements, (unsigned m, const int *c, unsigned t, const address *i, int n), (m, c, t, i, n))
DRAW(glMultiDrawElementsBaseVertex, (unsigned m, const int *c, unsigned t, const address *i, int n, const int *b),
     (m, c, t, i, n, b))
DRAW(glDrawElementsIndirect, (unsigned m, unsigned t, address i), (m, t, i))
DRAW(glMultiDrawElementsIndirect, (unsigned m, unsigned t, address i, int n, int s), (m, t, i, n, s))

// Frames.

void glXSwapBuffers(void *display, unsigned long drawable) {
    REAL(void, glXSwapBuffers, (void *, unsigned long))
    frame++;
    glXSwapBuffers_(display, drawable);
}

unsigned eglSwapBuffers(void *display, void *surface) {
    REAL(unsigned, eglSwapBuffers, (void *, void *))
    frame++;
    return eglSwapBuffers_(display, surface);
}

// Functions that are looked up by name. The older names are aliases.

static const struct {
    const char *name;
    void *ours;
} replaced[] = {
#define SAME(name) {#name, (void *)name}
    SAME(glCompileShader), {"glCompileShaderARB", (void *)glCompileShader},
    SAME(glLinkProgram), {"glLinkProgramARB", (void *)glLinkProgram},
    SAME(glUseProgram), {"glUseProgramObjectARB", (void *)glUseProgram},
    SAME(glBindAttribLocation), {"glBindAttribLocationARB", (void *)glBindAttribLocation},
    SAME(glBindFragDataLocation), {"glBindFragDataLocationEXT", (void *)glBindFragDataLocation},
    SAME(glDrawArrays), SAME(glDrawArraysInstanced), {"glDrawArraysInstancedARB", (void *)glDrawArraysInstanced},
    SAME(glDrawElements), SAME(glDrawElementsInstanced), {"glDrawElementsInstancedARB", (void *)glDrawElementsInstanced},
    SAME(glDrawElementsBaseVertex), SAME(glDrawElementsInstancedBaseVertex),
    SAME(glDrawElementsInstancedBaseVertexBaseInstance),
    SAME(glDrawRangeElements), SAME(glDrawRangeElementsBaseVertex), SAME(glMultiDrawArrays), SAME(glMultiDrawElements),
    SAME(glMultiDrawElementsBaseVertex), SAME(glDrawElementsIndirect), SAME(glMultiDrawElementsIndirect),
    SAME(glXSwapBuffers), SAME(eglSwapBuffers),
};

static void *ours(const char *name) {
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (strcmp(name, replaced[i].name) == 0) return replaced[i].ours;
    return NULL;
}

static void *found(get_proc ask, const char *name) {
    real_get_proc = ask;
    void *theirs = ask(name), *mine = theirs ? ours(name) : NULL;
    return mine ? mine : theirs;
}

#define GET_PROC(name)                                      \
    void *name(const char *wanted) {                        \
        static get_proc theirs;                             \
        if (!theirs) *(void **)&theirs = held_##name;       \
        if (!theirs) *(void **)&theirs = real_dlsym(RTLD_NEXT, #name); \
        return theirs ? found(theirs, wanted) : NULL;       \
    }

static void *held_glXGetProcAddress, *held_glXGetProcAddressARB, *held_eglGetProcAddress;
GET_PROC(glXGetProcAddress)
GET_PROC(glXGetProcAddressARB)
GET_PROC(eglGetProcAddress)

void *dlsym(void *library, const char *name) {
    void *theirs = real_dlsym(library, name);
    if (!theirs) return NULL;
#define HOLD(function)                             \
    if (strcmp(name, #function) == 0) {            \
        if (theirs != (void *)function) held_##function = theirs; \
        if (held_##function) *(void **)&real_get_proc = held_##function; \
        return (void *)function;                   \
    }
    HOLD(glXGetProcAddress)
    HOLD(glXGetProcAddressARB)
    HOLD(eglGetProcAddress)
    void *mine = ours(name);
    return mine ? mine : theirs;
}

__attribute__((destructor)) static void end(void) {
    if (frame > 1) WRITE("F %lu %lu\n", now_us(), frame);
}
