//! The layout of a product's options.
//!
//! Measured axes are outermost and those with works innermost, each group in the host's order, the last axis changing
//! fastest. So the options of a cell are contiguous.

use crate::base::{Result, error, try_filled};
use crate::profile::MAX_OPTIONS;

/// Most axes.
pub const MOST_AXES: usize = 16;

/// One of the choices that make a product.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// Value of each index; the value of a combination is the sum.
    pub values: Vec<f64>,
    /// Factor of each index on the burden; empty for a measured axis.
    pub works: Vec<f64>,
    /// The index of the default choice.
    pub default_index: u32,
}

/// Layout of a product's axes in its options; without axes for a setting that is not a product.
#[derive(Debug, Default)]
pub struct Shape {
    /// In the host's order.
    axes: Vec<Extent>,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    count: u32,
    /// Distance between options that are neighbours on this axis.
    stride: u32,
}

impl Shape {
    /// Whether the setting is a product.
    pub fn is_product(&self) -> bool {
        !self.axes.is_empty()
    }

    /// Index of a choice on an axis.
    pub fn index(&self, choice: u32, axis: usize) -> Result<u32> {
        let Some(extent) = self.axes.get(axis) else {
            return Err(match self.axes.len() {
                0 => error!(InvalidArgument, "the setting is not a product: it has no axes"),
                count => error!(InvalidArgument, "axis {axis} does not exist: the product has {count}"),
            });
        };
        Ok(choice / extent.stride % extent.count)
    }

    /// The choice with these indices, one per axis.
    pub fn choice(&self, indices: &[u32]) -> Result<u32> {
        if indices.len() != self.axes.len() {
            let (given, count) = (indices.len(), self.axes.len());
            return Err(error!(InvalidArgument, "{given} indices for {count} axes: give one for each"));
        }
        let mut choice = 0;
        for (axis, (&index, extent)) in indices.iter().zip(&self.axes).enumerate() {
            if index >= extent.count {
                return Err(error!(InvalidArgument, "axis {axis} has no index {index}: it has {}", extent.count));
            }
            choice += index * extent.stride;
        }
        Ok(choice)
    }

    /// The choice with the default index on every axis.
    pub fn default_choice(&self, axes: &[Axis]) -> u32 {
        axes.iter().zip(&self.axes).map(|(axis, extent)| axis.default_index * extent.stride).sum()
    }

    /// Bytes held.
    pub fn memory_used(&self) -> usize {
        self.axes.capacity() * size_of::<Extent>()
    }

    /// The shape of these axes, the number of combinations, and how many of them share a cell.
    pub fn of(axes: &[Axis]) -> Result<(Self, usize, usize)> {
        if axes.is_empty() {
            return Err(error!(InvalidArgument, "a product needs an axis"));
        }
        if axes.len() > MOST_AXES {
            return Err(error!(LimitExceeded, "{} axes; a product can have {MOST_AXES}", axes.len()));
        }
        let mut shape = Self { axes: try_filled(Extent { count: 1, stride: 1 }, axes.len())? };
        let (mut combinations, mut shared) = (1usize, 1);
        for is_measured in [false, true] {
            for (number, axis) in axes.iter().enumerate().rev().filter(|(_, axis)| axis.works.is_empty() == is_measured)
            {
                check_axis(number, axis)?;
                let stride = combinations;
                combinations = combinations.saturating_mul(axis.values.len());
                if combinations > MAX_OPTIONS {
                    return Err(error!(
                        LimitExceeded,
                        "the axes have more than {MAX_OPTIONS} combinations: make them coarser, or separate settings"
                    ));
                }
                shape.axes[number] = Extent { count: axis.values.len() as u32, stride: stride as u32 };
            }
            if !is_measured {
                shared = combinations;
            }
        }
        Ok((shape, combinations, shared))
    }
}

fn check_axis(number: usize, axis: &Axis) -> Result<()> {
    let count = axis.values.len();
    if count == 0 {
        return Err(error!(InvalidArgument, "axis {number} has no values"));
    }
    if !axis.works.is_empty() && axis.works.len() != count {
        let works = axis.works.len();
        return Err(error!(InvalidArgument, "axis {number} has {count} values and {works} works: give one of each"));
    }
    if axis.default_index as usize >= count {
        return Err(error!(InvalidArgument, "axis {number}: default index {} of {count}", axis.default_index));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(values: &[f64], works: &[f64]) -> Axis {
        Axis { values: values.to_vec(), works: works.to_vec(), default_index: 0 }
    }

    #[test]
    fn options_of_a_cell_are_contiguous() {
        let axes =
            [axis(&[0.0, 1.0], &[]), axis(&[0.0; 3], &[1.0; 3]), axis(&[0.0; 2], &[]), axis(&[0.0; 4], &[1.0; 4])];
        let (shape, combinations, shared) = Shape::of(&axes).unwrap();
        assert_eq!((combinations, shared), (48, 12));
        let mut seen = std::collections::HashSet::new();
        for choice in 0..48 {
            let indices: Vec<u32> = (0..4).map(|axis| shape.index(choice, axis).unwrap()).collect();
            assert_eq!(shape.choice(&indices).unwrap(), choice);
            assert_eq!(choice / 12, indices[0] * 2 + indices[2], "the cell is that of the measured axes");
            assert_eq!(choice % 12, indices[1] * 4 + indices[3]);
            seen.insert(indices);
        }
        assert_eq!(seen.len(), 48);
    }

    #[test]
    fn invalid_axes_are_rejected() {
        use crate::base::Code;
        let refused = |axes: &[Axis]| Shape::of(axes).unwrap_err().code();
        assert_eq!(refused(&[]), Code::InvalidArgument);
        assert_eq!(refused(&[axis(&[], &[])]), Code::InvalidArgument);
        assert_eq!(refused(&[axis(&[1.0, 2.0], &[1.0])]), Code::InvalidArgument);
        assert_eq!(refused(&[Axis { default_index: 1, ..axis(&[1.0], &[]) }]), Code::InvalidArgument);
        assert_eq!(refused(&vec![axis(&[1.0; 256], &[]); 2]), Code::LimitExceeded);
        assert_eq!(refused(&vec![axis(&[1.0; 60_000], &[]); 16]), Code::LimitExceeded);
        assert_eq!(refused(&vec![axis(&[1.0], &[]); 17]), Code::LimitExceeded);
        assert!(Shape::of(&[axis(&[1.0; 65_535], &[1.0; 65_535])]).is_ok());
    }
}
