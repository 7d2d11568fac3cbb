// hobgoblin/fingerprint.h: Names of shader programs and of the machines that they are compiled for.
// Generated from abi/hobgoblin-api.json; do not edit. MIT OR Apache-2.0.

using System;
using System.Runtime.InteropServices;

namespace Hobgoblin.Interop
{
    /// <summary>The hash of a program key.</summary>
    public enum hob_fingerprint_mode : uint
    {
        /// <summary>BLAKE3 of all inputs.</summary>
        HOB_FINGERPRINT_MODE_BLAKE3 = 0,

        /// <summary>As in Chromium's note "GPU Program Caching": SHA1(SHA1(vertex) + SHA1(fragment) + attributes) and 12 zero bytes.</summary>
        /// <remarks>
        /// For one vertex stage, one fragment stage and attributes; everything else is HOB_RESULT_UNSUPPORTED. The
        /// attributes are hashed in order of name: each name, then its location in 4 bytes, big-endian. See
        /// docs/formats.md.
        /// </remarks>
        HOB_FINGERPRINT_MODE_SHA1 = 1,
    }

    /// <summary>Shader stages.</summary>
    /// <remarks>
    /// Numbers from HOB_SHADER_STAGE_USER on are free for the host.
    /// </remarks>
    public enum hob_shader_stage : uint
    {
        /// <summary>Vertex shader.</summary>
        HOB_SHADER_STAGE_VERTEX = 0,

        /// <summary>Tessellation control (hull) shader.</summary>
        HOB_SHADER_STAGE_TESSELLATION_CONTROL = 1,

        /// <summary>Tessellation evaluation (domain) shader.</summary>
        HOB_SHADER_STAGE_TESSELLATION_EVALUATION = 2,

        /// <summary>Geometry shader.</summary>
        HOB_SHADER_STAGE_GEOMETRY = 3,

        /// <summary>Fragment (pixel) shader.</summary>
        HOB_SHADER_STAGE_FRAGMENT = 4,

        /// <summary>Compute shader.</summary>
        HOB_SHADER_STAGE_COMPUTE = 5,

        /// <summary>Task (amplification) shader.</summary>
        HOB_SHADER_STAGE_TASK = 6,

        /// <summary>Mesh shader.</summary>
        HOB_SHADER_STAGE_MESH = 7,

        /// <summary>Ray generation shader.</summary>
        HOB_SHADER_STAGE_RAY_GENERATION = 8,

        /// <summary>Any-hit shader.</summary>
        HOB_SHADER_STAGE_ANY_HIT = 9,

        /// <summary>Closest-hit shader.</summary>
        HOB_SHADER_STAGE_CLOSEST_HIT = 10,

        /// <summary>Miss shader.</summary>
        HOB_SHADER_STAGE_MISS = 11,

        /// <summary>Intersection shader.</summary>
        HOB_SHADER_STAGE_INTERSECTION = 12,

        /// <summary>Callable shader.</summary>
        HOB_SHADER_STAGE_CALLABLE = 13,

        /// <summary>The first number that is free for the host.</summary>
        HOB_SHADER_STAGE_USER = 64,
    }

    /// <summary>Kinds of the parts of a program key.</summary>
    public enum hob_program_part : uint
    {
        /// <summary>The source of a stage; the index is the hob_shader_stage.</summary>
        HOB_PROGRAM_PART_STAGE = 1,

        /// <summary>The attributes.</summary>
        HOB_PROGRAM_PART_ATTRIBUTES = 2,

        /// <summary><c>defines</c>.</summary>
        HOB_PROGRAM_PART_DEFINES = 3,

        /// <summary><c>feedback_mode</c> and the varyings.</summary>
        HOB_PROGRAM_PART_FEEDBACK = 4,

        /// <summary><c>extra</c>.</summary>
        HOB_PROGRAM_PART_EXTRA = 5,
    }

    /// <summary>Graphics APIs.</summary>
    /// <remarks>
    /// Numbers from HOB_GRAPHICS_API_USER on are free for the host.
    /// </remarks>
    public enum hob_graphics_api : uint
    {
        /// <summary>Unknown.</summary>
        HOB_GRAPHICS_API_UNKNOWN = 0,

        /// <summary>OpenGL.</summary>
        HOB_GRAPHICS_API_OPENGL = 1,

        /// <summary>OpenGL ES, WebGL.</summary>
        HOB_GRAPHICS_API_OPENGL_ES = 2,

        /// <summary>Vulkan.</summary>
        HOB_GRAPHICS_API_VULKAN = 3,

        /// <summary>Direct3D 11.</summary>
        HOB_GRAPHICS_API_D3D11 = 4,

        /// <summary>Direct3D 12.</summary>
        HOB_GRAPHICS_API_D3D12 = 5,

        /// <summary>Metal.</summary>
        HOB_GRAPHICS_API_METAL = 6,

        /// <summary>WebGPU.</summary>
        HOB_GRAPHICS_API_WEBGPU = 7,

        /// <summary>The first number that is free for the host.</summary>
        HOB_GRAPHICS_API_USER = 64,
    }

    /// <summary>Kinds of the parts of an environment.</summary>
    public enum hob_environment_part : uint
    {
        /// <summary><c>api</c>.</summary>
        HOB_ENVIRONMENT_PART_API = 1,

        /// <summary><c>vendor_id</c>.</summary>
        HOB_ENVIRONMENT_PART_VENDOR_ID = 2,

        /// <summary><c>device_id</c>.</summary>
        HOB_ENVIRONMENT_PART_DEVICE_ID = 3,

        /// <summary><c>pointer_size</c>.</summary>
        HOB_ENVIRONMENT_PART_POINTER_SIZE = 4,

        /// <summary><c>driver_version</c>.</summary>
        HOB_ENVIRONMENT_PART_DRIVER_VERSION = 5,

        /// <summary><c>device_uuid</c>.</summary>
        HOB_ENVIRONMENT_PART_DEVICE_UUID = 6,

        /// <summary><c>driver_uuid</c>.</summary>
        HOB_ENVIRONMENT_PART_DRIVER_UUID = 7,

        /// <summary><c>vendor</c>.</summary>
        HOB_ENVIRONMENT_PART_VENDOR = 8,

        /// <summary><c>device</c>.</summary>
        HOB_ENVIRONMENT_PART_DEVICE = 9,

        /// <summary><c>driver</c>.</summary>
        HOB_ENVIRONMENT_PART_DRIVER = 10,

        /// <summary><c>build</c>.</summary>
        HOB_ENVIRONMENT_PART_BUILD = 11,
    }

    /// <summary>A fingerprint.</summary>
    /// <remarks>
    /// Compare two with hob_fingerprint_equal or memcmp.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_fingerprint
    {
        /// <summary>The hash.</summary>
        public fixed byte bytes[32];
    }

    /// <summary>One part of a program key or an environment.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_fingerprint_part
    {
        /// <summary>A hob_program_part or a hob_environment_part.</summary>
        public uint kind;

        /// <summary>The hob_shader_stage of a stage; 0 for all other kinds. Stages of one kind, such as several hit shaders, have
        /// the same index: their order tells them apart.</summary>
        public uint index;

        /// <summary>Size of the input in bytes.</summary>
        public ulong size;

        /// <summary>The first 8 bytes of the input's hash. For a stage, that hash is hob_fingerprint_hash_bytes, or SHA-1 in that
        /// mode.</summary>
        public fixed byte digest[8];
    }

    /// <summary>The source of one stage.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_stage
    {
        /// <summary>A hob_shader_stage, or a number of the host from HOB_SHADER_STAGE_USER on.</summary>
        public uint stage;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>Text or bytecode. May be NULL if <c>size</c> is 0.</summary>
        public void* source;

        /// <summary>Size in bytes. SIZE_MAX: <c>source</c> is text that ends in NUL.</summary>
        public UIntPtr size;
    }

    /// <summary>The location of one vertex attribute.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_attribute_binding
    {
        /// <summary>Its name in the source.</summary>
        public hob_str name;

        /// <summary>Its location.</summary>
        public uint location;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>The inputs of a program key: everything that affects the compiled program.</summary>
    /// <remarks>
    /// At most 1024 stages, 1024 attributes and 1024 varyings. The library keeps no pointer of it.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_program_key_desc
    {
        /// <summary>sizeof(hob_program_key_desc).</summary>
        public uint struct_size;

        /// <summary>The hash. Default 0: HOB_FINGERPRINT_MODE_BLAKE3.</summary>
        public hob_fingerprint_mode mode;

        /// <summary>At least one stage. Their order matters.</summary>
        public hob_program_stage* stages;

        /// <summary>Bytes from one stage to the next: sizeof of hob_program_stage, or of a struct that begins with one. Default 0:</summary>
        /// <remarks>
        /// the first released size.
        /// </remarks>
        public UIntPtr stage_stride;

        /// <summary>Number of stages. 0 is an error.</summary>
        public UIntPtr stage_count;

        /// <summary>Vertex attributes, in any order. If two have the same name, the last one counts, as for glBindAttribLocation.</summary>
        public hob_attribute_binding* attributes;

        /// <summary>Bytes from one attribute to the next, as <c>stage_stride</c>.</summary>
        public UIntPtr attribute_stride;

        /// <summary>Number of attributes. Default 0: none.</summary>
        public UIntPtr attribute_count;

        /// <summary>Preprocessor definitions, in any form.</summary>
        public void* defines;

        /// <summary>Size of <c>defines</c> in bytes. Default 0: none.</summary>
        public UIntPtr defines_size;

        /// <summary>Names of the varyings that transform feedback captures. Their order matters.</summary>
        public hob_str* varyings;

        /// <summary>Bytes from one varying to the next, as <c>stage_stride</c>.</summary>
        public UIntPtr varying_stride;

        /// <summary>Number of varyings. Default 0: none.</summary>
        public UIntPtr varying_count;

        /// <summary>Additional bytes that affect compilation, such as compiler flags, entry points and specialisation constants. GL:</summary>
        /// <remarks>
        /// also fragment outputs (glBindFragDataLocation) and GL_PROGRAM_SEPARABLE. Vulkan: also the pipeline layout and
        /// all pipeline state that is not dynamic. Write them in a fixed order, without padding bytes.
        /// </remarks>
        public void* extra;

        /// <summary>Size of <c>extra</c> in bytes. Default 0: none.</summary>
        public UIntPtr extra_size;

        /// <summary>How varyings are captured, as a number of the graphics API: GL_INTERLEAVED_ATTRIBS, for instance. Default 0: no
        /// transform feedback.</summary>
        public uint feedback_mode;

        /// <summary>Must be 0.</summary>
        public uint reserved;
    }

    /// <summary>The driver, the device and the build that program binaries are valid for.</summary>
    /// <remarks>
    /// Unknown fields stay 0 or empty. The library keeps no pointer of it.
    /// </remarks>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct hob_environment
    {
        /// <summary>sizeof(hob_environment).</summary>
        public uint struct_size;

        /// <summary>A hob_graphics_api, or a number of the host from HOB_GRAPHICS_API_USER on.</summary>
        public uint api;

        /// <summary>The vendor's PCI id, or the graphics API's number.</summary>
        public uint vendor_id;

        /// <summary>The device's PCI id, or the graphics API's number.</summary>
        public uint device_id;

        /// <summary>Bytes of a pointer in the process that loads the driver. Default 0: sizeof(void *) of this process.</summary>
        public uint pointer_size;

        /// <summary>Must be 0.</summary>
        public uint reserved;

        /// <summary>The driver's version, if it is a number.</summary>
        public ulong driver_version;

        /// <summary>VkPhysicalDeviceIDProperties.deviceUUID, or similar.</summary>
        public fixed byte device_uuid[16];

        /// <summary>VkPhysicalDeviceIDProperties.driverUUID, or similar.</summary>
        public fixed byte driver_uuid[16];

        /// <summary>GL_VENDOR, or similar.</summary>
        public hob_str vendor;

        /// <summary>GL_RENDERER, or similar.</summary>
        public hob_str device;

        /// <summary>GL_VERSION, or similar. Vulkan: driverName and driverInfo, then pipelineCacheUUID and shaderBinaryUUID as text:</summary>
        /// <remarks>
        /// trials/program_cache_vk/cache.cpp shows how.
        /// </remarks>
        public hob_str driver;

        /// <summary>The version of the host, including its shader translator.</summary>
        public hob_str build;
    }

    /// <summary>The functions of the library.</summary>
    public static unsafe partial class Native
    {
        /// <summary>Computes the fingerprint of <c>size</c> bytes: their BLAKE3.</summary>
        /// <remarks>
        /// <c>data</c> may be NULL if <c>size</c> is 0. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_fingerprint_hash_bytes(void* data, UIntPtr size, hob_fingerprint* out_fingerprint);

        /// <summary>Returns 1 if two fingerprints are equal, 0 if they differ.</summary>
        /// <remarks>
        /// Returns 0 also if <c>a</c>, <c>b</c> or both are NULL. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern uint hob_fingerprint_equal(hob_fingerprint* a, hob_fingerprint* b);

        /// <summary>Writes a fingerprint as 64 hexadecimal digits in lower case, without a NUL.</summary>
        /// <remarks>
        /// <c>*out_size</c> receives the required size, 64. <c>buffer</c> NULL asks only for that. If <c>capacity</c> is too small, the result
        /// is HOB_RESULT_BUFFER_TOO_SMALL and the buffer stays unchanged. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_fingerprint_get_hex(hob_fingerprint* fingerprint, byte* buffer, UIntPtr capacity, UIntPtr* out_size);

        /// <summary>Computes a shader key: that of a stage and its source.</summary>
        /// <remarks>
        /// hob_program_manager names its shaders so, so hob_program_cache_get_shader_status can tell about them. <c>stage</c> is a
        /// hob_shader_stage or a number of the host. <c>source</c> may be NULL if <c>size</c> is 0. HOB_RESULT_INVALID_ARGUMENT: the
        /// stage is unknown. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_fingerprint_hash_shader(uint stage, void* source, UIntPtr size, hob_fingerprint* out_fingerprint);

        /// <summary>Computes a program key.</summary>
        /// <remarks>
        /// <code>
        /// hob_fingerprint key;
        /// if (hob_fingerprint_hash_program(&amp;desc, &amp;key) != HOB_RESULT_OK) fail(hob_last_error());
        /// </code>
        /// HOB_RESULT_INVALID_ARGUMENT without a stage. HOB_RESULT_LIMIT_EXCEEDED with more than 1024 stages, attributes or
        /// varyings. HOB_RESULT_UNSUPPORTED if the mode cannot express an input. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_fingerprint_hash_program(hob_program_key_desc* desc, hob_fingerprint* out_fingerprint);

        /// <summary>Gets the parts of a program key: the stages in their order, then attributes, defines, feedback and extra.</summary>
        /// <remarks>
        /// Empty inputs have no part, except stages. <c>*out_count</c> receives the number of parts. <c>parts</c> NULL asks only for
        /// that. If <c>capacity</c> is too small, the result is HOB_RESULT_BUFFER_TOO_SMALL and <c>parts</c> stays unchanged.
        /// <c>part_stride</c> 0 is the first released size of hob_fingerprint_part. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_fingerprint_get_program_parts(hob_program_key_desc* desc, hob_fingerprint_part* parts, UIntPtr part_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Gets the id of an environment, which is never 0.</summary>
        /// <remarks>
        /// It is 64 bits of the hash of all parts. Caches load only programs with their own id, and compare nothing else of the
        /// environment. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_environment_get_id(hob_environment* environment, ulong* out_id);

        /// <summary>Gets the parts of an environment: the fields that are not 0 or empty, in the order of hob_environment_part.</summary>
        /// <remarks>
        /// Count, capacity and stride work as in hob_fingerprint_get_program_parts. Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_environment_get_parts(hob_environment* environment, hob_fingerprint_part* parts, UIntPtr part_stride, UIntPtr capacity, UIntPtr* out_count);

        /// <summary>Sets the defaults of a hob_program_key_desc.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_program_key_desc). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_program_key_desc_init(hob_program_key_desc* value, uint size);

        /// <summary>Sets the defaults of a hob_environment.</summary>
        /// <remarks>
        /// <c>size</c> is sizeof(hob_environment). Threads: any.
        /// </remarks>
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, ExactSpelling = true)]
        public static extern hob_result hob_environment_init(hob_environment* value, uint size);
    }
}
