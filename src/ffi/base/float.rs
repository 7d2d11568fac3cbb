//! The floating-point environment: Rust code runs only under the default one; the host's callbacks run under the
//! host's.

/// The floating-point control register: rounding, traps, denormals, and on some machines what happened so far. Rust
/// code runs only under the default; to look and compare costs less than to write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Register(usize);

impl Register {
    /// Write it, if it is not `present`, which is in force.
    #[inline]
    pub fn replace(self, present: Self) {
        if self != present {
            self.write();
        }
    }

    /// Write it, unless it is in force already.
    #[inline]
    pub fn restore(self) {
        if Self::read() != self {
            self.write();
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn read() -> Self {
        Self::DEFAULT
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn write(self) {}
}

#[cfg(target_arch = "x86_64")]
impl Register {
    /// All exceptions masked, round to nearest, denormals kept.
    pub const DEFAULT: Self = Self(0x1f80);

    /// Whether it is the default one, apart from the flags of past exceptions.
    #[inline]
    pub fn is_default(self) -> bool {
        self.0 & !0x3f == Self::DEFAULT.0
    }

    /// What is in force on this thread.
    #[inline]
    pub fn read() -> Self {
        let mut register = 0u32;
        // SAFETY: stores the 32-bit MXCSR to a 32-bit place.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut register, options(nostack, preserves_flags)) };
        Self(register as usize)
    }

    /// Put it in force.
    #[inline]
    pub fn write(self) {
        let register = self.0 as u32;
        // SAFETY: the value is the default or was read from MXCSR, so no reserved bit is set.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &register, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Register {
    pub const DEFAULT: Self = Self(0);

    pub fn is_default(self) -> bool {
        self == Self::DEFAULT
    }
}

#[cfg(target_arch = "aarch64")]
impl Register {
    pub fn read() -> Self {
        let register: usize;
        // SAFETY: reads FPCR, which every exception level may.
        unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) register, options(nostack, preserves_flags)) };
        Self(register)
    }

    pub fn write(self) {
        // SAFETY: the value is 0 or was read from FPCR.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) self.0, options(nostack, preserves_flags)) };
    }
}
