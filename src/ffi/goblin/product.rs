//! `goblin.h`: product settings.

use super::base::{hob_result, hob_str};
use super::callbacks::{Callbacks, exclusive};
use super::goblin::{hob_goblin, hob_setting_id};
use super::goblin_setting::{check_count, is_trim, named};
use super::guard::guard;
use super::handle::{inspect, shared};
use super::layout::{Array, Element, Out, Versioned, bytes, init_struct, read_struct};
use crate::base::{Result, error};
use crate::goblin::{Axis, MOST_AXES, ProductDesc};

/// One of the choices that make a product setting.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_product_axis {
    /// What each index is worth, in the unit of hob_option.value. A combination is worth the sum over the axes; where
    /// that is not so, exchange values by hob_goblin_set_value. Copied.
    pub values: *const f64,
    /// By what each index multiplies the burden, such as the megapixels of a resolution: what is learned of one index
    /// is known of the others. 1e-9 to 1e9, and so their products. NULL: not known, so that every index is measured.
    /// Copied.
    pub works: *const f64,
    /// How many values there are, and works.
    pub count: u32,
    /// The index of the default choice.
    pub default_index: u32,
}

impl Default for hob_product_axis {
    fn default() -> Self {
        Self { values: std::ptr::null(), works: std::ptr::null(), count: 0, default_index: 0 }
    }
}

// SAFETY: repr(C), pointers and numbers.
unsafe impl Element for hob_product_axis {
    const NAME: &'static str = "hob_product_axis";
    const FIRST_SIZE: usize = 2 * size_of::<usize>() + 8;
}

/// A product setting: related choices, such as resolution and samples a pixel, whose burdens are no sum. It is one
/// setting whose options are all combinations, ordered with the measured axes outermost and the axes with works
/// innermost, in each group as they are given, the last one changing fastest. What is learned is learned of the
/// combinations of the measured axes: resolutions with works by 4 sample counts are 4 burdens, however many resolutions
/// there are.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hob_product_desc {
    /// sizeof(hob_product_desc); set by hob_product_desc_init.
    pub struct_size: u32,
    /// Axes in the array: 1 to 16, of at most 65535 combinations.
    pub axis_count: u32,
    /// Its task, as that of hob_setting_desc, but never empty.
    pub id: hob_str,
    /// The axes, in the order in which hob_goblin_product_index counts them. Copied.
    pub axes: *const hob_product_axis,
    /// sizeof(hob_product_axis), or of the host's struct that begins with one.
    pub axis_stride: usize,
    /// As hob_option.relative_burden, of every combination for each unit of its work. Default 0.
    pub relative_burden: f64,
    /// As that of hob_setting_desc. Default 0.
    pub switch_burden: f64,
    /// HOB_SETTING_ flags. Default 0.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), begins with struct_size; numbers and pointers.
unsafe impl Versioned for hob_product_desc {
    const NAME: &'static str = "hob_product_desc";
    const FIRST_SIZE: usize = size_of::<Self>();
    fn defaults() -> Self {
        Self {
            struct_size: size_of::<Self>() as u32,
            axis_count: 0,
            id: hob_str::EMPTY,
            axes: std::ptr::null(),
            axis_stride: size_of::<hob_product_axis>(),
            relative_burden: 0.0,
            switch_burden: 0.0,
            flags: 0,
            reserved: 0,
        }
    }
}

/// Fill in defaults; `size` is sizeof(hob_product_desc). Usually by HOB_PRODUCT_DESC_INIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_product_desc_init(desc: *mut hob_product_desc, size: u32) -> hob_result {
    // SAFETY: the header's contract.
    guard(|| unsafe { init_struct(desc, size) })
}

/// Add a product setting, at any time. It is a setting like others, whose options are its combinations; only another
/// number of options is refused. `*out_setting` is written on success. HOB_RESULT_LIMIT_EXCEEDED with too many axes or
/// combinations. Threads: exclusive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_add_product(
    goblin: *mut hob_goblin,
    desc: *const hob_product_desc,
    out_setting: *mut hob_setting_id,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        exclusive(goblin, |held| {
            let out = Out::new(out_setting, "out_setting")?;
            let desc = read_struct(desc)?;
            let is_trim = is_trim(desc.flags)?;
            let id = named(desc.id.read("id")?)?;
            let axes = read_axes(desc.axes, desc.axis_stride, desc.axis_count)?;
            let product = ProductDesc {
                id,
                axes: &axes,
                relative_burden: desc.relative_burden,
                is_trim,
                switch_burden: desc.switch_burden,
            };
            let id = held.with(|cell| cell.add_setting(Callbacks::NONE, |goblin| goblin.add_product(&product)))?;
            out.write(id.into());
            Ok(())
        })
    }
}

/// # Safety
/// As [`Array::new`]; what the axes point to is as their docs say.
unsafe fn read_axes(axes: *const hob_product_axis, stride: usize, count: u32) -> Result<Vec<Axis>> {
    if count as usize > MOST_AXES {
        return Err(error!(LimitExceeded, "{count} axes; a product can have {MOST_AXES}"));
    }
    // SAFETY: by this function's contract.
    let axes = unsafe { Array::new(axes, stride, count as usize) }?;
    let mut read = Vec::new();
    read.try_reserve_exact(count as usize)?;
    for axis in axes.iter() {
        check_count(axis.count)?;
        // SAFETY: by this function's contract.
        let (values, works) = unsafe {
            let works = if axis.works.is_null() { Vec::new() } else { numbers(axis.works, axis.count, "works")? };
            (numbers(axis.values, axis.count, "values")?, works)
        };
        read.push(Axis { values, works, default_index: axis.default_index });
    }
    Ok(read)
}

/// # Safety
/// `from` is NULL or points to `count` readable numbers.
pub unsafe fn numbers(from: *const f64, count: u32, what: &str) -> Result<Vec<f64>> {
    // SAFETY: by this function's contract.
    let bytes = unsafe { bytes(from.cast(), count as usize * size_of::<f64>(), what) }?;
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count as usize)?;
    let number = |bytes: &[u8]| f64::from_ne_bytes(bytes.try_into().unwrap_or_default());
    numbers.extend(bytes.chunks_exact(size_of::<f64>()).map(number));
    Ok(numbers)
}

/// Where a product's choice stands on one of its axes: the index into that axis's values. 0 for a stale id, a bad or
/// busy handle, or a choice or axis that does not exist, so that it can index an array at once; hob_last_error tells.
/// Threads: shared.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn hob_goblin_product_index(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    choice: u32,
    axis: u32,
) -> u32 {
    // SAFETY: the header's contract.
    unsafe { shared(goblin, |cell| cell.goblin.product_index(setting.into(), choice, axis)) }.unwrap_or(0)
}

/// The choice of a product that stands at these indices, one for each axis: for hob_goblin_pin, hob_goblin_set_ready,
/// hob_goblin_applied and what else takes an option. Threads: shared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hob_goblin_product_choice(
    goblin: *const hob_goblin,
    setting: hob_setting_id,
    indices: *const u32,
    index_count: u32,
    out_choice: *mut u32,
) -> hob_result {
    // SAFETY: the header's contract.
    unsafe {
        inspect(goblin, |cell| {
            let out = Out::new(out_choice, "out_choice")?;
            if index_count as usize > MOST_AXES {
                return Err(error!(InvalidArgument, "{index_count} indices; a product has at most {MOST_AXES} axes"));
            }
            let given = bytes(indices.cast(), index_count as usize * size_of::<u32>(), "indices")?;
            let mut indices = [0; MOST_AXES];
            for (index, bytes) in indices.iter_mut().zip(given.chunks_exact(size_of::<u32>())) {
                *index = u32::from_ne_bytes(bytes.try_into().unwrap_or_default());
            }
            out.write(cell.goblin.product_choice(setting.into(), &indices[..index_count as usize])?);
            Ok(())
        })
    }
}
