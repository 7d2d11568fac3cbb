// Annotations of the standard library's locks for ThreadSanitizer. Rust's prebuilt standard library is not
// instrumented, so ThreadSanitizer would not see a lock that is acquired after waiting. tools/sanitize.sh finds the
// names and lets the linker redirect the calls to this file.
#include <cstdint>

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);

// Mutexes and read-write locks that have to wait. Their release is inlined into instrumented code.
void real_lock(void* mutex) asm("__real_" LOCK);
void wrap_lock(void* mutex) asm("__wrap_" LOCK);
void wrap_lock(void* mutex) {
    real_lock(mutex);
    __tsan_acquire(mutex);
}

void real_read(void* lock) asm("__real_" READ);
void wrap_read(void* lock) asm("__wrap_" READ);
void wrap_read(void* lock) {
    real_read(lock);
    __tsan_acquire(lock);
}

void real_write(void* lock) asm("__real_" WRITE);
void wrap_write(void* lock) asm("__wrap_" WRITE);
void wrap_write(void* lock) {
    real_write(lock);
    __tsan_acquire(lock);
}

// Condition variables release the mutex and acquire it again.
void real_wait(void* condition, void* mutex) asm("__real_" WAIT);
void wrap_wait(void* condition, void* mutex) asm("__wrap_" WAIT);
void wrap_wait(void* condition, void* mutex) {
    __tsan_release(mutex);
    real_wait(condition, mutex);
    __tsan_acquire(mutex);
}

bool real_wait_for(void* condition, void* mutex, uint64_t seconds, uint32_t nanoseconds) asm("__real_" WAIT_FOR);
bool wrap_wait_for(void* condition, void* mutex, uint64_t seconds, uint32_t nanoseconds) asm("__wrap_" WAIT_FOR);
bool wrap_wait_for(void* condition, void* mutex, uint64_t seconds, uint32_t nanoseconds) {
    __tsan_release(mutex);
    const bool in_time = real_wait_for(condition, mutex, seconds, nanoseconds);
    __tsan_acquire(mutex);
    return in_time;
}

// A Once (and so a OnceLock) publishes the results of its closure. Its state is stored inside the standard library;
// readers that find it complete are inlined into instrumented code.
void real_once(void* once, bool ignore_poisoning, void* closure, void* vtable) asm("__real_" ONCE);
void wrap_once(void* once, bool ignore_poisoning, void* closure, void* vtable) asm("__wrap_" ONCE);
void wrap_once(void* once, bool ignore_poisoning, void* closure, void* vtable) {
    real_once(once, ignore_poisoning, closure, vtable);
    __tsan_acquire(once);
    __tsan_release(once);
}
}
