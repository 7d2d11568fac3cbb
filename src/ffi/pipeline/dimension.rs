//! Named fields of usage masks.

use hobgoblin_macros::{element, entry};

use super::describe::hob_pipeline_mask;
use crate::base::{Result, error, try_string};
use crate::ffi::base::array::Array;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::pipeline::{Dimension, MAX_DIMENSIONS, Mask, check_dimensions, with_dimension};

// == Experimental: Named fields of usage masks ==

/// A named field of usage masks, such as the quality or the level.
/// The fields of a list stand one after the other, from the lowest bit of a mask on.
#[element(size = 24, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_pipeline_dimension {
    /// Its name, such as "quality": 1 to 128 ASCII letters, digits and - _ . + without a dot first. No two of a list
    /// are equal.
    pub name: hob_str,
    /// Bits, 1 to 64. All fields of a list together have at most 256 bits.
    pub width: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Sets a field of a usage mask by its name.
/// `mask` NULL: no bits. `out_mask` may be `mask`. Number values from 1 on: 0 in the current mask fits every pipeline.
///
///     const hob_pipeline_dimension dimensions[] = {{HOB_STR_INIT("quality"), 2, 0}, {HOB_STR_INIT("level"), 6, 0}};
///     hob_pipeline_mask mask;
///     hob_pipeline_set_mask_field(dimensions, sizeof *dimensions, 2, NULL, HOB_STR("quality"), 3, &mask);
///     hob_pipeline_set_mask_field(dimensions, sizeof *dimensions, 2, &mask, HOB_STR("level"), 17, &mask);
///
/// HOB_RESULT_NOT_FOUND: no field has that name. HOB_RESULT_INVALID_ARGUMENT: the value needs more bits than the field
/// has, `mask` has bits beyond the fields, or the list is invalid. HOB_RESULT_LIMIT_EXCEEDED: more than 64 fields, or
/// than 256 bits. Threads: any.
#[entry(any, nullable(mask), experimental)]
pub extern "C" fn hob_pipeline_set_mask_field(
    dimensions: *const hob_pipeline_dimension,
    dimension_stride: usize,
    dimension_count: usize,
    mask: *const hob_pipeline_mask,
    name: hob_str,
    value: u64,
    out_mask: *mut hob_pipeline_mask,
) -> hob_result {
    // SAFETY: the header's contract for the names of the list.
    let dimensions = unsafe { copied(&dimensions) }?;
    let before = mask.map_or(Mask::NONE, |mask| Mask(mask.words));
    out_mask.write((&with_dimension(before, &dimensions, name.text()?, value)?).into());
    Ok(())
}

/// The dimensions of a caller's list.
///
/// # Safety
/// The names meet the documentation of `hob_str`.
pub unsafe fn copied(list: &Array<'_, hob_pipeline_dimension>) -> Result<Vec<Dimension>> {
    if list.len() > MAX_DIMENSIONS {
        let count = list.len();
        return Err(error!(LimitExceeded, "the list has {count} mask dimensions: pass at most {MAX_DIMENSIONS}"));
    }
    let mut dimensions = Vec::new();
    dimensions.try_reserve_exact(list.len())?;
    for hob_pipeline_dimension { name, width, .. } in list.iter() {
        // SAFETY: by this function's contract.
        let name = try_string(unsafe { name.argument("name") }.text()?)?;
        dimensions.push(Dimension { name, width });
    }
    check_dimensions(&dimensions)?;
    Ok(dimensions)
}
