//! The floating-point environment. Rust code runs in the default one, the host's callbacks run in the host's.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The floating-point control register: rounding, traps, denormals. The flags of past exceptions are not restored: a
/// call may raise them, as any function of the C library may.
#[derive(Clone, Copy)]
pub struct Register(usize);

impl Register {
    /// Stands for the register that is active, which nobody has read. No register has all bits.
    pub const ACTIVE: Self = Self(usize::MAX);

    /// Whether it is [`Register::ACTIVE`].
    pub fn is_active(self) -> bool {
        self.0 == Self::ACTIVE.0
    }

    /// Whether its control bits are the default.
    pub fn is_default(self) -> bool {
        self.controls_as(Self::DEFAULT)
    }

    /// Writes the register, unless its control bits are active already.
    pub fn restore(self) {
        if !Self::read().controls_as(self) {
            self.write();
        }
    }

    /// Whether a floating-point exception stops the program.
    pub fn has_traps(self) -> bool {
        (self.0 ^ Self::DEFAULT.0) & Self::TRAPS != 0
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
    /// Bits that mask exceptions.
    const TRAPS: usize = 0x1f80;

    /// Bits 0 to 5 are the flags of past exceptions.
    fn controls_as(self, other: Self) -> bool {
        (self.0 ^ other.0) & !0x3f == 0
    }

    /// The current register of this thread.
    pub fn read() -> Self {
        let mut register = std::mem::MaybeUninit::<u32>::uninit();
        // SAFETY: stores the 32-bit MXCSR to a 32-bit place, which is initialised then.
        let register = unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) register.as_mut_ptr(), options(nostack, preserves_flags));
            register.assume_init()
        };
        Self(register as usize)
    }

    /// Writes the register of this thread.
    pub fn write(self) {
        let register = self.0 as u32;
        // SAFETY: the value is the default or was read from MXCSR, so no reserved bit is set.
        unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &register, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl Register {
    pub const DEFAULT: Self = Self(0);
    /// Bits that enable traps, of AArch64.
    const TRAPS: usize = 0x9f00;

    fn controls_as(self, other: Self) -> bool {
        self.0 == other.0
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

/// A register that one thread sets for others.
pub struct SharedRegister(AtomicUsize);

impl Default for SharedRegister {
    fn default() -> Self {
        Self(AtomicUsize::new(Register::DEFAULT.0))
    }
}

impl SharedRegister {
    pub fn set(&self, register: Register) {
        self.0.store(register.0, Relaxed);
    }

    pub fn get(&self) -> Register {
        Register(self.0.load(Relaxed))
    }
}
