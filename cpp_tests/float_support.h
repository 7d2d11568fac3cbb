// Floating-point environments of hosts, for tests. MIT OR Apache-2.0.
#pragma once

#if defined(__x86_64__) && defined(__GLIBC__)

#include <cfenv>
#include <xmmintrin.h>

namespace support {

/// MXCSR: flush to zero, denormals are zero.
constexpr unsigned flush_denormals = 0x8040;
constexpr unsigned control_bits = 0xffc0;

struct Environment {
    unsigned mxcsr;
    unsigned short x87;

    static Environment now() {
        Environment environment = {_mm_getcsr(), 0};
        __asm__ volatile("fnstcw %0" : "=m"(environment.x87));
        return environment;
    }
    /// Ignores the flags of past exceptions, which calls may raise.
    bool operator==(const Environment& other) const {
        return (mxcsr & control_bits) == (other.mxcsr & control_bits) && x87 == other.x87;
    }
};

/// Unmasks all traps, flushes denormals and rounds up until destroyed.
///
/// Code in its scope must compute nothing inexact.
class Hostile {
public:
    Hostile() {
        std::fegetenv(&saved_);
        std::fesetround(FE_UPWARD);
        _mm_setcsr(_mm_getcsr() | flush_denormals);
        std::feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(FE_ALL_EXCEPT);
    }
    Hostile(const Hostile&) = delete;
    Hostile& operator=(const Hostile&) = delete;
    ~Hostile() { std::fesetenv(&saved_); }

    static bool is_in_force() {
        const unsigned traps = _mm_getcsr() & 0x1f80;
        return traps <= 0x100 && std::fegetround() == FE_UPWARD && (_mm_getcsr() & flush_denormals) == flush_denormals;
    }

private:
    std::fenv_t saved_;
};

/// The bits of MXCSR that a host sets, without the flags of past exceptions.
inline unsigned chosen_bits() {
    return _mm_getcsr() & control_bits;
}

}  // namespace support

#endif
