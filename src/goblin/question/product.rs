//! Product settings: related choices, such as resolution and samples a pixel, decided as one setting.
//!
//! Their joint cost is not a sum, so they form one setting whose options are all combinations. An axis that only
//! changes the amount of work (the pixels of a resolution) declares its *works*; the other axes are *measured*.
//! Combinations that differ in works alone share a cell, and so share their samples. Four resolutions and three sample
//! counts are twelve options but three cells.

use super::setting::{OptionDesc, SettingDesc};
use super::shape::{Axis, Shape};
use crate::base::{Result, try_collect_all};

/// A product setting as the host describes it.
#[derive(Clone, Copy, Debug)]
pub struct ProductDesc<'a> {
    /// The task that learns the burdens, with a cell for each combination of the measured axes.
    pub id: &'a str,
    /// The axes.
    pub axes: &'a [Axis],
    /// The host's rough idea of the burden of a unit of work.
    pub relative_burden: f64,
    /// See [`SettingDesc`].
    pub is_trim: bool,
    /// See [`SettingDesc`].
    pub switch_burden: f64,
}

impl ProductDesc<'_> {
    /// The options of all combinations, the description of a setting without them, and their layout.
    pub fn expand(&self) -> Result<(Vec<OptionDesc>, SettingDesc<'_>, Shape)> {
        let (shape, combinations, shared) = Shape::of(self.axes)?;
        let options = try_collect_all((0..combinations as u32).map(|choice| {
            let mut option = OptionDesc { relative_burden: self.relative_burden, ..OptionDesc::worth(0.0) };
            for (number, axis) in self.axes.iter().enumerate() {
                let index = shape.index(choice, number)? as usize;
                option.value += axis.values[index];
                option.work *= axis.works.get(index).copied().unwrap_or(1.0);
            }
            Ok(option)
        }))?;
        let default = shape.default_choice(self.axes);
        let desc = SettingDesc {
            shared: shared as u16,
            default_choice: default as u16,
            is_trim: self.is_trim,
            switch_burden: self.switch_burden,
            ..SettingDesc::new(self.id, &[])
        };
        Ok((options, desc, shape))
    }
}
