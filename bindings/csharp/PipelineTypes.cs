// Pipelines: masks, keys, shaders and answers of a library. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

#pragma warning disable 169, 649 // the library writes these fields

namespace Hobgoblin
{
    /// <summary>Kinds of pipelines.</summary>
    public enum PipelineKind : uint
    {
        /// <summary>Vertex or mesh shaders, and fragments.</summary>
        Graphics = 0,
        /// <summary>A compute shader.</summary>
        Compute = 1,
        /// <summary>Ray generation, hit, miss and callable shaders.</summary>
        RayTracing = 2,
    }
    /// <summary>A shader of a pipeline.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct PipelineShader
    {
        uint stage, hash0, hash1, hash2, hash3, hash4;

        /// <summary>Takes the SHA-1 of the bytecode, or the first 20 bytes of another hash.</summary>
        public PipelineShader(ShaderStage stage, byte[] hash) : this()
        {
            if (hash == null) throw new ArgumentNullException(nameof(hash));
            if (hash.Length != 20) throw new ArgumentException("the hash of a shader has 20 bytes", nameof(hash));
            this.stage = (uint)stage;
            fixed (uint* to = &hash0) Marshal.Copy(hash, 0, (IntPtr)to, 20);
        }

        /// <summary>Takes the first 20 bytes of a fingerprint of the bytecode.</summary>
        public PipelineShader(ShaderStage stage, Fingerprint bytecode) : this()
        {
            this.stage = (uint)stage;
            var from = (uint*)&bytecode;
            hash0 = from[0];
            hash1 = from[1];
            hash2 = from[2];
            hash3 = from[3];
            hash4 = from[4];
        }

        /// <summary>The stage, or a number of the host from <c>ShaderStage.User</c> on.</summary>
        public ShaderStage Stage => (ShaderStage)stage;

        /// <summary>Copies the 20 bytes of the hash.</summary>
        public byte[] GetHash()
        {
            var bytes = new byte[20];
            fixed (uint* from = &hash0) Marshal.Copy((IntPtr)from, bytes, 0, 20);
            return bytes;
        }
    }

    /// <summary>The description of a pipeline: everything that the driver's compiler gets.</summary>
    public sealed unsafe class PipelineDesc
    {
        /// <summary>The library's own schema: the state has the bytes of an Encode method.</summary>
        public const uint OwnSchema = Constants.HOB_PIPELINE_SCHEMA_OWN;

        /// <summary>Graphics, compute or ray tracing. Default 0: <c>PipelineKind.Graphics</c>.</summary>
        public PipelineKind Kind { get; set; }
        /// <summary>The layout of <c>State</c>: a number of the host, from 1 on. Change it when the layout changes.
        /// Default <c>PipelineDesc.OwnSchema</c>.</summary>
        public uint Schema { get; set; } = OwnSchema;
        /// <summary>Everything but the shaders: vertex layout, raster, blend and depth state, formats. At most 1 MiB. With
        /// OwnSchema the bytes of an Encode method.</summary>
        public byte[] State { get; set; }
        /// <summary>At least one shader, and at most 1024. Their order matters.</summary>
        public IList<PipelineShader> Shaders { get; } = new List<PipelineShader>();

        /// <summary>Computes the key. Compute it once, when the description is made.</summary>
        public Fingerprint ComputeKey()
        {
            using (var arena = new Arena())
            {
                var raw = Describe(arena);
                Fingerprint key;
                Hob.Check(Native.hob_pipeline_get_key(&raw, (hob_fingerprint*)&key));
                return key;
            }
        }

        /// <summary>The C struct, whose pointers are valid as long as the arena.</summary>
        internal hob_pipeline_desc Describe(Arena arena)
        {
            Hob.Ready(Room.Pipeline);
            hob_pipeline_desc raw;
            Hob.Check(Native.hob_pipeline_desc_init(&raw, (uint)sizeof(hob_pipeline_desc)));
            raw.kind = (hob_pipeline_kind)Kind;
            raw.schema = Schema;
            raw.state = arena.Bytes(State, out var size);
            raw.state_size = (uint)size;
            var shaders = Calls.Snapshot(Shaders);
            var copies = (PipelineShader*)arena.Allocate(shaders.Length, sizeof(PipelineShader));
            for (var i = 0; i < shaders.Length; ++i) copies[i] = shaders[i];
            raw.shaders = (hob_pipeline_shader*)copies;
            raw.shader_stride = (UIntPtr)sizeof(hob_pipeline_shader);
            raw.shader_count = (UIntPtr)shaders.Length;
            return raw;
        }
    }

    /// <summary>A named field of usage masks, such as the quality or the level.
    /// The fields of a list stand one after the other, from the lowest bit of a mask on.</summary>
    public readonly struct PipelineDimension
    {
        /// <summary>Makes a field. Names have 1 to 128 ASCII letters, digits and - _ . + without a dot first; widths are 1 to
        /// 64 bits.</summary>
        public PipelineDimension(string name, uint width)
        {
            Name = name;
            Width = width;
        }

        /// <summary>Its name, such as "quality": 1 to 128 ASCII letters, digits and - _ . + without a dot first. No two
        /// of a list are equal.</summary>
        public string Name { get; }
        /// <summary>Bits, 1 to 64. All fields of a list together have at most 256 bits.</summary>
        public uint Width { get; }

        internal static unsafe hob_pipeline_dimension* Describe(
            Arena arena, IList<PipelineDimension> dimensions, out UIntPtr count)
        {
            var all = Calls.Snapshot(dimensions);
            count = (UIntPtr)all.Length;
            if (all.Length == 0) return null;
            var raw = (hob_pipeline_dimension*)arena.Allocate(all.Length, sizeof(hob_pipeline_dimension));
            for (var i = 0; i < all.Length; ++i)
            {
                raw[i].name = arena.Text(all[i].Name);
                raw[i].width = all[i].Width;
            }
            return raw;
        }
    }

    /// <summary>A usage mask: situations of the game, as bits of the host, or as named fields.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public unsafe struct PipelineMask : IEquatable<PipelineMask>
    {
        /// <summary>The lowest 64 bits. A host with 64 bits uses only them.</summary>
        public ulong Word0;
        /// <summary>Bits 64 to 127.</summary>
        public ulong Word1;
        /// <summary>Bits 128 to 191.</summary>
        public ulong Word2;
        /// <summary>Bits 192 to 255.</summary>
        public ulong Word3;

        /// <summary>A mask of 64 bits.</summary>
        public PipelineMask(ulong bits) : this()
        {
            Word0 = bits;
        }

        /// <summary>Returns this mask with another value of a field. Number values from 1 on: 0 in the current mask fits
        /// every pipeline.</summary>
        public PipelineMask With(IList<PipelineDimension> dimensions, string name, ulong value)
        {
            if (dimensions == null) throw new ArgumentNullException(nameof(dimensions));
            Hob.Ready(Room.Pipeline);
            var mask = this;
            using (var arena = new Arena())
            {
                var raw = PipelineDimension.Describe(arena, dimensions, out var count);
                Hob.Check(Native.hob_pipeline_set_mask_field(raw, (UIntPtr)sizeof(hob_pipeline_dimension), count,
                    (hob_pipeline_mask*)&mask, arena.Text(name), value, (hob_pipeline_mask*)&mask));
            }
            return mask;
        }

        /// <summary>Compares all bits.</summary>
        public bool Equals(PipelineMask other)
        {
            return Word0 == other.Word0 && Word1 == other.Word1 && Word2 == other.Word2 && Word3 == other.Word3;
        }

        /// <summary>Compares all bits.</summary>
        public override bool Equals(object other) => other is PipelineMask && Equals((PipelineMask)other);
        /// <summary>Hashes all bits.</summary>
        public override int GetHashCode() => (((Word0 * 31 + Word1) * 31 + Word2) * 31 + Word3).GetHashCode();
        /// <summary>Compares all bits.</summary>
        public static bool operator ==(PipelineMask a, PipelineMask b) => a.Equals(b);
        /// <summary>Compares all bits.</summary>
        public static bool operator !=(PipelineMask a, PipelineMask b) => !a.Equals(b);
    }

    /// <summary>How fast pipelines are compiled.</summary>
    public enum PipelineMode : uint
    {
        /// <summary>Only pipelines that are needed now.</summary>
        Paused = 0,
        /// <summary>For loading screens: up to 50 pipelines or 16 ms a frame.</summary>
        Fast = 1,
        /// <summary>While the game runs: 1 pipeline a frame.</summary>
        Background = 2,
        /// <summary>Up to 50 pipelines or 10 ms a frame, until none of the precompile mask remains; then as in the
        /// background.</summary>
        Precompile = 3,
    }
    /// <summary>The order of compiles.</summary>
    public enum PipelineOrder : uint
    {
        /// <summary>By predicted first use: the frames of first uses in recordings, and the pipelines in use
        /// now.</summary>
        Predicted = 0,
        /// <summary>As the caches list them.</summary>
        File = 1,
        /// <summary>By the frame of their first use.</summary>
        FirstToLatestUsed = 2,
        /// <summary>By their number of uses, the largest first.</summary>
        MostToLeastUsed = 3,
        /// <summary>Grouped by usage mask.</summary>
        UsageMask = 4,
    }
    /// <summary>The result of <c>PipelineLibraryDesc.Compile</c>.</summary>
    public enum PipelineBuilt : uint
    {
        /// <summary>The pipeline is ready.</summary>
        Ready = 0,
        /// <summary>The driver refused it. It is not compiled again.</summary>
        Failed = 1,
        /// <summary>It was not compiled now. It is queued again, and the call or task that compiles ends. In the
        /// background the next frame goes on.</summary>
        Cancelled = 2,
    }
    /// <summary>The state of a pipeline.</summary>
    public enum PipelineState : uint
    {
        /// <summary>No cache has it: build it, and pass it to <c>PipelineLibrary.Add</c>.</summary>
        Unknown = 0,
        /// <summary>No current mask selects it.</summary>
        Unselected = 1,
        /// <summary>It waits to be compiled.</summary>
        Queued = 2,
        /// <summary>It is being compiled.</summary>
        Running = 3,
        /// <summary>It can be drawn with.</summary>
        Ready = 4,
        /// <summary>The driver refused it. It is not compiled again.</summary>
        Failed = 5,
        /// <summary>It ended the process too often. It is not compiled: do not build it yourself either.</summary>
        Banned = 6,
    }
    /// <summary>A ready group. All zero is no group.</summary>
    public readonly struct PipelineGroupId : IEquatable<PipelineGroupId>
    {
        readonly uint index1, generation;
        /// <summary>Whether this is not the zero id.</summary>
        public bool IsValid => index1 != 0;
        /// <summary>Its place, from 1 on; 0 is no id.</summary>
        public uint Index1 => index1;
        /// <summary>Compares all bits.</summary>
        public bool Equals(PipelineGroupId other) => index1 == other.index1 && generation == other.generation;
        /// <summary>Compares all bits.</summary>
        public override bool Equals(object other) => other is PipelineGroupId && Equals((PipelineGroupId)other);
        /// <summary>Hashes all bits.</summary>
        public override int GetHashCode() => (int)(index1 * 31 + generation);
        /// <summary>Compares all bits.</summary>
        public static bool operator ==(PipelineGroupId a, PipelineGroupId b) => a.Equals(b);
        /// <summary>Compares all bits.</summary>
        public static bool operator !=(PipelineGroupId a, PipelineGroupId b) => !a.Equals(b);
    }
    /// <summary>How an object is drawn while some of its pipelines are missing.</summary>
    public enum PipelinePolicy : uint
    {
        /// <summary>It is not drawn.</summary>
        Skip = 0,
        /// <summary>It is drawn with other pipelines.</summary>
        Substitute = 1,
        /// <summary>The call waits. If the time is over, the object is not drawn.</summary>
        Wait = 2,
    }
    /// <summary>How to draw an object now.</summary>
    public enum PipelineDecision : uint
    {
        /// <summary>Do not draw it.</summary>
        Skip = 0,
        /// <summary>Draw it with other pipelines.</summary>
        Substitute = 1,
        /// <summary>All its pipelines are ready: draw it.</summary>
        Draw = 2,
    }
    [Flags]
    public enum PipelineFlags : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>Keep no pipelines for the next start.</summary>
        NoUserCache = 1,
        /// <summary>Compile pipelines with new shaders first, so that each shader is built early. For drivers that link
        /// pipelines quickly from compiled shaders.</summary>
        ShadersFirst = 2,
        /// <summary>Write nothing to the directory.</summary>
        ReadOnly = 4,
        /// <summary>Switch the library off. All calls succeed and do nothing, and <c>PipelineLibrary.Use</c> returns
        /// <c>PipelineState.Unknown</c>.</summary>
        Disabled = 8,
    }
    /// <summary>Counts of a library since it was created.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PipelineStatistics
    {
        uint structSize;
        uint reserved;
        /// <summary>Pipelines of all caches, the user's included.</summary>
        public ulong Opened;
        /// <summary>Opened pipelines that were used so far.</summary>
        public ulong Used;
        /// <summary>Used pipelines that were ready at their first use.</summary>
        public ulong ReadyAtFirstUse;
        /// <summary>Used pipelines of the caches that were not ready at their first use. They waited, were being
        /// compiled, had failed, or were banned. Recordings say so for each pipeline. <c>Unknown</c> counts pipelines
        /// that no cache had.</summary>
        public ulong Missed;
        /// <summary>Pipelines that were used and that no cache had.</summary>
        public ulong Unknown;
        /// <summary>Milliseconds that the host spent to build missed and unknown pipelines:
        /// <c>PipelineLibrary.Add</c>.</summary>
        public ulong HitchMs;
        /// <summary>Selected or requested pipelines that are not compiled yet.</summary>
        public ulong Remaining;
        /// <summary>Pipelines that are ready.</summary>
        public ulong Ready;
        /// <summary>Pipelines that the driver refused.</summary>
        public ulong Failed;
        /// <summary>Pipelines that are banned.</summary>
        public ulong Banned;
        /// <summary>Decisions on groups: not drawn, because a pipeline was missing.</summary>
        public ulong GroupsSkipped;
        /// <summary>Decisions on groups: drawn with other pipelines.</summary>
        public ulong GroupsSubstituted;
        /// <summary>Decisions on groups: not drawn after a wait.</summary>
        public ulong GroupsTimedOut;
        /// <summary>Bytes of memory held.</summary>
        public ulong MemoryUsed;
    }

    /// <summary>A pipeline to compile, valid during the call.</summary>
    public readonly unsafe ref struct PipelineJob
    {
        readonly hob_pipeline_job* raw;

        internal PipelineJob(hob_pipeline_job* raw)
        {
            this.raw = raw;
        }

        /// <summary>Graphics, compute or ray tracing.</summary>
        public PipelineKind Kind => (PipelineKind)raw->kind;
        /// <summary>The schema of the state.</summary>
        public uint Schema => raw->schema;
        /// <summary>Whether a frame may wait for it. Otherwise it is compiled ahead.</summary>
        public bool IsUrgent => raw->is_urgent != 0;
        /// <summary>Its key.</summary>
        public Fingerprint Key => *(Fingerprint*)&raw->key;
        /// <summary>Its state. PipelineGraphicsState.Decode and the like read that of OwnSchema.</summary>
        public ByteView State => new ByteView(raw->state, raw->state_size);
        /// <summary>Number of shaders.</summary>
        public int ShaderCount => (int)(ulong)raw->shader_count;
        /// <summary>Expected build time in microseconds. 0: unknown.</summary>
        public ulong ExpectedUs => raw->expected_us;

        /// <summary>A shader.</summary>
        public PipelineShader Shader(int index)
        {
            if ((ulong)index >= (ulong)raw->shader_count) throw new ArgumentOutOfRangeException(nameof(index));
            return ((PipelineShader*)raw->shaders)[index];
        }
    }
}
