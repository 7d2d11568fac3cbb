//! `goblin.h`: product settings.

use hobgoblin_macros::{element, entry, versioned};

use super::create::hob_goblin;
use super::ids::hob_setting_id;
use super::setting::{check_count, check_id, is_trim};
use crate::base::{Result, error, try_collect_all};
use crate::ffi::base::array::Array;
use crate::ffi::base::result::hob_result;
use crate::ffi::base::text::hob_str;
use crate::goblin::{Axis, MOST_AXES, ProductDesc};

// == Experimental: products of settings ==

/// One axis of a product, such as the resolution.
#[element(size = 24, last = default_index)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_product_axis {
    /// The worth of each index, in the unit of hob_option.value. A combination is worth the sum over the axes; for
    /// other worths call hob_goblin_set_value. Copied.
    pub values: *const f64,
    /// By how much each index multiplies the burden, such as the megapixels of a resolution. Each is 1e-9 to 1e9, and
    /// so is the product over all axes. A sample of one index then teaches all others. NULL: unknown, so every index is
    /// measured. Copied.
    pub works: *const f64,
    /// Number of values, and of works.
    pub count: u32,
    /// The index of the default choice.
    pub default_index: u32,
}

/// Parameters of a product: a setting whose options are all combinations of several axes.
/// It is for axes whose burdens do not add up, such as resolution and samples per pixel. In the numbering of
/// combinations, axes without works come first, then those with works, each group in array order. The last axis varies
/// fastest. Burdens are learned per combination of the axes without works: 20 resolutions with works and 4 sample
/// counts are 4 burdens.
#[versioned(size = 64, last = reserved)]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_product_desc {
    /// sizeof(hob_product_desc).
    pub struct_size: u32,
    /// Axes in the array: 1 to 16, with at most 65535 combinations.
    pub axis_count: u32,
    /// The task, as in hob_setting_desc; not empty.
    pub id: hob_str,
    /// The axes, in the order of hob_goblin_product_index. Copied.
    pub axes: *const hob_product_axis,
    /// Bytes from one axis to the next: sizeof(hob_product_axis). 0: its first released size.
    pub axis_stride: usize,
    /// hob_option.relative_burden per unit of work, for every combination. Default 0.
    pub relative_burden: f64,
    /// As in hob_setting_desc. Default 0.
    pub switch_burden: f64,
    /// HOB_SETTING_ flags. Default 0.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

/// Adds a product, at any time; `*out_setting` receives its id.
/// It is a setting like others, except that its number of options is fixed. HOB_RESULT_LIMIT_EXCEEDED with too many
/// axes or combinations. Threads: exclusive.
#[entry(exclusive, experimental)]
pub extern "C" fn hob_goblin_add_product(
    goblin: *mut hob_goblin,
    desc: *const hob_product_desc,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    let is_trim = is_trim(desc.flags)?;
    // SAFETY: the header asks for a valid text.
    let id = check_id(unsafe { desc.id.argument("id") }.text()?)?;
    if desc.axis_count as usize > MOST_AXES {
        return Err(error!(LimitExceeded, "{} axes: a product can have at most {MOST_AXES}", desc.axis_count));
    }
    // SAFETY: the header asks for as many axes.
    let axes = unsafe { Array::new(desc.axes, desc.axis_stride, desc.axis_count as usize, "axes") }?;
    let axes = read_axes(&axes)?;
    let product = ProductDesc {
        id,
        axes: &axes,
        relative_burden: desc.relative_burden,
        is_trim,
        switch_burden: desc.switch_burden,
    };
    let id = goblin.with(|cell| cell.add_setting(None, |goblin| goblin.add_product(&product)))?;
    out_setting.write(id.into());
    Ok(())
}

fn read_axes(axes: &Array<'_, hob_product_axis>) -> Result<Vec<Axis>> {
    try_collect_all(axes.iter().map(|axis| {
        check_count(axis.count as usize)?;
        let works = if axis.works.is_null() { Vec::new() } else { numbers(axis.works, axis.count, "works")? };
        let values = numbers(axis.values, axis.count, "values")?;
        Ok(Axis { values, works, default_index: axis.default_index })
    }))
}

fn numbers(start: *const f64, count: u32, what: &str) -> Result<Vec<f64>> {
    // SAFETY: only the arrays of an axis are passed here, and the header requires that they have as many numbers.
    unsafe { Array::new(start, size_of::<f64>(), count as usize, what) }?.to_vec()
}

/// Returns the index of a product's choice on one axis.
/// 0 for an invalid handle or id, and for an unknown choice or axis, so that it can index an array; hob_last_error has
/// the reason. 0 during another thread's exclusive call: a render thread must call it before that. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_goblin_product_index(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    choice: u32,
    axis: u32,
) -> u32 {
    goblin.goblin.product_index(setting.into(), choice, axis)
}

/// Gets the choice of a product at these indices, one for each axis.
/// It is for hob_goblin_pin, hob_goblin_set_ready and other functions that take an option. Threads: shared.
#[entry(shared, experimental)]
pub extern "C" fn hob_goblin_get_product_choice(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    indices: *const u32,
    index_count: u32,
    out_choice: *mut u32,
) -> hob_result {
    let count = indices.len();
    if count > MOST_AXES {
        return Err(error!(InvalidArgument, "{count} indices: a product has at most {MOST_AXES} axes"));
    }
    let mut all = [0; MOST_AXES];
    all.iter_mut().zip(indices.iter()).for_each(|(place, index)| *place = index);
    out_choice.write(goblin.goblin.product_choice(setting.into(), &all[..count])?);
    Ok(())
}
