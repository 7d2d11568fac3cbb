// Caches of pipelines that ship with a game, for build tools. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

#pragma warning disable 169, 649 // the library writes these fields

namespace Hobgoblin
{
    /// <summary>Counts of <c>PipelineTools.Expand</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PipelineExpandReport
    {
        uint structSize;
        uint reserved;
        /// <summary>Recordings merged.</summary>
        public ulong Recordings;
        /// <summary>Recordings of a run that was merged already.</summary>
        public ulong Repeated;
        /// <summary>Pipelines in the recordings.</summary>
        public ulong Pipelines;
        /// <summary>Pipelines in the stable file.</summary>
        public ulong Stable;
        /// <summary>Pipelines with a shader that has no key. They are not in the stable file.</summary>
        public ulong Unresolved;
        /// <summary>Damaged records. They are skipped.</summary>
        public ulong Damaged;
        /// <summary>Recordings that end within a record, as a copy that was cut does. A killed run usually ends with a
        /// whole record: it does not count, although its last uses were not written.</summary>
        public ulong Truncated;
        /// <summary>Bytes of the stable file.</summary>
        public ulong Bytes;
    }
    [Flags]
    public enum PipelineBuildFlags : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>Do not add the compute shaders that no recording used.</summary>
        NoCompute = 1,
        /// <summary>Keep pipelines whose state does not fit. For vertex shaders that are used with several vertex formats
        /// on purpose.</summary>
        NoSanitising = 2,
    }
    /// <summary>Parameters of <see cref="PipelineTools.Build"/>. A new one has the defaults.</summary>
    public sealed unsafe class PipelineBuildDesc
    {
        internal hob_pipeline_build_desc Raw;

        public PipelineBuildDesc()
        {
            Hob.Ready(Room.Pipeline);
            fixed (hob_pipeline_build_desc* raw = &Raw)
                Hob.Check(Native.hob_pipeline_build_desc_init(raw, (uint)sizeof(hob_pipeline_build_desc)));
        }

        /// <summary>The graphics API, or a number of the host from <c>GraphicsApi.User</c> on.</summary>
        public GraphicsApi Api { get => (GraphicsApi)Raw.api; set => Raw.api = (uint)value; }
        /// <summary>The game, as in <c>PipelineLibraryDesc</c>.</summary>
        public string Project { get; set; }
        /// <summary>The format of its shaders, as in <c>PipelineLibraryDesc</c>.</summary>
        public string Format { get; set; }
        /// <summary>The version of this build, for people.</summary>
        public string Version { get; set; }
        /// <summary>Paths of stable files. Empty: the cache has compute pipelines only.</summary>
        public IList<string> Stable { get; } = new List<string>();
        /// <summary>Paths of the key maps of this build.</summary>
        public IList<string> Keys { get; } = new List<string>();
        /// <summary>Path of the cache, which must not be an input. An existing file is replaced when the new one is
        /// complete.</summary>
        public string Out { get; set; }
        /// <summary>Most pipelines that one stable pipeline becomes, if several shaders share a key. Default
        /// 64.</summary>
        public uint Combinations { get => Raw.combinations; set => Raw.combinations = value; }
        /// <summary><c>PipelineBuildFlags.NoCompute</c> and the like. Default 0.</summary>
        public PipelineBuildFlags Flags { get => (PipelineBuildFlags)Raw.flags; set => Raw.flags = (uint)value; }
    }

    /// <summary>Counts of <c>PipelineTools.Build</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct PipelineBuildReport
    {
        uint structSize;
        uint reserved;
        /// <summary>Different lines of the key maps.</summary>
        public ulong KeyLines;
        /// <summary>Stable files merged.</summary>
        public ulong Files;
        /// <summary>Stable files that were merged already.</summary>
        public ulong Repeated;
        /// <summary>Stable files of another game, format, API, or set of <c>PipelineLibraryDesc.Dimensions</c>. They are
        /// not used.</summary>
        public ulong Skipped;
        /// <summary>Stable pipelines in the files.</summary>
        public ulong Stable;
        /// <summary>Stable pipelines with a shader that this build does not have.</summary>
        public ulong Rejected;
        /// <summary>Pipelines that stable ones became, before equal ones were united.</summary>
        public ulong Merged;
        /// <summary>Stable pipelines with more combinations of shaders than the limit.</summary>
        public ulong Cut;
        /// <summary>Different pipelines.</summary>
        public ulong Different;
        /// <summary>Compute pipelines that were added.</summary>
        public ulong AddedCompute;
        /// <summary>Filtered out: most pipelines of the vertex shader have another vertex format. After a tie all are
        /// kept.</summary>
        public ulong Inconsistent;
        /// <summary>Filtered out: no vertex attributes, and the vertex shader has some elsewhere.</summary>
        public ulong Empty;
        /// <summary>Filtered out: the state is invalid.</summary>
        public ulong Invalid;
        /// <summary>Graphics pipelines written.</summary>
        public ulong Graphics;
        /// <summary>Compute pipelines written.</summary>
        public ulong Compute;
        /// <summary>Ray-tracing pipelines written.</summary>
        public ulong RayTracing;
        /// <summary>Damaged records. They are skipped.</summary>
        public ulong Damaged;
        /// <summary>Stable files that end within a record, as a copy that was cut does.</summary>
        public ulong Truncated;
        /// <summary>Bytes of the cache.</summary>
        public ulong Bytes;
    }
    /// <summary>Steps of the build of a game: recordings become stable files, and those the cache that ships.</summary>
    public static unsafe class PipelineTools
    {
        /// <summary>Expresses the pipelines of recordings in the stable keys of their shaders, as a file.
        /// The recordings, at least one, are of one build of the game. The keys are the key maps of that build; the name of a
        /// CSV file ends in .csv. The path is that of the stable file. Waits for files. After an error the stable file is as
        /// before.</summary>
        public static PipelineExpandReport Expand(IList<string> recordings, IList<string> keys, string path)
        {
            if (recordings == null) throw new ArgumentNullException(nameof(recordings));
            if (keys == null) throw new ArgumentNullException(nameof(keys));
            Hob.Ready(Room.Pipeline);
            PipelineExpandReport report;
            using (var arena = new Arena())
            {
                hob_pipeline_expand_desc raw;
                Hob.Check(Native.hob_pipeline_expand_desc_init(&raw, (uint)sizeof(hob_pipeline_expand_desc)));
                raw.recordings = arena.Texts(recordings, out raw.recording_count);
                raw.recording_stride = (UIntPtr)sizeof(hob_str);
                raw.keys = arena.Texts(keys, out raw.key_count);
                raw.key_stride = (UIntPtr)sizeof(hob_str);
                raw.@out = arena.Text(path);
                ((hob_pipeline_expand_report*)&report)->struct_size = (uint)sizeof(hob_pipeline_expand_report);
                Hob.Check(Native.hob_pipeline_expand(&raw, (hob_pipeline_expand_report*)&report));
            }
            return report;
        }

        /// <summary>Makes the cache that ships with a build of the game: <c>PipelineLibrary.OpenCache</c> opens it.
        /// Waits for files. Equal inputs give equal bytes, in any order. After an error the file is as before.</summary>
        public static PipelineBuildReport Build(PipelineBuildDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            PipelineBuildReport report;
            using (var arena = new Arena())
            {
                var raw = desc.Raw;
                raw.project = arena.Text(desc.Project);
                raw.format = arena.Text(desc.Format);
                raw.version = arena.Text(desc.Version);
                raw.stable = arena.Texts(desc.Stable, out raw.stable_count);
                raw.stable_stride = (UIntPtr)sizeof(hob_str);
                raw.keys = arena.Texts(desc.Keys, out raw.key_count);
                raw.key_stride = (UIntPtr)sizeof(hob_str);
                raw.@out = arena.Text(desc.Out);
                ((hob_pipeline_build_report*)&report)->struct_size = (uint)sizeof(hob_pipeline_build_report);
                Hob.Check(Native.hob_pipeline_build(&raw, (hob_pipeline_build_report*)&report));
            }
            return report;
        }
    }
}
