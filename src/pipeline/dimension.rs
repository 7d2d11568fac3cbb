//! Named fields of usage masks, such as the quality or the level.
//!
//! The fields stand one after the other, from the lowest bit on. A value of 0 in the current mask fits every pipeline, so
//! hosts number their values from 1 on.

use std::fmt;

use crate::base::{Result, Shared, SharedDyn, error, try_collect, try_string};
use crate::pipeline::Mask;
use crate::pipeline::identity::check_name;
use crate::pipeline::precompile::{Compare, Comparison};

/// Most dimensions of masks.
pub const MAX_DIMENSIONS: usize = 64;
/// Most bits of a dimension.
pub const MAX_WIDTH: u32 = 64;

/// A named field of the masks' bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// Its name, such as `quality`: 1 to 128 ASCII letters, digits and - _ . + without a dot first.
    pub name: String,
    /// Bits from the end of the one before: 1 to 64.
    pub width: u32,
}

/// Check the dimensions of masks from outside.
pub fn check_dimensions(dimensions: &[Dimension]) -> Result<()> {
    let bits = dimensions.iter().map(|dimension| u64::from(dimension.width)).sum::<u64>();
    if dimensions.len() > MAX_DIMENSIONS || bits > 8 * size_of::<Mask>() as u64 {
        let (count, most) = (dimensions.len(), 8 * size_of::<Mask>());
        return Err(error!(
            LimitExceeded,
            "{count} mask dimensions have {bits} bits: use at most {MAX_DIMENSIONS}, with {most} bits"
        ));
    }
    for (at, Dimension { name, width }) in dimensions.iter().enumerate() {
        // Messages list the dimensions as `name:width`.
        check_name("mask dimension", name)?;
        if !(1..=MAX_WIDTH).contains(width) {
            return Err(error!(InvalidArgument, "the mask dimension '{name}' has {width} bits: use 1 to {MAX_WIDTH}"));
        }
        if dimensions[..at].iter().any(|other| other.name == *name) {
            return Err(error!(InvalidArgument, "two mask dimensions have the name '{name}': use each name once"));
        }
    }
    Ok(())
}

/// Check a mask from outside: without dimensions all bits are the host's. The dimensions are [checked](check_dimensions).
pub fn check_mask(mask: &Mask, dimensions: &[Dimension]) -> Result<()> {
    let bits = dimensions.iter().map(|dimension| dimension.width).sum();
    let mut fields = Mask::NONE;
    for bit in 0..bits {
        set_bits(&mut fields, bit, 1, 1);
    }
    if dimensions.is_empty() || mask.and(&fields) == *mask {
        return Ok(());
    }
    let names = DimensionNames(dimensions);
    Err(error!(
        InvalidArgument,
        "the mask {mask} has bits beyond the {bits} bits of the mask dimensions {names}: set their fields only"
    ))
}

/// A copy.
pub fn copy_dimensions(dimensions: &[Dimension]) -> Result<Vec<Dimension>> {
    let mut copies = Vec::new();
    copies.try_reserve_exact(dimensions.len())?;
    for Dimension { name, width } in dimensions {
        copies.push(Dimension { name: try_string(name)?, width: *width });
    }
    Ok(copies)
}

/// Dimensions in a message, such as `quality:3 level:4`.
pub struct DimensionNames<'a>(pub &'a [Dimension]);

impl fmt::Display for DimensionNames<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(to, "none");
        }
        for (at, Dimension { name, width }) in self.0.iter().enumerate() {
            write!(to, "{}{name}:{width}", if at > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

/// The first bit of each dimension.
fn begins(dimensions: &[Dimension]) -> impl Iterator<Item = u32> {
    dimensions.iter().scan(0, |bits, dimension| {
        let begin = *bits;
        *bits += dimension.width;
        Some(begin)
    })
}

/// Set the bits of a field.
fn set_bits(mask: &mut Mask, begin: u32, width: u32, value: u64) {
    for bit in 0..width {
        let (word, place) = (((begin + bit) / 64) as usize, (begin + bit) % 64);
        mask.0[word] = mask.0[word] & !(1 << place) | (value >> bit & 1) << place;
    }
}

/// The mask with another value of a dimension. The dimensions are [checked](check_dimensions).
pub fn with_dimension(mask: Mask, dimensions: &[Dimension], name: &str, value: u64) -> Result<Mask> {
    let Some((begin, dimension)) = begins(dimensions).zip(dimensions).find(|(_, dimension)| dimension.name == name)
    else {
        return Err(error!(NotFound, "no mask dimension has the name '{name}': pass one of the dimensions"));
    };
    let Dimension { width, .. } = *dimension;
    let most = u64::MAX >> (64 - width);
    if value > most {
        return Err(error!(
            InvalidArgument,
            "the value {value} of '{name}' needs more than {width} bits: pass 0 to {most}"
        ));
    }
    check_mask(&mask, dimensions)?;
    let mut mask = mask;
    set_bits(&mut mask, begin, width, value);
    Ok(mask)
}

/// Selects a pipeline if every dimension has the value of the current mask. A current value of 0 fits all, and a pipeline
/// with the mask of all bits fits every current mask.
pub fn compare_dimensions(dimensions: &[Dimension]) -> Result<Comparison> {
    let fields = try_collect(begins(dimensions).zip(dimensions).map(|(begin, dimension)| {
        let mut field = Mask::NONE;
        set_bits(&mut field, begin, dimension.width, u64::MAX);
        field
    }))?;
    let compare = move |mask: &Mask, current: &Mask| {
        let fits = |field: &Mask| {
            let wanted = current.and(field);
            wanted == Mask::NONE || mask.and(field) == wanted
        };
        *mask == Mask::ALL || fields.iter().all(fits)
    };
    let compare: SharedDyn<Compare> = Shared::into_dyn(Shared::try_new(compare)?, |compare| -> &Compare { compare });
    Ok(Comparison::Host(compare))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Code;

    fn dimensions(parts: &[(&str, u32)]) -> Vec<Dimension> {
        parts.iter().map(|&(name, width)| Dimension { name: name.into(), width }).collect()
    }

    #[test]
    fn fields_are_set_by_name_and_may_cross_words() {
        let dimensions = dimensions(&[("quality", 3), ("level", 62), ("api", 64)]);
        check_dimensions(&dimensions).expect("valid");
        let set = |mask, name, value| with_dimension(mask, &dimensions, name, value).expect("it fits");
        let mask = set(set(set(Mask::NONE, "quality", 5), "level", 1 << 61 | 1), "api", u64::MAX);
        assert_eq!(mask, Mask([5 | 1 << 3, 1 | u64::MAX << 1, 1, 0]));
        assert_eq!(set(set(mask, "api", 0), "quality", 2), Mask([2 | 1 << 3, 1, 0, 0]));
        let why = with_dimension(mask, &dimensions, "quality", 8).expect_err("3 bits");
        assert_eq!((why.code(), why.sentence().contains("0 to 7")), (Code::InvalidArgument, true), "{why}");
        assert_eq!(with_dimension(mask, &dimensions, "other", 1).expect_err("unknown").code(), Code::NotFound);
    }

    #[test]
    fn invalid_dimensions_are_refused() {
        let wide: Vec<_> = (0..5).map(|number| Dimension { name: number.to_string(), width: 64 }).collect();
        assert_eq!(check_dimensions(&wide).expect_err("320 bits").code(), Code::LimitExceeded);
        for parts in [&[("a", 0)][..], &[("a", 65)], &[("", 1)], &[("a", 1), ("a", 2)]] {
            assert_eq!(check_dimensions(&dimensions(parts)).expect_err("invalid").code(), Code::InvalidArgument);
        }
        // Two lists whose messages would look equal, and messages of several lines.
        for name in ["a:1", "a b", "a\0", "a\nb", &"a".repeat(129)] {
            let why = check_dimensions(&dimensions(&[(name, 1)])).expect_err("invalid");
            assert_eq!(why.code(), Code::InvalidArgument);
            assert!(!why.sentence().contains(['\0', '\n']), "{why}");
        }
    }

    #[test]
    fn mask_with_bits_beyond_the_fields_is_refused() {
        let dimensions = dimensions(&[("quality", 2), ("level", 64)]);
        let check = |mask| check_mask(&mask, &dimensions).map_err(|why| why.code());
        assert_eq!(check(Mask([u64::MAX, 3, 0, 0])), Ok(()));
        assert_eq!(check(Mask([0, 4, 0, 0])), Err(Code::InvalidArgument));
        assert_eq!(check(Mask([0, 0, 0, 1 << 63])), Err(Code::InvalidArgument));
        check_mask(&Mask::ALL, &[]).expect("the host's own bits");
        let why = with_dimension(Mask::ALL, &dimensions, "level", 1).expect_err("it has other bits");
        assert!(why.sentence().contains("66 bits of the mask dimensions quality:2 level:64"), "{why}");
    }

    #[test]
    fn pipeline_fits_if_every_dimension_has_the_current_value_or_that_is_0() {
        let dimensions = dimensions(&[("quality", 2), ("level", 4)]);
        let Comparison::Host(compare) = compare_dimensions(&dimensions).expect("memory") else {
            panic!("no comparison")
        };
        let mask = |quality: u64, level: u64| Mask::of_bits(quality | level << 2);
        // With `(mask & current) == current` quality 3 would fit 1 and 2.
        for (pipeline, current, fits) in [
            (mask(3, 5), mask(3, 5), true),
            (mask(3, 5), mask(1, 5), false),
            (mask(3, 5), mask(0, 5), true),
            (mask(3, 5), mask(3, 0), true),
            (mask(3, 5), Mask::NONE, true),
            (mask(3, 5), mask(3, 4), false),
            (Mask::NONE, mask(1, 1), false),
            (Mask::ALL, mask(1, 1), true),
        ] {
            assert_eq!(compare(&pipeline, &current), fits, "{pipeline} {current}");
        }
    }
}
