// hobgoblin/fingerprint.h: Names of shader programs and of the machines that they are compiled for.
//
//     hob_program_stage stages[] = {
//         {HOB_SHADER_STAGE_VERTEX, 0, vertex_source, SIZE_MAX},      /* SIZE_MAX: the text ends in NUL */
//         {HOB_SHADER_STAGE_FRAGMENT, 0, fragment_source, SIZE_MAX},
//     };
//     hob_program_key_desc desc = HOB_PROGRAM_KEY_DESC_INIT;
//     hob_fingerprint key;
//     desc.stages = stages;
//     desc.stage_count = 2;
//     if (hob_fingerprint_hash_program(&desc, &key) != HOB_RESULT_OK) fail(hob_last_error());
//
// Terms:
// - Fingerprint: a hash of 256 bits. Equal inputs have equal fingerprints.
// - Program key: the fingerprint of everything that the driver's compiler gets for one program.
// - Environment: the driver, the device and the build. Program binaries are valid in one environment only.
// - Part: one input of a program key or an environment, with its own short hash. Parts show which inputs differ.
//
// Generated from src/ffi/fingerprint; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_FINGERPRINT_H
#define HOBGOBLIN_FINGERPRINT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Fingerprints ---------------------------------------------------------------------------------------------------

/// A fingerprint.
/// Compare two with hob_fingerprint_equal or memcmp.
typedef struct hob_fingerprint {
    /// The hash.
    uint8_t bytes[32];
} hob_fingerprint;

/// Computes the fingerprint of `size` bytes: their BLAKE3.
/// `data` may be NULL if `size` is 0. Threads: any.
HOB_API hob_result hob_fingerprint_hash_bytes(const void *data, size_t size, hob_fingerprint *out_fingerprint);

/// Returns 1 if two fingerprints are equal, 0 if they differ.
/// Returns 0 also if `a`, `b` or both are NULL. Threads: any.
HOB_NODISCARD HOB_API uint32_t hob_fingerprint_equal(const hob_fingerprint *a, const hob_fingerprint *b);

/// Writes a fingerprint as 64 hexadecimal digits in lower case, without a NUL.
/// `*out_size` receives the required size, 64. `buffer` NULL asks only for that. If `capacity` is too small, the result
/// is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: any.
HOB_API hob_result hob_fingerprint_get_hex(
    const hob_fingerprint *fingerprint, char *buffer, size_t capacity, size_t *out_size);

/// One part of a program key or an environment.
typedef struct hob_fingerprint_part {
    /// A hob_program_part or a hob_environment_part.
    uint32_t kind;
    /// The hob_shader_stage of a stage; 0 for all other kinds. Stages of one kind, such as several hit shaders, have
    /// the same index: their order tells them apart.
    uint32_t index;
    /// Size of the input in bytes.
    uint64_t size;
    /// The first 8 bytes of the input's hash. For a stage, that hash is hob_fingerprint_hash_bytes, or SHA-1 in that
    /// mode.
    uint8_t digest[8];
} hob_fingerprint_part;

// ---- Program keys ---------------------------------------------------------------------------------------------------

/// The hash of a program key.
typedef enum hob_fingerprint_mode {
    /// BLAKE3 of all inputs.
    HOB_FINGERPRINT_MODE_BLAKE3 = 0,
    /// As in Chromium's note "GPU Program Caching": SHA1(SHA1(vertex) + SHA1(fragment) + attributes) and 12 zero bytes.
    /// For one vertex stage, one fragment stage and attributes; everything else is HOB_RESULT_UNSUPPORTED. The
    /// attributes are hashed in order of name: each name, then its location in 4 bytes, big-endian. See
    /// docs/formats.md.
    HOB_FINGERPRINT_MODE_SHA1 = 1,
} hob_fingerprint_mode;

/// Shader stages.
/// Numbers from HOB_SHADER_STAGE_USER on are free for the host.
typedef enum hob_shader_stage {
    /// Vertex shader.
    HOB_SHADER_STAGE_VERTEX = 0,
    /// Tessellation control (hull) shader.
    HOB_SHADER_STAGE_TESSELLATION_CONTROL = 1,
    /// Tessellation evaluation (domain) shader.
    HOB_SHADER_STAGE_TESSELLATION_EVALUATION = 2,
    /// Geometry shader.
    HOB_SHADER_STAGE_GEOMETRY = 3,
    /// Fragment (pixel) shader.
    HOB_SHADER_STAGE_FRAGMENT = 4,
    /// Compute shader.
    HOB_SHADER_STAGE_COMPUTE = 5,
    /// Task (amplification) shader.
    HOB_SHADER_STAGE_TASK = 6,
    /// Mesh shader.
    HOB_SHADER_STAGE_MESH = 7,
    /// Ray generation shader.
    HOB_SHADER_STAGE_RAY_GENERATION = 8,
    /// Any-hit shader.
    HOB_SHADER_STAGE_ANY_HIT = 9,
    /// Closest-hit shader.
    HOB_SHADER_STAGE_CLOSEST_HIT = 10,
    /// Miss shader.
    HOB_SHADER_STAGE_MISS = 11,
    /// Intersection shader.
    HOB_SHADER_STAGE_INTERSECTION = 12,
    /// Callable shader.
    HOB_SHADER_STAGE_CALLABLE = 13,
    /// The first number that is free for the host.
    HOB_SHADER_STAGE_USER = 64,
} hob_shader_stage;

/// The source of one stage.
typedef struct hob_program_stage {
    /// A hob_shader_stage, or a number of the host from HOB_SHADER_STAGE_USER on.
    uint32_t stage;
    /// Must be 0.
    uint32_t reserved;
    /// Text or bytecode. May be NULL if `size` is 0.
    const void *source;
    /// Size in bytes. SIZE_MAX: `source` is text that ends in NUL.
    size_t size;
} hob_program_stage;

/// The location of one vertex attribute.
typedef struct hob_attribute_binding {
    /// Its name in the source.
    hob_str name;
    /// Its location.
    uint32_t location;
    /// Must be 0.
    uint32_t reserved;
} hob_attribute_binding;

/// The inputs of a program key: everything that affects the compiled program.
/// At most 1024 stages, 1024 attributes and 1024 varyings. The library keeps no pointer of it.
typedef struct hob_program_key_desc {
    /// sizeof(hob_program_key_desc).
    uint32_t struct_size;
    /// The hash. Default 0: HOB_FINGERPRINT_MODE_BLAKE3.
    hob_fingerprint_mode mode;
    /// At least one stage. Their order matters.
    const hob_program_stage *stages;
    /// Bytes from one stage to the next: sizeof of hob_program_stage, or of a struct that begins with one. Default 0:
    /// the first released size.
    size_t stage_stride;
    /// Number of stages. 0 is an error.
    size_t stage_count;
    /// Vertex attributes, in any order. If two have the same name, the last one counts, as for glBindAttribLocation.
    const hob_attribute_binding *attributes;
    /// Bytes from one attribute to the next, as `stage_stride`.
    size_t attribute_stride;
    /// Number of attributes. Default 0: none.
    size_t attribute_count;
    /// Preprocessor definitions, in any form.
    const void *defines;
    /// Size of `defines` in bytes. Default 0: none.
    size_t defines_size;
    /// Names of the varyings that transform feedback captures. Their order matters.
    const hob_str *varyings;
    /// Bytes from one varying to the next, as `stage_stride`.
    size_t varying_stride;
    /// Number of varyings. Default 0: none.
    size_t varying_count;
    /// Additional bytes that affect compilation, such as compiler flags, entry points and specialisation constants. GL:
    /// also fragment outputs (glBindFragDataLocation) and GL_PROGRAM_SEPARABLE. Vulkan: also the pipeline layout and
    /// all pipeline state that is not dynamic. Write them in a fixed order, without padding bytes.
    const void *extra;
    /// Size of `extra` in bytes. Default 0: none.
    size_t extra_size;
    /// How varyings are captured, as a number of the graphics API: GL_INTERLEAVED_ATTRIBS, for instance. Default 0: no
    /// transform feedback.
    uint32_t feedback_mode;
    /// Must be 0.
    uint32_t reserved;
} hob_program_key_desc;

/// Computes a shader key: that of a stage and its source.
/// hob_program_manager names its shaders so, so hob_program_cache_get_shader_status can tell about them. `stage` is a
/// hob_shader_stage or a number of the host. `source` may be NULL if `size` is 0. HOB_RESULT_INVALID_ARGUMENT: the
/// stage is unknown. Threads: any.
HOB_API hob_result hob_fingerprint_hash_shader(
    uint32_t stage, const void *source, size_t size, hob_fingerprint *out_fingerprint);

/// Computes a program key.
///
///     hob_fingerprint key;
///     if (hob_fingerprint_hash_program(&desc, &key) != HOB_RESULT_OK) fail(hob_last_error());
///
/// HOB_RESULT_INVALID_ARGUMENT without a stage. HOB_RESULT_LIMIT_EXCEEDED with more than 1024 stages, attributes or
/// varyings. HOB_RESULT_UNSUPPORTED if the mode cannot express an input. Threads: any.
HOB_API hob_result hob_fingerprint_hash_program(const hob_program_key_desc *desc, hob_fingerprint *out_fingerprint);

// ---- Parts ----------------------------------------------------------------------------------------------------------

/// Kinds of the parts of a program key.
typedef enum hob_program_part {
    /// The source of a stage; the index is the hob_shader_stage.
    HOB_PROGRAM_PART_STAGE = 1,
    /// The attributes.
    HOB_PROGRAM_PART_ATTRIBUTES = 2,
    /// `defines`.
    HOB_PROGRAM_PART_DEFINES = 3,
    /// `feedback_mode` and the varyings.
    HOB_PROGRAM_PART_FEEDBACK = 4,
    /// `extra`.
    HOB_PROGRAM_PART_EXTRA = 5,
} hob_program_part;

/// Gets the parts of a program key: the stages in their order, then attributes, defines, feedback and extra.
/// Empty inputs have no part, except stages. `*out_count` receives the number of parts. `parts` NULL asks only for
/// that. If `capacity` is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and `parts` stays unchanged.
/// `part_stride` 0 is the first released size of hob_fingerprint_part. Threads: any.
HOB_API hob_result hob_fingerprint_get_program_parts(
    const hob_program_key_desc *desc, hob_fingerprint_part *parts, size_t part_stride, size_t capacity,
    size_t *out_count);

// ---- Environments ---------------------------------------------------------------------------------------------------

/// Graphics APIs.
/// Numbers from HOB_GRAPHICS_API_USER on are free for the host.
typedef enum hob_graphics_api {
    /// Unknown.
    HOB_GRAPHICS_API_UNKNOWN = 0,
    /// OpenGL.
    HOB_GRAPHICS_API_OPENGL = 1,
    /// OpenGL ES, WebGL.
    HOB_GRAPHICS_API_OPENGL_ES = 2,
    /// Vulkan.
    HOB_GRAPHICS_API_VULKAN = 3,
    /// Direct3D 11.
    HOB_GRAPHICS_API_D3D11 = 4,
    /// Direct3D 12.
    HOB_GRAPHICS_API_D3D12 = 5,
    /// Metal.
    HOB_GRAPHICS_API_METAL = 6,
    /// WebGPU.
    HOB_GRAPHICS_API_WEBGPU = 7,
    /// The first number that is free for the host.
    HOB_GRAPHICS_API_USER = 64,
} hob_graphics_api;

/// The driver, the device and the build that program binaries are valid for.
/// Unknown fields stay 0 or empty. The library keeps no pointer of it.
typedef struct hob_environment {
    /// sizeof(hob_environment).
    uint32_t struct_size;
    /// A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.
    uint32_t api;
    /// The vendor's PCI id, or the graphics API's number.
    uint32_t vendor_id;
    /// The device's PCI id, or the graphics API's number.
    uint32_t device_id;
    /// Bytes of a pointer in the process that loads the driver. Default 0: sizeof(void *) of this process.
    uint32_t pointer_size;
    /// Must be 0.
    uint32_t reserved;
    /// The driver's version, if it is a number.
    uint64_t driver_version;
    /// VkPhysicalDeviceIDProperties.deviceUUID, or similar.
    uint8_t device_uuid[16];
    /// VkPhysicalDeviceIDProperties.driverUUID, or similar.
    uint8_t driver_uuid[16];
    /// GL_VENDOR, or similar.
    hob_str vendor;
    /// GL_RENDERER, or similar.
    hob_str device;
    /// GL_VERSION, or similar. Vulkan: driverName and driverInfo, then pipelineCacheUUID and shaderBinaryUUID as text:
    /// trials/program_cache_vk/cache.cpp shows how.
    hob_str driver;
    /// The version of the host, including its shader translator.
    hob_str build;
} hob_environment;

/// Gets the id of an environment, which is never 0.
/// It is 64 bits of the hash of all parts. Caches load only programs with their own id, and compare nothing else of the
/// environment. Threads: any.
HOB_API hob_result hob_environment_get_id(const hob_environment *environment, uint64_t *out_id);

/// Kinds of the parts of an environment.
typedef enum hob_environment_part {
    /// `api`.
    HOB_ENVIRONMENT_PART_API = 1,
    /// `vendor_id`.
    HOB_ENVIRONMENT_PART_VENDOR_ID = 2,
    /// `device_id`.
    HOB_ENVIRONMENT_PART_DEVICE_ID = 3,
    /// `pointer_size`.
    HOB_ENVIRONMENT_PART_POINTER_SIZE = 4,
    /// `driver_version`.
    HOB_ENVIRONMENT_PART_DRIVER_VERSION = 5,
    /// `device_uuid`.
    HOB_ENVIRONMENT_PART_DEVICE_UUID = 6,
    /// `driver_uuid`.
    HOB_ENVIRONMENT_PART_DRIVER_UUID = 7,
    /// `vendor`.
    HOB_ENVIRONMENT_PART_VENDOR = 8,
    /// `device`.
    HOB_ENVIRONMENT_PART_DEVICE = 9,
    /// `driver`.
    HOB_ENVIRONMENT_PART_DRIVER = 10,
    /// `build`.
    HOB_ENVIRONMENT_PART_BUILD = 11,
} hob_environment_part;

/// Gets the parts of an environment: the fields that are not 0 or empty, in the order of hob_environment_part.
/// Count, capacity and stride work as in hob_fingerprint_get_program_parts. Threads: any.
HOB_API hob_result hob_environment_get_parts(
    const hob_environment *environment, hob_fingerprint_part *parts, size_t part_stride, size_t capacity,
    size_t *out_count);

// ---- Initialisers ---------------------------------------------------------------------------------------------------
//
// HOB_X_INIT is a hob_x with the library's defaults and this header's size: `hob_x value = HOB_X_INIT;`
// hob_x_init does the same for other languages: `size` is sizeof(hob_x).

HOB_API hob_result hob_program_key_desc_init(hob_program_key_desc *value, uint32_t size);
static inline hob_program_key_desc hob_program_key_desc_default(void) {
    hob_program_key_desc value;
    (void)hob_program_key_desc_init(&value, (uint32_t)sizeof(value));
    value.stage_stride = sizeof(hob_program_stage);
    value.attribute_stride = sizeof(hob_attribute_binding);
    value.varying_stride = sizeof(hob_str);
    return value;
}
#define HOB_PROGRAM_KEY_DESC_INIT (hob_program_key_desc_default())

HOB_API hob_result hob_environment_init(hob_environment *value, uint32_t size);
static inline hob_environment hob_environment_default(void) {
    hob_environment value;
    (void)hob_environment_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_ENVIRONMENT_INIT (hob_environment_default())

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // HOBGOBLIN_FINGERPRINT_H
