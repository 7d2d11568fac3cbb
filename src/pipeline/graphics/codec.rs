//! The encoding of a graphics state. `docs/formats.md` has the table of its bytes.

use super::malformed;
use super::state::{
    Blend, ColorTarget, DepthTest, GraphicsState, MAX_ATTRIBUTES, MAX_COLOR_TARGETS, MAX_VERTEX_BUFFERS, Multisample,
    Raster, StencilFace, VertexAttribute, VertexBuffer,
};
use super::wire::{Reader, Writer};
use crate::base::{Result, error, sort_slowly, try_push, try_to_vec};
use crate::pipeline::PipelineKind;

/// Bytes of the parts that every graphics state has, and of the elements of lists.
const FIXED: usize = 128;
const BUFFER: usize = 12;
const ATTRIBUTE: usize = 16;
const TARGET: usize = 12;

impl GraphicsState {
    /// The encoding of the state. Vertex buffers and attributes may be in any order.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let (buffers, attributes) = (self.vertex_buffers.as_slice(), self.attributes.as_slice());
        let is_sorted = buffers.is_sorted_by_key(|buffer| buffer.slot)
            && attributes.is_sorted_by_key(|attribute| attribute.location);
        if is_sorted {
            return self.encode_sorted();
        }
        let mut sorted = Self {
            vertex_buffers: try_to_vec(buffers)?,
            attributes: try_to_vec(attributes)?,
            color_targets: try_to_vec(&self.color_targets)?,
            ..*self
        };
        sort_slowly(&mut sorted.vertex_buffers, |one, other| one.slot.cmp(&other.slot));
        sort_slowly(&mut sorted.attributes, |one, other| one.location.cmp(&other.location));
        sorted.encode_sorted()
    }

    fn encode_sorted(&self) -> Result<Vec<u8>> {
        self.check()?;
        let lists =
            BUFFER * self.vertex_buffers.len() + ATTRIBUTE * self.attributes.len() + TARGET * self.color_targets.len();
        let mut out = Writer::new(PipelineKind::Graphics, FIXED + lists)?;
        out.u64(self.layout)?;
        out.u64(self.host_state)?;
        out.u32(self.push_constant_size)?;
        out.numbered(self.topology)?;
        out.numbered(self.primitive_restart)?;
        out.u8(self.patch_control_points as u8)?;
        put_raster(&mut out, &self.raster)?;
        out.u8(self.multisample.count as u8)?;
        out.u32(self.multisample.mask)?;
        out.bool(self.multisample.alpha_to_coverage)?;
        self.put_depth_stencil(&mut out)?;
        self.put_vertices(&mut out)?;
        self.put_targets(&mut out)?;
        Ok(out.finish())
    }

    fn put_depth_stencil(&self, out: &mut Writer) -> Result<()> {
        out.u32(self.depth_stencil_format)?;
        out.bool(self.depth.is_some())?;
        if let Some(DepthTest { writes, compare }) = self.depth {
            out.bool(writes)?;
            out.numbered(compare)?;
        }
        out.bool(self.stencil.is_some())?;
        for face in self.stencil.iter().flatten() {
            out.numbered(face.compare)?;
            for op in [face.fail, face.depth_fail, face.pass] {
                out.numbered(op)?;
            }
            out.u32(face.read_mask)?;
            out.u32(face.write_mask)?;
        }
        Ok(())
    }

    fn put_vertices(&self, out: &mut Writer) -> Result<()> {
        out.u8(self.vertex_buffers.len() as u8)?;
        for VertexBuffer { slot, stride, step_rate } in &self.vertex_buffers {
            for number in [slot, stride, step_rate] {
                out.u32(*number)?;
            }
        }
        out.u8(self.attributes.len() as u8)?;
        for VertexAttribute { location, slot, offset, format } in &self.attributes {
            for number in [location, slot, offset, format] {
                out.u32(*number)?;
            }
        }
        Ok(())
    }

    fn put_targets(&self, out: &mut Writer) -> Result<()> {
        out.u8(self.color_targets.len() as u8)?;
        for ColorTarget { format, write_mask, blend } in &self.color_targets {
            // Nothing is written to an unused target.
            let is_used = *format > 0;
            let blend = blend.as_ref().filter(|_| is_used);
            out.u32(*format)?;
            out.u8(if is_used { *write_mask as u8 } else { 0 })?;
            out.bool(blend.is_some())?;
            if let Some(blend) = blend {
                out.numbered(blend.source_color)?;
                out.numbered(blend.destination_color)?;
                out.numbered(blend.color_op)?;
                out.numbered(blend.source_alpha)?;
                out.numbered(blend.destination_alpha)?;
                out.numbered(blend.alpha_op)?;
            }
        }
        Ok(())
    }

    /// The state of an encoding. [`Code::Malformed`](crate::base::Code): no encoding has these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(PipelineKind::Graphics, bytes)?;
        let from = &mut reader;
        // The fields are in the order of the encoding.
        let state = Self {
            layout: from.u64()?,
            host_state: from.u64()?,
            push_constant_size: from.u32()?,
            topology: from.numbered()?,
            primitive_restart: from.numbered()?,
            patch_control_points: from.u8()?.into(),
            raster: get_raster(from)?,
            multisample: Multisample { count: from.u8()?.into(), mask: from.u32()?, alpha_to_coverage: from.bool()? },
            depth_stencil_format: from.u32()?,
            depth: get_depth(from)?,
            stencil: get_stencil(from)?,
            vertex_buffers: get_buffers(from)?,
            attributes: get_attributes(from)?,
            color_targets: get_targets(from)?,
        };
        reader.finish()?;
        state.check().map_err(|why| malformed(PipelineKind::Graphics, why))?;
        Ok(state)
    }
}

fn put_raster(out: &mut Writer, raster: &Raster) -> Result<()> {
    out.numbered(raster.cull)?;
    out.numbered(raster.front_face)?;
    out.numbered(raster.fill)?;
    out.bool(raster.depth_clamp)?;
    for bias in [raster.depth_bias, raster.depth_bias_clamp, raster.depth_bias_slope] {
        out.f64(bias)?;
    }
    Ok(())
}

fn get_raster(from: &mut Reader<'_>) -> Result<Raster> {
    Ok(Raster {
        cull: from.numbered()?,
        front_face: from.numbered()?,
        fill: from.numbered()?,
        depth_clamp: from.bool()?,
        depth_bias: from.f64()?,
        depth_bias_clamp: from.f64()?,
        depth_bias_slope: from.f64()?,
    })
}

fn get_depth(from: &mut Reader<'_>) -> Result<Option<DepthTest>> {
    if !from.bool()? {
        return Ok(None);
    }
    Ok(Some(DepthTest { writes: from.bool()?, compare: from.numbered()? }))
}

fn get_stencil(from: &mut Reader<'_>) -> Result<Option<[StencilFace; 2]>> {
    if !from.bool()? {
        return Ok(None);
    }
    Ok(Some([get_face(from)?, get_face(from)?]))
}

fn get_face(from: &mut Reader<'_>) -> Result<StencilFace> {
    Ok(StencilFace {
        compare: from.numbered()?,
        fail: from.numbered()?,
        depth_fail: from.numbered()?,
        pass: from.numbered()?,
        read_mask: from.u32()?,
        write_mask: from.u32()?,
    })
}

/// A list, behind its number of elements.
fn get_list<T>(
    from: &mut Reader<'_>,
    most: usize,
    what: &str,
    mut get: impl FnMut(&mut Reader<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let number = from.u8()?;
    let mut list = Vec::new();
    for _ in 0..from.count(number.into(), most, what)? {
        try_push(&mut list, get(from)?)?;
    }
    Ok(list)
}

fn get_buffers(from: &mut Reader<'_>) -> Result<Vec<VertexBuffer>> {
    get_list(from, MAX_VERTEX_BUFFERS, "vertex buffers", |from| {
        Ok(VertexBuffer { slot: from.u32()?, stride: from.u32()?, step_rate: from.u32()? })
    })
}

fn get_attributes(from: &mut Reader<'_>) -> Result<Vec<VertexAttribute>> {
    get_list(from, MAX_ATTRIBUTES, "vertex attributes", |from| {
        Ok(VertexAttribute { location: from.u32()?, slot: from.u32()?, offset: from.u32()?, format: from.u32()? })
    })
}

fn get_targets(from: &mut Reader<'_>) -> Result<Vec<ColorTarget>> {
    get_list(from, MAX_COLOR_TARGETS, "colour targets", |from| {
        let (format, write_mask) = (from.u32()?, from.u8()?.into());
        let blend = if from.bool()? { Some(get_blend(from)?) } else { None };
        if format == 0 && (write_mask > 0 || blend.is_some()) {
            return Err(error!(
                Malformed,
                "the graphics state has an unused colour target that is written: it is damaged"
            ));
        }
        Ok(ColorTarget { format, write_mask, blend })
    })
}

fn get_blend(from: &mut Reader<'_>) -> Result<Blend> {
    Ok(Blend {
        source_color: from.numbered()?,
        destination_color: from.numbered()?,
        color_op: from.numbered()?,
        source_alpha: from.numbered()?,
        destination_alpha: from.numbered()?,
        alpha_op: from.numbered()?,
    })
}
