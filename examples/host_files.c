// host_files.c: a program cache whose files are in the file system of the host, in C.
//
// Consoles, browsers and engines with archives give a library no paths of the operating system. Here the host's file
// system is a table in memory, behind the callbacks of hob_file_io. A cache fills it and is destroyed; the next
// cache finds all programs there. The compiler is simulated.
//
// Build and run it in the repository:
//
//     cargo build --release
//     cc -Iinclude examples/host_files.c -o host_files -Ltarget/release -lhobgoblin -Wl,-rpath,target/release
//     ./host_files

#include <hobgoblin/program_cache.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- The file system of the host ------------------------------------------------------------------------------------
//
// The cache below has no executor, so all callbacks run on this thread. With an executor they need a mutex: several may
// run at once, but only one for each file.

enum { MAX_FILES = 128, PATH_SIZE = 96 };

typedef struct file {
    char path[PATH_SIZE];   // empty: a free place, or a removed file that is still open
    unsigned char *bytes;
    size_t size;
    unsigned open_count;
} file;

typedef struct disk { file files[MAX_FILES]; } disk;

// Finds a file; with an empty path, a free place. NULL: not found.
static file *find(disk *all, const char *path) {
    for (file *one = all->files; one < all->files + MAX_FILES; ++one)
        if (strcmp(one->path, path) == 0 && (*path != '\0' || one->open_count == 0)) return one;
    return NULL;
}

static void free_if_unused(file *one) {
    if (one->path[0] != '\0' || one->open_count > 0) return;
    free(one->bytes);
    memset(one, 0, sizeof *one);
}

static uint32_t remove_file(void *user_data, hob_str path) {
    file *one = find(user_data, path.data);  // paths end in NUL
    if (one == NULL) return HOB_RESULT_NOT_FOUND;
    one->path[0] = '\0';
    free_if_unused(one);
    return HOB_RESULT_OK;
}

static uint32_t rename_file(void *user_data, hob_str from, hob_str to) {
    file *one = find(user_data, from.data);
    if (one == NULL) return HOB_RESULT_NOT_FOUND;
    if (to.len >= PATH_SIZE) return HOB_RESULT_LIMIT_EXCEEDED;
    (void)remove_file(user_data, to);  // it may not exist
    memcpy(one->path, to.data, to.len + 1);
    return HOB_RESULT_OK;
}

static uint32_t list(void *user_data, hob_str directory, hob_result (*add)(void *names, hob_str name), void *names) {
    const disk *all = user_data;
    for (const file *one = all->files; one < all->files + MAX_FILES; ++one) {
        if (strncmp(one->path, directory.data, directory.len) != 0) continue;
        const char *name = one->path + directory.len;
        if (*name++ != '/' || strchr(name, '/') != NULL) continue;  // another directory, or one below
        if (add(names, hob_str_from(name)) != HOB_RESULT_OK) return HOB_RESULT_IO;
    }
    return HOB_RESULT_OK;
}

static uint32_t create_directory(void *user_data, hob_str directory) {
    (void)user_data, (void)directory;  // a directory is a part of the paths, and needs nothing
    return HOB_RESULT_OK;
}

static uint32_t open_file(void *user_data, hob_str path, void **out_file) {
    file *one = find(user_data, path.data);
    if (one == NULL) return HOB_RESULT_NOT_FOUND;
    one->open_count += 1;
    *out_file = one;
    return HOB_RESULT_OK;
}

static uint32_t create_file(void *user_data, hob_str path, void **out_file) {
    if (find(user_data, path.data) != NULL) return HOB_RESULT_BUSY;
    file *made = find(user_data, "");
    if (made == NULL || path.len >= PATH_SIZE) return HOB_RESULT_LIMIT_EXCEEDED;
    memcpy(made->path, path.data, path.len + 1);
    return open_file(user_data, path, out_file);
}

static void close_file(void *user_data, void *handle) {
    (void)user_data;
    ((file *)handle)->open_count -= 1;
    free_if_unused(handle);
}

static uint32_t size_of(void *user_data, void *handle, uint64_t *out_size) {
    (void)user_data;
    *out_size = ((file *)handle)->size;
    return HOB_RESULT_OK;
}

static uint32_t read_at(void *user_data, void *handle, uint64_t offset, void *data, size_t size, size_t *out_read) {
    (void)user_data;
    const file *one = handle;
    const size_t after = offset < one->size ? one->size - (size_t)offset : 0;
    *out_read = size < after ? size : after;
    if (*out_read > 0) memcpy(data, one->bytes + offset, *out_read);
    return HOB_RESULT_OK;
}

static uint32_t write_at(void *user_data, void *handle, uint64_t offset, const void *data, size_t size) {
    (void)user_data;
    file *one = handle;
    const size_t end = (size_t)offset + size;
    if (end > one->size) {
        unsigned char *bytes = realloc(one->bytes, end);
        if (bytes == NULL) return HOB_RESULT_LIMIT_EXCEEDED;  // the file system is full
        one->bytes = bytes;
        one->size = end;
    }
    if (size > 0) memcpy(one->bytes + offset, data, size);
    return HOB_RESULT_OK;
}

static uint32_t truncate_at(void *user_data, void *handle, uint64_t size) {
    (void)user_data;
    ((file *)handle)->size = (size_t)size;
    return HOB_RESULT_OK;
}

static uint32_t sync_file(void *user_data, void *handle) {
    (void)user_data, (void)handle;  // memory has nothing to wait for
    return HOB_RESULT_OK;
}

// ---- The renderer ---------------------------------------------------------------------------------------------------

static const char *const SHADERS[] = {"void main() { sky(); }", "void main() { water(); }", "void main() { skin(); }"};

// Ends the program with the library's own sentence, unless a call succeeded.
static void check(hob_result result, const char *call) {
    if (result == HOB_RESULT_OK) return;
    fprintf(stderr, "%s: %s\n", call, hob_last_error());
    exit(EXIT_FAILURE);
}

// A run of the game: creates the cache, gets or compiles each shader, destroys the cache.
static void run_game(disk *all, int number) {
    hob_file_io io = HOB_FILE_IO_INIT;
    io.user_data = all, io.list = list, io.create_directory = create_directory;
    io.open = open_file, io.create = create_file, io.close = close_file;
    io.size = size_of, io.read = read_at, io.write = write_at, io.truncate = truncate_at, io.sync = sync_file;
    io.rename = rename_file, io.remove = remove_file;  // files that other processes see need try_lock and unlock, too
    hob_environment environment = HOB_ENVIRONMENT_INIT;
    environment.driver = HOB_STR("simulated driver 1.0");  // a new driver gets none of the old binaries
    hob_program_cache_desc desc = HOB_PROGRAM_CACHE_DESC_INIT;
    desc.directory = HOB_STR("save-data/shaders");
    desc.environment = &environment;
    desc.file_io = &io;
    hob_program_cache *cache = NULL;
    check(hob_program_cache_create(&desc, &cache), "hob_program_cache_create");
    check(hob_program_cache_wait_idle(cache, UINT64_MAX), "hob_program_cache_wait_idle");  // reads all programs
    int compiled = 0, loaded = 0;
    for (size_t i = 0; i < sizeof SHADERS / sizeof *SHADERS; ++i) {
        hob_fingerprint key;
        check(hob_fingerprint_hash_bytes(SHADERS[i], strlen(SHADERS[i]), &key), "hob_fingerprint_hash_bytes");
        hob_blob blob = HOB_BLOB_INIT;
        const hob_result found = hob_program_cache_get(cache, &key, &blob);
        if (found == HOB_RESULT_OK && blob.size == strlen(SHADERS[i])) ++loaded;  // the driver gets blob.data here
        else {
            hob_program program = HOB_PROGRAM_INIT;
            program.data = SHADERS[i];  // a real compiler makes a binary of it
            program.size = strlen(SHADERS[i]);
            check(hob_program_cache_put(cache, &key, &program), "hob_program_cache_put");
            ++compiled;
        }
        hob_blob_release(&blob);
    }
    check(hob_program_cache_flush(cache, UINT64_MAX), "hob_program_cache_flush");  // a failed write is an error here
    hob_program_cache_destroy(cache);
    printf("run %d: %d compiled, %d from the cache\n", number, compiled, loaded);
}

int main(void) {
    static disk all;
    run_game(&all, 1);
    run_game(&all, 2);
    for (file *one = all.files; one < all.files + MAX_FILES; ++one) {
        if (one->path[0] != '\0') printf("%s: %zu bytes\n", one->path, one->size);
        free(one->bytes);
    }
    return EXIT_SUCCESS;
}
