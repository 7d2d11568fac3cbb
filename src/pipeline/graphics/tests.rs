//! Encodings: round trips, one encoding for a state, refused bytes, and golden bytes.

use proptest::prelude::*;

use super::*;
use crate::pipeline::{Schema, ShaderRef};
use crate::testing::allocator::with_failure;

/// A state that uses every part of the encoding.
fn rich() -> GraphicsState {
    let face =
        StencilFace { compare: Compare::Always, pass: StencilOp::Replace, read_mask: 255, ..StencilFace::default() };
    let blend = Blend { source_color: BlendFactor::SourceAlpha, alpha_op: BlendOp::Max, ..Blend::default() };
    GraphicsState {
        layout: 7,
        host_state: 8,
        push_constant_size: 64,
        topology: Topology::PatchList,
        primitive_restart: PrimitiveRestart::Uint16,
        patch_control_points: 3,
        raster: Raster { cull: CullMode::Back, depth_clamp: true, depth_bias: -1.5, ..Raster::default() },
        multisample: Multisample { count: 4, mask: 15, alpha_to_coverage: true },
        depth_stencil_format: 126,
        depth: Some(DepthTest { writes: true, compare: Compare::GreaterOrEqual }),
        stencil: Some([face, StencilFace { write_mask: 1, ..face }]),
        vertex_buffers: vec![
            VertexBuffer { slot: 5, stride: 12, step_rate: 0 },
            VertexBuffer { slot: 1, stride: 4, step_rate: 1 },
        ],
        attributes: vec![
            VertexAttribute { location: 2, slot: 1, offset: 0, format: 37 },
            VertexAttribute { location: 0, slot: 5, offset: 0, format: 106 },
        ],
        color_targets: vec![
            ColorTarget { format: 44, write_mask: 15, blend: Some(blend) },
            ColorTarget { format: 0, write_mask: 0, blend: None },
        ],
    }
}

fn rays() -> RayTracingState {
    RayTracingState {
        layout: 1,
        max_recursion_depth: 2,
        max_payload_size: 32,
        max_attribute_size: 8,
        groups: vec![
            ShaderGroup::General { shader: 0 },
            ShaderGroup::Triangles { closest_hit: Some(1), any_hit: None },
            ShaderGroup::Procedural { closest_hit: None, any_hit: Some(2), intersection: 3 },
        ],
        ..RayTracingState::default()
    }
}

/// A decoded state encodes to the same bytes. Returns whether one was decoded.
fn assert_canonical(bytes: &[u8]) -> bool {
    let again = [
        GraphicsState::decode(bytes).map(|state| state.encode().expect("it was decoded")),
        ComputeState::decode(bytes).map(|state| state.encode().expect("it was decoded")),
        RayTracingState::decode(bytes).map(|state| state.encode().expect("it was decoded")),
    ];
    let decoded: Vec<_> = again.into_iter().flatten().collect();
    assert!(decoded.len() < 2 && decoded.iter().all(|again| again == bytes));
    !decoded.is_empty()
}

#[test]
fn states_survive_a_round_trip() {
    let bytes = rich().encode().expect("valid");
    let decoded = GraphicsState::decode(&bytes).expect("encoded");
    assert_eq!(decoded.encode().expect("valid"), bytes);
    let mut sorted = rich();
    sorted.vertex_buffers.reverse();
    sorted.attributes.reverse();
    assert_eq!(decoded, sorted);
    let default = GraphicsState::default();
    assert_eq!(GraphicsState::decode(&default.encode().expect("valid")).expect("encoded"), default);
    let compute = ComputeState { layout: 1, host_state: 2, push_constant_size: 3, workgroup: [8, 4, 1] };
    assert_eq!(ComputeState::decode(&compute.encode().expect("memory")).expect("encoded"), compute);
    assert_eq!(RayTracingState::decode(&rays().encode().expect("valid")).expect("encoded"), rays());
}

#[test]
fn equal_states_have_one_encoding() {
    let state = rich();
    let mut other = rich();
    other.vertex_buffers.reverse();
    other.attributes.reverse();
    other.raster.depth_bias_slope = -0.0;
    // Nothing is written to an unused target.
    let blend = other.color_targets[0].blend;
    other.color_targets[1] = ColorTarget { format: 0, write_mask: 15, blend };
    assert_eq!(state.encode().expect("valid"), other.encode().expect("valid"));
}

#[test]
fn encodings_match_the_documented_bytes() {
    let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let default = GraphicsState::default().encode().expect("valid");
    let numbers = "0000000000000000".repeat(2) + "00000000";
    let raster = "00000000".to_owned() + &"0000000000000000".repeat(3);
    assert_eq!(hex(default), format!("0100{numbers}030000{raster}01ffffffff00000000000000000000"));
    let targets = "022c0000000f01060000000004000000000000";
    assert!(hex(rich().encode().expect("valid")).ends_with(targets));
    let compute = ComputeState { layout: 1, host_state: 2, push_constant_size: 3, workgroup: [8, 4, 1] };
    let wanted = "0101010000000000000002000000000000000300000008000000040000000100000 0".replace(' ', "");
    assert_eq!(hex(compute.encode().expect("memory")), wanted);
    let wanted =
        "01020100000000000000000000000000000000000000020000002000000008000000030000000000000101 00ffff02ffff02000300";
    assert_eq!(hex(rays().encode().expect("valid")), wanted.replace(' ', ""));
}

#[test]
fn changed_bytes_decode_to_another_state_or_not_at_all() {
    for bytes in [rich().encode(), ComputeState::default().encode(), rays().encode()] {
        let bytes = bytes.expect("valid");
        assert!(assert_canonical(&bytes));
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_canonical(&flipped);
        }
        for length in 0..bytes.len() {
            assert!(!assert_canonical(&bytes[..length]));
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(!assert_canonical(&longer));
    }
}

#[test]
fn invalid_states_are_refused_with_a_sentence() {
    let refused = |change: &dyn Fn(&mut GraphicsState), code: Code, part: &str| {
        let mut state = rich();
        change(&mut state);
        let why = state.encode().expect_err(part);
        assert!(why.code() == code && why.sentence().contains(part), "{why}");
    };
    let invalid = Code::InvalidArgument;
    refused(&|state| state.patch_control_points = 0, invalid, "a patch has 0 control points");
    refused(&|state| state.patch_control_points = 33, invalid, "set patch_control_points to 1 to 32");
    refused(&|state| state.topology = Topology::LineList, invalid, "patch_control_points is 3");
    refused(&|state| state.multisample.count = 3, invalid, "the sample count 3");
    refused(&|state| state.multisample.count = 64, invalid, "the sample count 64");
    refused(&|state| state.raster.depth_bias_slope = f64::NAN, invalid, "a depth bias is NaN");
    refused(&|state| state.raster.depth_bias_clamp = f64::INFINITY, invalid, "a depth bias is inf");
    refused(&|state| state.color_targets[0].write_mask = 16, invalid, "write mask 16 of colour target 0");
    refused(&|state| state.vertex_buffers[1].slot = 5, invalid, "vertex buffer slot 5");
    refused(&|state| state.attributes[1].location = 2, invalid, "vertex attribute location 2");
    refused(&|state| state.attributes[0].slot = 2, invalid, "slot 2, which is not in the list");
    refused(&|state| state.color_targets = vec![ColorTarget::default(); 9], Code::LimitExceeded, "9 colour targets");
    refused(&|state| state.attributes = vec![state.attributes[0]; 65], Code::LimitExceeded, "65 vertex attributes");
    let outside = RayTracingState { groups: vec![ShaderGroup::General { shader: 1024 }], ..rays() };
    assert!(outside.encode().expect_err("outside").sentence().contains("names shader 1024"));
    let many = RayTracingState { groups: vec![ShaderGroup::General { shader: 0 }; MAX_SHADER_GROUPS + 1], ..rays() };
    assert_eq!(many.encode().expect_err("too many").code(), Code::LimitExceeded);
}

#[test]
fn invalid_bytes_are_refused_with_a_sentence() {
    let whole = rich().encode().expect("valid");
    let refused = |change: &dyn Fn(&mut Vec<u8>), part: &str| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        let why = GraphicsState::decode(&bytes).expect_err(part);
        assert!(why.sentence().contains(part), "{why}");
    };
    refused(&|bytes| bytes[0] = 2, "version 2");
    refused(&|bytes| bytes[1] = 1, "of a compute pipeline, and the pipeline is a graphics one");
    refused(&|bytes| bytes[1] = 9, "unknown kind 9");
    refused(&|bytes| bytes[22] = 11, "topology 11: known are 0 to 10");
    refused(&|bytes| bytes[24] = 40, "the graphics state is invalid: a patch has 40");
    refused(&|bytes| bytes[28] = 2, "switch of 2");
    refused(&|bytes| bytes[29..37].copy_from_slice(&f64::INFINITY.to_le_bytes()), "a depth bias is inf");
    refused(&|bytes| bytes[29..37].copy_from_slice(&f64::NAN.to_le_bytes()), "the number NaN");
    refused(&|bytes| bytes[45..53].copy_from_slice(&(-0.0_f64).to_le_bytes()), "the number -0.0");
    refused(&|bytes| bytes.truncate(60), "ends too early");
    refused(&|bytes| bytes.clear(), "of 0 bytes ends too early");
    refused(&|bytes| bytes.extend([0, 0]), "2 bytes after its end");
}

#[test]
fn descriptions_of_other_schemas_are_not_read() {
    let shaders = [ShaderRef::default(); 3];
    let of = |kind, schema, state: &[u8]| check(&DescriptionRef { kind, schema, state, shaders: &shaders });
    of(PipelineKind::Graphics, Schema(1), b"anything").expect("the host's own");
    of(PipelineKind::Graphics, Schema::OWN, &rich().encode().expect("valid")).expect("valid");
    of(PipelineKind::Compute, Schema::OWN, &ComputeState::default().encode().expect("memory")).expect("valid");
    let empty = of(PipelineKind::Compute, Schema::OWN, b"").expect_err("empty");
    assert!(empty.sentence().contains("number your layouts from 1"), "{empty}");
    let other = of(PipelineKind::Compute, Schema::OWN, &rich().encode().expect("valid")).expect_err("another kind");
    assert_eq!(other.code(), Code::Malformed);
    let missing = of(PipelineKind::RayTracing, Schema::OWN, &rays().encode().expect("valid")).expect_err("4 shaders");
    assert!(missing.sentence().contains("names shader 3, and the pipeline has 3 shaders"), "{missing}");
}

#[test]
fn failed_allocation_of_an_encoding_is_a_result() {
    let (graphics, rays) = (rich(), rays());
    for allowed in 0.. {
        let done = with_failure(allowed, || {
            let bytes = graphics.encode()?;
            GraphicsState::decode(&bytes)?;
            RayTracingState::decode(&rays.encode()?).map(|_| ())
        });
        match done {
            Ok(()) => break,
            Err(why) => assert_eq!(why.code(), Code::OutOfMemory),
        }
    }
}

fn some<T: Numbered + std::fmt::Debug>() -> impl Strategy<Value = T> {
    prop::sample::select(T::ALL)
}

prop_compose! {
    fn any_face()(
        compare in some(), fail in some(), depth_fail in some(), pass in some(),
        read_mask in any::<u32>(), write_mask in any::<u32>(),
    ) -> StencilFace {
        StencilFace { compare, fail, depth_fail, pass, read_mask, write_mask }
    }
}

prop_compose! {
    fn any_target()(
        format in any::<u32>(), write_mask in 0_u32..16, is_blended in any::<bool>(),
        factors in prop::array::uniform4(some::<BlendFactor>()), ops in prop::array::uniform2(some::<BlendOp>()),
    ) -> ColorTarget {
        let [source_color, destination_color, source_alpha, destination_alpha] = factors;
        let [color_op, alpha_op] = ops;
        let blend = Blend { source_color, destination_color, color_op, source_alpha, destination_alpha, alpha_op };
        match format {
            0 => ColorTarget { format, write_mask: 0, blend: None },
            _ => ColorTarget { format, write_mask, blend: is_blended.then_some(blend) },
        }
    }
}

prop_compose! {
    fn any_state()(
        numbers in any::<(u64, u64, u32, u32, u32)>(),
        topology in some(), primitive_restart in some(), cull in some(), front_face in some(), fill in some(),
        flags in any::<[bool; 5]>(), biases in prop::array::uniform3(-1e9..1e9), samples in 0_u32..6, compare in some(),
        faces in prop::array::uniform2(any_face()),
        buffers in prop::collection::btree_map(any::<u32>(), any::<(u32, u32)>(), 1..9),
        attributes in prop::collection::btree_map(any::<u32>(), any::<(prop::sample::Index, u32, u32)>(), 0..17),
        color_targets in prop::collection::vec(any_target(), 0..9),
    ) -> GraphicsState {
        let (layout, host_state, push_constant_size, mask, depth_stencil_format) = numbers;
        let [depth_clamp, alpha_to_coverage, has_depth, writes, has_stencil] = flags;
        let [depth_bias, depth_bias_clamp, depth_bias_slope] = biases;
        let vertex_buffers: Vec<_> =
            buffers.into_iter().map(|(slot, (stride, step_rate))| VertexBuffer { slot, stride, step_rate }).collect();
        let attributes = attributes.into_iter().map(|(location, (buffer, offset, format))| {
            VertexAttribute { location, slot: vertex_buffers[buffer.index(vertex_buffers.len())].slot, offset, format }
        });
        GraphicsState {
            layout, host_state, push_constant_size, topology, primitive_restart,
            patch_control_points: if topology == Topology::PatchList { 1 + samples } else { 0 },
            raster: Raster { cull, front_face, fill, depth_clamp, depth_bias, depth_bias_clamp, depth_bias_slope },
            multisample: Multisample { count: 1 << samples, mask, alpha_to_coverage },
            depth_stencil_format,
            depth: has_depth.then_some(DepthTest { writes, compare }),
            stencil: has_stencil.then_some(faces),
            attributes: attributes.collect(),
            vertex_buffers,
            color_targets,
        }
    }
}

fn any_group() -> impl Strategy<Value = ShaderGroup> {
    let shader = || 0_u32..1024;
    let maybe = || prop::option::of(0_u32..1024);
    prop_oneof![
        shader().prop_map(|shader| ShaderGroup::General { shader }),
        (maybe(), maybe()).prop_map(|(closest_hit, any_hit)| ShaderGroup::Triangles { closest_hit, any_hit }),
        (maybe(), maybe(), shader()).prop_map(|(closest_hit, any_hit, intersection)| {
            ShaderGroup::Procedural { closest_hit, any_hit, intersection }
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::testing::scaled(128)))]

    #[test]
    fn graphics_states_survive_a_round_trip_in_any_order(state in any_state(), turn in any::<prop::sample::Index>()) {
        let bytes = state.encode().expect("valid");
        prop_assert_eq!(&GraphicsState::decode(&bytes).expect("encoded"), &state);
        let mut turned = state.clone();
        turned.vertex_buffers.rotate_left(turn.index(state.vertex_buffers.len()));
        turned.attributes.reverse();
        prop_assert_eq!(turned.encode().expect("valid"), bytes);
    }

    #[test]
    fn ray_tracing_states_survive_a_round_trip(
        numbers in any::<(u64, u64, [u32; 4])>(), groups in prop::collection::vec(any_group(), 0..40),
    ) {
        let (layout, host_state, [push_constant_size, max_recursion_depth, max_payload_size, max_attribute_size]) = numbers;
        let state = RayTracingState {
            layout, host_state, push_constant_size, max_recursion_depth, max_payload_size, max_attribute_size, groups,
        };
        prop_assert_eq!(RayTracingState::decode(&state.encode().expect("valid")).expect("encoded"), state);
    }

    #[test]
    fn damaged_encodings_decode_to_another_state_or_not_at_all(
        state in any_state(), damage in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..4),
    ) {
        let mut bytes = state.encode().expect("valid");
        let length = bytes.len();
        damage.iter().for_each(|(at, byte)| bytes[at.index(length)] = *byte);
        assert_canonical(&bytes);
    }
}

#[test]
fn repeated_vertex_inputs_are_named_as_such() {
    let buffer = VertexBuffer { slot: 3, stride: 12, step_rate: 0 };
    let twice = GraphicsState { vertex_buffers: vec![buffer, buffer], ..GraphicsState::default() };
    let sentence = twice.encode().expect_err("a slot twice").sentence().to_owned();
    assert_eq!(sentence, "vertex buffer slot 3 is listed twice: list each once");
    let attribute = VertexAttribute { location: 5, slot: 3, ..VertexAttribute::default() };
    let twice = GraphicsState {
        vertex_buffers: vec![buffer],
        attributes: vec![attribute, attribute],
        ..GraphicsState::default()
    };
    let sentence = twice.encode().expect_err("a location twice").sentence().to_owned();
    assert_eq!(sentence, "vertex attribute location 5 is listed twice: list each once");
}
