//! Fault injection for tests.

use std::sync::Mutex;

use super::Text;

struct Armed {
    point: Text<64>,
    passes_left: u32,
}

static ARMED: Mutex<Option<Armed>> = Mutex::new(None);

/// Arm the named point: it panics once, after `passes` more passes through it. An empty name disarms.
pub fn arm(point: &str, passes: u32) {
    let armed = Armed { point: Text::format(format_args!("{point}")), passes_left: passes };
    *ARMED.lock().unwrap_or_else(|e| e.into_inner()) = (!point.is_empty()).then_some(armed);
}

/// Called by `fault_point!`.
pub fn reached(point: &str) {
    let mut slot = ARMED.lock().unwrap_or_else(|e| e.into_inner());
    let Some(armed) = slot.as_mut().filter(|armed| armed.point.as_str() == point) else { return };
    if armed.passes_left > 0 {
        armed.passes_left -= 1;
        return;
    }
    *slot = None;
    drop(slot);
    panic!("fault point '{point}' was armed");
}
