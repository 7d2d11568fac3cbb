// Names of shader programs and of the machines that they are compiled for. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;
using Hobgoblin.Interop;

#pragma warning disable 169, 649 // the library writes these fields

namespace Hobgoblin
{
    /// <summary>A hash of 256 bits. Equal inputs have equal fingerprints.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly unsafe struct Fingerprint : IEquatable<Fingerprint>
    {
        readonly ulong a, b, c, d;

        /// <summary>Takes 32 bytes.</summary>
        public Fingerprint(byte[] bytes)
        {
            if (bytes == null) throw new ArgumentNullException(nameof(bytes));
            if (bytes.Length != 32) throw new ArgumentException("a fingerprint has 32 bytes", nameof(bytes));
            fixed (byte* from = bytes) this = *(Fingerprint*)from;
        }

        /// <summary>Computes the fingerprint of bytes: their BLAKE3.</summary>
        public static Fingerprint OfBytes(byte[] bytes)
        {
            if (bytes == null) throw new ArgumentNullException(nameof(bytes));
            return OfBytes(bytes, 0, bytes.Length);
        }

        /// <summary>Computes the fingerprint of a part of an array. Allocates nothing.</summary>
        public static Fingerprint OfBytes(byte[] bytes, int offset, int count)
        {
            Buffers.CheckRange(bytes, offset, count);
            fixed (byte* data = bytes) return OfBytes((IntPtr)(data + offset), count);
        }

        /// <summary>Computes the fingerprint of memory.</summary>
        public static Fingerprint OfBytes(IntPtr data, long size)
        {
            if (size < 0) throw new ArgumentOutOfRangeException(nameof(size));
            Hob.Ready(Room.Store);
            Fingerprint fingerprint;
            Hob.Check(Native.hob_fingerprint_hash_bytes(
                (void*)data, (UIntPtr)(ulong)size, (hob_fingerprint*)&fingerprint));
            return fingerprint;
        }

        /// <summary>Computes the fingerprint of text, as UTF-8.</summary>
        public static Fingerprint OfText(string text)
        {
            if (text == null) throw new ArgumentNullException(nameof(text));
            return OfBytes(Text.Bytes(text, nameof(text)));
        }

        /// <summary>Computes a shader key: that of a stage and its source.
        /// A <see cref="ProgramManager"/> names its shaders so.</summary>
        public static Fingerprint OfShader(ShaderStage stage, byte[] source)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            Hob.Ready(Room.Store);
            Fingerprint fingerprint;
            fixed (byte* data = source)
            {
                Hob.Check(Native.hob_fingerprint_hash_shader(
                    (uint)stage, data, (UIntPtr)source.Length, (hob_fingerprint*)&fingerprint));
            }
            return fingerprint;
        }

        /// <summary>Computes a shader key of source text, as UTF-8.</summary>
        public static Fingerprint OfShader(ShaderStage stage, string source)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            return OfShader(stage, Text.Bytes(source, nameof(source)));
        }

        /// <summary>Reads 64 hexadecimal digits.</summary>
        public static Fingerprint Parse(string hex)
        {
            if (hex == null) throw new ArgumentNullException(nameof(hex));
            if (hex.Length != 64) throw new FormatException("a fingerprint has 64 hexadecimal digits");
            var bytes = new byte[32];
            for (var i = 0; i < 32; ++i) bytes[i] = (byte)(Digit(hex[2 * i]) << 4 | Digit(hex[2 * i + 1]));
            return new Fingerprint(bytes);
        }

        static int Digit(char digit)
        {
            if (digit >= '0' && digit <= '9') return digit - '0';
            if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
            if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
            throw new FormatException("'" + digit + "' is not a hexadecimal digit");
        }

        /// <summary>Copies the 32 bytes.</summary>
        public byte[] ToBytes()
        {
            var bytes = new byte[32];
            fixed (byte* to = bytes) *(Fingerprint*)to = this;
            return bytes;
        }

        /// <summary>Writes 64 hexadecimal digits in lower case.</summary>
        public override string ToString()
        {
            Hob.Ready(Room.Store);
            var fingerprint = this;
            return Calls.ReadText((buffer, capacity, size) =>
            {
                var copy = fingerprint;
                return Native.hob_fingerprint_get_hex((hob_fingerprint*)&copy, buffer, capacity, size);
            });
        }

        /// <summary>Compares all bits, without a call of the library.</summary>
        public bool Equals(Fingerprint other) => a == other.a && b == other.b && c == other.c && d == other.d;
        /// <summary>Compares all bits.</summary>
        public override bool Equals(object other) => other is Fingerprint && Equals((Fingerprint)other);
        /// <summary>Some bits of the hash.</summary>
        public override int GetHashCode() => (int)a;
        /// <summary>Compares all bits.</summary>
        public static bool operator ==(Fingerprint a, Fingerprint b) => a.Equals(b);
        /// <summary>Compares all bits.</summary>
        public static bool operator !=(Fingerprint a, Fingerprint b) => !a.Equals(b);
    }

    /// <summary>One part of a program key or an environment.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct FingerprintPart
    {
        /// <summary>A <c>ProgramPart</c> or a <c>EnvironmentPart</c>.</summary>
        public uint Kind;
        /// <summary>The <c>ShaderStage</c> of a stage; 0 for all other kinds. Stages of one kind, such as several hit
        /// shaders, have the same index: their order tells them apart.</summary>
        public uint Index;
        /// <summary>Size of the input in bytes.</summary>
        public ulong Size;
        /// <summary>The first 8 bytes of the input's hash. For a stage, that hash is <c>Fingerprint.OfBytes</c>, or SHA-1
        /// in that mode.</summary>
        public ulong Digest;
    }
    /// <summary>The hash of a program key.</summary>
    public enum FingerprintMode : uint
    {
        /// <summary>BLAKE3 of all inputs.</summary>
        Blake3 = 0,
        /// <summary>As in Chromium's note "GPU Program Caching": SHA1(SHA1(vertex) + SHA1(fragment) + attributes) and 12
        /// zero bytes. For one vertex stage, one fragment stage and attributes; everything else is
        /// <c>Result.Unsupported</c>. The attributes are hashed in order of name: each name, then its location in 4
        /// bytes, big-endian. See docs/formats.md.</summary>
        Sha1 = 1,
    }
    /// <summary>Shader stages. Numbers from <c>ShaderStage.User</c> on are free for the host.</summary>
    public enum ShaderStage : uint
    {
        /// <summary>Vertex shader.</summary>
        Vertex = 0,
        /// <summary>Tessellation control (hull) shader.</summary>
        TessellationControl = 1,
        /// <summary>Tessellation evaluation (domain) shader.</summary>
        TessellationEvaluation = 2,
        /// <summary>Geometry shader.</summary>
        Geometry = 3,
        /// <summary>Fragment (pixel) shader.</summary>
        Fragment = 4,
        /// <summary>Compute shader.</summary>
        Compute = 5,
        /// <summary>Task (amplification) shader.</summary>
        Task = 6,
        /// <summary>Mesh shader.</summary>
        Mesh = 7,
        /// <summary>Ray generation shader.</summary>
        RayGeneration = 8,
        /// <summary>Any-hit shader.</summary>
        AnyHit = 9,
        /// <summary>Closest-hit shader.</summary>
        ClosestHit = 10,
        /// <summary>Miss shader.</summary>
        Miss = 11,
        /// <summary>Intersection shader.</summary>
        Intersection = 12,
        /// <summary>Callable shader.</summary>
        Callable = 13,
        /// <summary>The first number that is free for the host.</summary>
        User = 64,
    }
    /// <summary>Kinds of the parts of a program key.</summary>
    public enum ProgramPart : uint
    {
        /// <summary>The source of a stage; the index is the <c>ShaderStage</c>.</summary>
        Stage = 1,
        /// <summary>The attributes.</summary>
        Attributes = 2,
        /// <summary><c>Defines</c>.</summary>
        Defines = 3,
        /// <summary><c>FeedbackMode</c> and the varyings.</summary>
        Feedback = 4,
        /// <summary><c>Extra</c>.</summary>
        Extra = 5,
    }
    /// <summary>Graphics APIs. Numbers from <c>GraphicsApi.User</c> on are free for the host.</summary>
    public enum GraphicsApi : uint
    {
        /// <summary>Unknown.</summary>
        Unknown = 0,
        /// <summary>OpenGL.</summary>
        Opengl = 1,
        /// <summary>OpenGL ES, WebGL.</summary>
        OpenglEs = 2,
        /// <summary>Vulkan.</summary>
        Vulkan = 3,
        /// <summary>Direct3D 11.</summary>
        D3d11 = 4,
        /// <summary>Direct3D 12.</summary>
        D3d12 = 5,
        /// <summary>Metal.</summary>
        Metal = 6,
        /// <summary>WebGPU.</summary>
        Webgpu = 7,
        /// <summary>The first number that is free for the host.</summary>
        User = 64,
    }
    /// <summary>Kinds of the parts of an environment.</summary>
    public enum EnvironmentPart : uint
    {
        /// <summary><c>Api</c>.</summary>
        Api = 1,
        /// <summary><c>VendorId</c>.</summary>
        VendorId = 2,
        /// <summary><c>DeviceId</c>.</summary>
        DeviceId = 3,
        /// <summary><c>PointerSize</c>.</summary>
        PointerSize = 4,
        /// <summary><c>DriverVersion</c>.</summary>
        DriverVersion = 5,
        /// <summary><c>DeviceUuid</c>.</summary>
        DeviceUuid = 6,
        /// <summary><c>DriverUuid</c>.</summary>
        DriverUuid = 7,
        /// <summary><c>Vendor</c>.</summary>
        Vendor = 8,
        /// <summary><c>Device</c>.</summary>
        Device = 9,
        /// <summary><c>Driver</c>.</summary>
        Driver = 10,
        /// <summary><c>Build</c>.</summary>
        Build = 11,
    }

    /// <summary>The inputs of a program key: everything that affects the compiled program.
    /// At most 1024 stages, 1024 attributes and 1024 varyings. Sources are copied when they are added.</summary>
    public sealed unsafe class ProgramKey
    {
        struct Stage
        {
            internal uint Kind;
            internal byte[] Source;
        }

        readonly List<Stage> stages = new List<Stage>();
        readonly List<KeyValuePair<string, uint>> attributes = new List<KeyValuePair<string, uint>>();

        /// <summary>The hash. Default 0: <c>FingerprintMode.Blake3</c>.</summary>
        public FingerprintMode Mode { get; set; }
        /// <summary>Preprocessor definitions, in any form. Null: none.</summary>
        public byte[] Defines { get; set; }
        /// <summary>Names of the varyings that transform feedback captures. Their order matters.</summary>
        public IList<string> Varyings { get; } = new List<string>();
        /// <summary>How varyings are captured, as a number of the graphics API: GL_INTERLEAVED_ATTRIBS, for instance.
        /// Default 0: no transform feedback.</summary>
        public uint FeedbackMode { get; set; }
        /// <summary>Additional bytes that affect compilation, such as compiler flags, entry points and specialisation
        /// constants. GL: also fragment outputs (glBindFragDataLocation) and GL_PROGRAM_SEPARABLE. Vulkan: also the
        /// pipeline layout and all pipeline state that is not dynamic. Write them in a fixed order, without padding
        /// bytes.</summary>
        public byte[] Extra { get; set; }
        /// <summary>Number of stages.</summary>
        public int StageCount => stages.Count;

        /// <summary>Adds the source of a stage as text. The order of stages matters.</summary>
        public ProgramKey AddStage(ShaderStage stage, string source)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            stages.Add(new Stage { Kind = (uint)stage, Source = Text.Bytes(source, nameof(source)) });
            return this;
        }

        /// <summary>Adds the source of a stage as text or bytecode; it is copied.</summary>
        public ProgramKey AddStage(ShaderStage stage, byte[] source)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            stages.Add(new Stage { Kind = (uint)stage, Source = (byte[])source.Clone() });
            return this;
        }

        /// <summary>Adds the source of a stage from memory; it is copied.</summary>
        public ProgramKey AddStage(ShaderStage stage, IntPtr source, long size)
        {
            stages.Add(new Stage { Kind = (uint)stage, Source = Calls.Copy(source, size) });
            return this;
        }

        /// <summary>Adds a vertex attribute, in any order. If two have the same name, the last one counts.</summary>
        public ProgramKey AddAttribute(string name, uint location)
        {
            if (name == null) throw new ArgumentNullException(nameof(name));
            attributes.Add(new KeyValuePair<string, uint>(name, location));
            return this;
        }

        /// <summary>Computes the program key.</summary>
        public Fingerprint ComputeFingerprint()
        {
            using (var arena = new Arena())
            {
                var desc = Describe(arena);
                Fingerprint fingerprint;
                Hob.Check(Native.hob_fingerprint_hash_program(&desc, (hob_fingerprint*)&fingerprint));
                return fingerprint;
            }
        }

        /// <summary>Gets the parts: the stages in their order, then attributes, defines, feedback and extra.
        /// Empty inputs have no part, except stages.</summary>
        public FingerprintPart[] GetParts()
        {
            using (var arena = new Arena())
            {
                var desc = (hob_program_key_desc*)arena.Allocate(1, sizeof(hob_program_key_desc));
                *desc = Describe(arena);
                return ProgramEnvironment.Parts(arena, (items, capacity, count) => Native.hob_fingerprint_get_program_parts(
                    desc, (hob_fingerprint_part*)items, (UIntPtr)sizeof(hob_fingerprint_part), capacity, count));
            }
        }

        /// <summary>The C struct, whose pointers are valid as long as the arena.</summary>
        internal hob_program_key_desc Describe(Arena arena)
        {
            Hob.Ready(Room.Store);
            hob_program_key_desc desc;
            Hob.Check(Native.hob_program_key_desc_init(&desc, (uint)sizeof(hob_program_key_desc)));
            desc.mode = (hob_fingerprint_mode)Mode;
            var sources = Calls.Snapshot(stages);
            desc.stages = (hob_program_stage*)arena.Allocate(sources.Length, sizeof(hob_program_stage));
            desc.stage_stride = (UIntPtr)sizeof(hob_program_stage);
            desc.stage_count = (UIntPtr)sources.Length;
            for (var i = 0; i < sources.Length; ++i)
            {
                desc.stages[i].stage = sources[i].Kind;
                desc.stages[i].source = arena.Bytes(sources[i].Source, out desc.stages[i].size);
            }
            var bindings = Calls.Snapshot(attributes);
            desc.attributes = (hob_attribute_binding*)arena.Allocate(bindings.Length, sizeof(hob_attribute_binding));
            desc.attribute_stride = (UIntPtr)sizeof(hob_attribute_binding);
            desc.attribute_count = (UIntPtr)bindings.Length;
            for (var i = 0; i < bindings.Length; ++i)
            {
                desc.attributes[i].name = arena.Text(bindings[i].Key);
                desc.attributes[i].location = bindings[i].Value;
            }
            desc.defines = arena.Bytes(Defines, out desc.defines_size);
            desc.varyings = arena.Texts(Varyings, out desc.varying_count);
            desc.varying_stride = (UIntPtr)sizeof(hob_str);
            desc.extra = arena.Bytes(Extra, out desc.extra_size);
            desc.feedback_mode = FeedbackMode;
            return desc;
        }
    }

    /// <summary>The driver, the device and the build that program binaries are valid for.
    /// Unknown properties stay 0 or empty.</summary>
    public sealed unsafe class ProgramEnvironment
    {
        byte[] deviceUuid, driverUuid;

        /// <summary>The graphics API, or a number of the host from <c>GraphicsApi.User</c> on.</summary>
        public GraphicsApi Api { get; set; }
        /// <summary>The vendor's PCI id, or the graphics API's number.</summary>
        public uint VendorId { get; set; }
        /// <summary>The device's PCI id, or the graphics API's number.</summary>
        public uint DeviceId { get; set; }
        /// <summary>Bytes of a pointer in the process that loads the driver. Default 0: those of this process.</summary>
        public uint PointerSize { get; set; }
        /// <summary>The driver's version, if it is a number.</summary>
        public ulong DriverVersion { get; set; }
        /// <summary>VkPhysicalDeviceIDProperties.deviceUUID, or similar: 16 bytes, or null.</summary>
        public byte[] DeviceUuid { get => deviceUuid; set => deviceUuid = Uuid(value); }
        /// <summary>VkPhysicalDeviceIDProperties.driverUUID, or similar: 16 bytes, or null.</summary>
        public byte[] DriverUuid { get => driverUuid; set => driverUuid = Uuid(value); }
        /// <summary>GL_VENDOR, or similar. Unity: SystemInfo.graphicsDeviceVendor.</summary>
        public string Vendor { get; set; }
        /// <summary>GL_RENDERER, or similar. Unity: SystemInfo.graphicsDeviceName.</summary>
        public string Device { get; set; }
        /// <summary>GL_VERSION, or similar. Unity: SystemInfo.graphicsDeviceVersion.</summary>
        public string Driver { get; set; }
        /// <summary>The version of the host, including its shader translator.</summary>
        public string Build { get; set; }

        /// <summary>Gets the id of the environment, which is never 0.
        /// Caches load only programs with their own id.</summary>
        public ulong GetId()
        {
            using (var arena = new Arena())
            {
                ulong id;
                Hob.Check(Native.hob_environment_get_id(Describe(arena), &id));
                return id;
            }
        }

        /// <summary>Gets the parts: the properties that are not 0 or empty, in the order of
        /// <see cref="EnvironmentPart"/>.</summary>
        public FingerprintPart[] GetParts()
        {
            using (var arena = new Arena())
            {
                var desc = Describe(arena);
                return Parts(arena, (items, capacity, count) => Native.hob_environment_get_parts(
                    desc, (hob_fingerprint_part*)items, (UIntPtr)sizeof(hob_fingerprint_part), capacity, count));
            }
        }

        internal static FingerprintPart[] Parts(Arena arena, ListCall call)
        {
            var items = (FingerprintPart*)Calls.List(arena, sizeof(FingerprintPart), out var count, call);
            var parts = new FingerprintPart[count];
            for (var i = 0; i < count; ++i) parts[i] = items[i];
            return parts;
        }

        static byte[] Uuid(byte[] value)
        {
            if (value != null && value.Length != 16) throw new ArgumentException("a UUID has 16 bytes");
            return value == null ? null : (byte[])value.Clone();
        }

        internal hob_environment* Describe(Arena arena)
        {
            Hob.Ready(Room.Store);
            var desc = (hob_environment*)arena.Allocate(1, sizeof(hob_environment));
            Hob.Check(Native.hob_environment_init(desc, (uint)sizeof(hob_environment)));
            desc->api = (uint)Api;
            desc->vendor_id = VendorId;
            desc->device_id = DeviceId;
            if (PointerSize != 0) desc->pointer_size = PointerSize;
            desc->driver_version = DriverVersion;
            var device = deviceUuid;
            var driver = driverUuid;
            if (device != null) Marshal.Copy(device, 0, (IntPtr)desc->device_uuid, 16);
            if (driver != null) Marshal.Copy(driver, 0, (IntPtr)desc->driver_uuid, 16);
            desc->vendor = arena.Text(Vendor);
            desc->device = arena.Text(Device);
            desc->driver = arena.Text(Driver);
            desc->build = arena.Text(Build);
            return desc;
        }
    }
}
