// hobgoblin/fingerprint.h: Names for what is cached: of shader programs, and of the environments they are built for.
// Generated from src/ffi/fingerprint.rs; do not edit. MIT OR Apache-2.0.

#ifndef HOBGOBLIN_FINGERPRINT_H
#define HOBGOBLIN_FINGERPRINT_H

#include "base.h"

/// How a program's name is made.
typedef enum {
    /// BLAKE3 over framed parts.
    HOB_FINGERPRINT_MODE_BLAKE3 = 0,
    /// SHA1(SHA1(vertex) + SHA1(fragment) + attributes), as in Chromium's "GPU Program Caching" note, and 12 zeros. One
    /// vertex and one fragment stage and attributes alone: all else is HOB_RESULT_UNSUPPORTED.
    HOB_FINGERPRINT_MODE_SHA1 = 1,
} hob_fingerprint_mode;

/// Which stage a source is for. Numbers from HOB_SHADER_STAGE_USER on are the host's own.
typedef enum {
    HOB_SHADER_STAGE_VERTEX = 0,
    HOB_SHADER_STAGE_TESSELLATION_CONTROL = 1,
    HOB_SHADER_STAGE_TESSELLATION_EVALUATION = 2,
    HOB_SHADER_STAGE_GEOMETRY = 3,
    HOB_SHADER_STAGE_FRAGMENT = 4,
    HOB_SHADER_STAGE_COMPUTE = 5,
    HOB_SHADER_STAGE_TASK = 6,
    HOB_SHADER_STAGE_MESH = 7,
    HOB_SHADER_STAGE_RAY_GENERATION = 8,
    HOB_SHADER_STAGE_ANY_HIT = 9,
    HOB_SHADER_STAGE_CLOSEST_HIT = 10,
    HOB_SHADER_STAGE_MISS = 11,
    HOB_SHADER_STAGE_INTERSECTION = 12,
    HOB_SHADER_STAGE_CALLABLE = 13,
    HOB_SHADER_STAGE_USER = 64,
} hob_shader_stage;

/// A graphics API. Numbers from HOB_GRAPHICS_API_USER on are the host's own.
typedef enum {
    HOB_GRAPHICS_API_UNKNOWN = 0,
    HOB_GRAPHICS_API_OPENGL = 1,
    HOB_GRAPHICS_API_OPENGL_ES = 2,
    HOB_GRAPHICS_API_VULKAN = 3,
    HOB_GRAPHICS_API_D3D11 = 4,
    HOB_GRAPHICS_API_D3D12 = 5,
    HOB_GRAPHICS_API_METAL = 6,
    HOB_GRAPHICS_API_WEBGPU = 7,
    HOB_GRAPHICS_API_USER = 64,
} hob_graphics_api;

/// Kinds of a program's parts.
typedef enum {
    /// The source of a stage; the index is the hob_shader_stage.
    HOB_PROGRAM_PART_STAGE = 1,
    /// The attribute bindings.
    HOB_PROGRAM_PART_ATTRIBUTES = 2,
    HOB_PROGRAM_PART_DEFINES = 3,
    /// Feedback mode and varyings.
    HOB_PROGRAM_PART_FEEDBACK = 4,
    HOB_PROGRAM_PART_EXTRA = 5,
} hob_program_part;

/// Kinds of an environment's parts.
typedef enum {
    HOB_ENVIRONMENT_PART_API = 1,
    HOB_ENVIRONMENT_PART_VENDOR_ID = 2,
    HOB_ENVIRONMENT_PART_DEVICE_ID = 3,
    HOB_ENVIRONMENT_PART_POINTER_SIZE = 4,
    HOB_ENVIRONMENT_PART_DRIVER_VERSION = 5,
    HOB_ENVIRONMENT_PART_DEVICE_UUID = 6,
    HOB_ENVIRONMENT_PART_DRIVER_UUID = 7,
    HOB_ENVIRONMENT_PART_VENDOR = 8,
    HOB_ENVIRONMENT_PART_DEVICE = 9,
    HOB_ENVIRONMENT_PART_DRIVER = 10,
    HOB_ENVIRONMENT_PART_BUILD = 11,
} hob_environment_part;

/// The source of one stage.
typedef struct {
    /// A hob_shader_stage, or a number of the host's own from HOB_SHADER_STAGE_USER on.
    uint32_t stage;
    /// Zero.
    uint32_t reserved;
    /// Text or binary. May be NULL when `size` is 0.
    const void *source;
    /// Bytes; SIZE_MAX: `source` is text that ends in NUL.
    size_t size;
} hob_program_stage;

/// Where an attribute is bound.
typedef struct {
    hob_str name;
    uint32_t location;
    /// Zero.
    uint32_t reserved;
} hob_attribute_binding;

/// All that a driver's compiler is given for a program. Of stages, attributes and varyings there may be 1024 each.
typedef struct {
    /// sizeof(hob_program_key_desc); set by hob_program_key_desc_init.
    uint32_t struct_size;
    /// A hob_fingerprint_mode. Default HOB_FINGERPRINT_MODE_BLAKE3.
    uint32_t mode;
    /// At least one stage; their order counts.
    const hob_program_stage *stages;
    /// sizeof(hob_program_stage), or of the host's struct that begins with one.
    size_t stage_stride;
    size_t stage_count;
    /// In any order. Of those with the same name the last counts, as for glBindAttribLocation.
    const hob_attribute_binding *attributes;
    /// sizeof(hob_attribute_binding), or of the host's struct that begins with one.
    size_t attribute_stride;
    size_t attribute_count;
    /// Any bytes; none is the same as empty.
    const void *defines;
    size_t defines_size;
    /// What transform feedback captures, in this order.
    const hob_str *varyings;
    /// sizeof(hob_str), or of the host's struct that begins with one.
    size_t varying_stride;
    size_t varying_count;
    /// Any bytes: whatever else changes what the driver makes of it.
    const void *extra;
    size_t extra_size;
    /// The API's number for how varyings are captured; 0: not at all.
    uint32_t feedback_mode;
    /// Zero.
    uint32_t reserved;
} hob_program_key_desc;

/// The driver, the device and the build that binaries are made for. What is not known stays zero or empty.
typedef struct {
    /// sizeof(hob_environment); set by hob_environment_init.
    uint32_t struct_size;
    /// A hob_graphics_api, or a number of the host's own from HOB_GRAPHICS_API_USER on.
    uint32_t api;
    /// The vendor's number (PCI, or the API's own).
    uint32_t vendor_id;
    /// The device's number.
    uint32_t device_id;
    /// Bytes of a pointer in the process that the driver is loaded into. Default: this one's.
    uint32_t pointer_size;
    /// Zero.
    uint32_t reserved;
    /// The driver's version, where it is a number.
    uint64_t driver_version;
    uint8_t device_uuid[16];
    uint8_t driver_uuid[16];
    /// GL_VENDOR or the like.
    hob_str vendor;
    /// GL_RENDERER or the like.
    hob_str device;
    /// GL_VERSION or the like.
    hob_str driver;
    /// The host's build: what translates sources may change with it.
    hob_str build;
} hob_environment;

/// A name of 256 bits: equal for equal inputs. Compare with hob_fingerprint_equal or memcmp.
typedef struct {
    uint8_t bytes[32];
} hob_fingerprint;

/// One part of a name, to find out later which part differs.
typedef struct {
    /// A hob_program_part or a hob_environment_part.
    uint32_t kind;
    /// Which of its kind.
    uint32_t index;
    /// Its bytes.
    uint64_t length;
    /// The beginning of its hash: of a stage, the first 8 bytes of hob_fingerprint_bytes (of SHA-1 in that mode).
    uint8_t digest[8];
} hob_fingerprint_part;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// Fill in defaults, but no strides, which the library cannot know; `size` is sizeof(hob_program_key_desc). Usually by
/// HOB_PROGRAM_KEY_DESC_INIT, which sets them.
HOB_API hob_result hob_program_key_desc_init(hob_program_key_desc *desc, uint32_t size);

/// Fill in defaults; `size` is sizeof(hob_environment). Usually by HOB_ENVIRONMENT_INIT.
HOB_API hob_result hob_environment_init(hob_environment *environment, uint32_t size);

/// The BLAKE3 of `size` bytes; `data` may be NULL when `size` is 0. On failure `*out_fingerprint` is as it was.
/// Threads: any.
HOB_NODISCARD HOB_API hob_result hob_fingerprint_bytes(const void *data, size_t size, hob_fingerprint *out_fingerprint);

/// The name of a program. HOB_RESULT_INVALID_ARGUMENT without a stage, HOB_RESULT_LIMIT_EXCEEDED with more than 1024 of
/// something, HOB_RESULT_UNSUPPORTED for what the mode has no room for; on failure `*out_fingerprint` is as it was.
/// Nothing that `desc` points to is kept. Threads: any.
HOB_NODISCARD HOB_API
hob_result hob_fingerprint_program(const hob_program_key_desc *desc,
                                   hob_fingerprint *out_fingerprint);

/// The parts of a program's name, in a fixed order: the stages as they are given, then of attributes, defines, feedback
/// and extra what is not empty.
/// `part_stride` is sizeof(hob_fingerprint_part). `*out_count` gets the number of parts. With `parts` NULL that is all;
/// with `capacity` too small the result is HOB_RESULT_BUFFER_TOO_SMALL and `parts` is left alone.
/// Threads: any.
HOB_API
hob_result hob_fingerprint_program_parts(const hob_program_key_desc *desc,
                                         hob_fingerprint_part *parts,
                                         size_t part_stride,
                                         size_t capacity,
                                         size_t *out_count);

/// The number of an environment, never 0: entries of other environments are never loaded. On failure `*out_id` is as it
/// was. Threads: any.
HOB_API hob_result hob_environment_id(const hob_environment *environment, uint64_t *out_id);

/// The parts of an environment's number, as hob_fingerprint_program_parts gives those of a program: the fields that are
/// not zero or empty, in the order of hob_environment_part. Threads: any.
HOB_API
hob_result hob_environment_parts(const hob_environment *environment,
                                 hob_fingerprint_part *parts,
                                 size_t part_stride,
                                 size_t capacity,
                                 size_t *out_count);

/// 64 lower-case digits, without a NUL.
/// `*out_size` gets the bytes needed. With `buffer` NULL that is all; with `capacity` too small the result is
/// HOB_RESULT_BUFFER_TOO_SMALL and the buffer is left alone. Threads: any.
HOB_API
hob_result hob_fingerprint_hex(const hob_fingerprint *fingerprint,
                               char *buffer,
                               size_t capacity,
                               size_t *out_size);

/// 1 if both are the same name, 0 if not or if one is NULL. Threads: any.
HOB_NODISCARD HOB_API uint32_t hob_fingerprint_equal(const hob_fingerprint *a, const hob_fingerprint *b);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/// A hob_program_key_desc with defaults, of this header's size.
static inline hob_program_key_desc hob_program_key_desc_default(void) {
    hob_program_key_desc value;
    (void)hob_program_key_desc_init(&value, (uint32_t)sizeof(value));
    value.stage_stride = sizeof(hob_program_stage);
    value.attribute_stride = sizeof(hob_attribute_binding);
    value.varying_stride = sizeof(hob_str);
    return value;
}
#define HOB_PROGRAM_KEY_DESC_INIT (hob_program_key_desc_default())

/// A hob_environment with defaults, of this header's size.
static inline hob_environment hob_environment_default(void) {
    hob_environment value;
    (void)hob_environment_init(&value, (uint32_t)sizeof(value));
    return value;
}
#define HOB_ENVIRONMENT_INIT (hob_environment_default())

#endif  // HOBGOBLIN_FINGERPRINT_H
