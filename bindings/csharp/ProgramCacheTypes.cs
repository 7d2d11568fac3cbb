// Parameters and answers of program caches. MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

#pragma warning disable 169, 649 // the library writes these fields

namespace Hobgoblin
{
    /// <summary>A use of a program by the driver, from <c>ProgramCache.TryBeginUse</c>. All zero is no use.</summary>
    public readonly struct UseId : IEquatable<UseId>
    {
        readonly uint index1, generation;
        /// <summary>Whether this is not the zero id.</summary>
        public bool IsValid => index1 != 0;
        /// <summary>Its place, from 1 on; 0 is no id.</summary>
        public uint Index1 => index1;
        /// <summary>Compares all bits.</summary>
        public bool Equals(UseId other) => index1 == other.index1 && generation == other.generation;
        /// <summary>Compares all bits.</summary>
        public override bool Equals(object other) => other is UseId && Equals((UseId)other);
        /// <summary>Hashes all bits.</summary>
        public override int GetHashCode() => (int)(index1 * 31 + generation);
        /// <summary>Compares all bits.</summary>
        public static bool operator ==(UseId a, UseId b) => a.Equals(b);
        /// <summary>Compares all bits.</summary>
        public static bool operator !=(UseId a, UseId b) => !a.Equals(b);
    }
    /// <summary>Which programs are evicted first when memory is full.</summary>
    public enum Eviction : uint
    {
        /// <summary>First the programs with the least build time per byte, weighted by how often they are used.</summary>
        CostAware = 0,
        /// <summary>The least recently used program.</summary>
        Lru = 1,
        /// <summary>The most recently used program of the least recently used group: see
        /// <c>CompiledProgram.Group</c>.</summary>
        Groups = 2,
    }
    [Flags]
    public enum ProgramCacheFlags : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>Write nothing to the directory. Bans stay in force. Uses begin and end as usual, but are not
        /// recorded, so a crash adds no strike. A program that is put stays in memory only. A program that is removed,
        /// rejected or cleared is hidden from this cache only: the next cache finds it again.</summary>
        ReadOnly = 1,
        /// <summary>Compress programs on disk (LZ4).</summary>
        Compress = 2,
        /// <summary>Load only programs that were missed, nothing ahead of need.</summary>
        LoadLazily = 4,
        /// <summary>Evict programs of the start-up set after all others.</summary>
        KeepStartupSet = 8,
        /// <summary>Count only the data of programs against memory_limit, as Chromium's cache does. Keys, fingerprints of
        /// shaders and reflection are not counted. A program without data counts as one byte.</summary>
        CountDataOnly = 16,
        /// <summary>A second put of a key changes nothing, and writes nothing. It holds while memory has the first one.
        /// For hosts whose threads may build one program at the same time. After a rejection, end the use and then put
        /// the new program. In the other order both programs are lost.</summary>
        FirstPutWins = 32,
    }
    /// <summary>Parameters of a program cache. A new one has the defaults.</summary>
    public sealed unsafe class ProgramCacheDesc
    {
        internal hob_program_cache_desc Raw;

        public ProgramCacheDesc()
        {
            Hob.Ready(Room.ProgramCache);
            fixed (hob_program_cache_desc* raw = &Raw)
                Hob.Check(Native.hob_program_cache_desc_init(raw, (uint)sizeof(hob_program_cache_desc)));
        }

        /// <summary>Where programs, strikes and bans outlive the process. Default empty: memory only, and no strikes.
        /// Several processes may share a directory. The first program or use that is written creates it. A path: on Unix
        /// any bytes without NUL, elsewhere UTF-8. Programs that other processes have written are found at create, and
        /// later when one is missed: the disk looks for them at most every 100 ms.</summary>
        public string Directory { get; set; }
        /// <summary>The driver, device and build that the programs are for. null: driver and device are unknown. A new
        /// driver then gets the old driver's binaries. Set it for every cache with a directory or a bundle.</summary>
        public ProgramEnvironment Environment { get; set; }
        /// <summary>Reads and writes files as background tasks, and is kept alive by the cache. With
        /// <c>Background.Pump</c> those tasks run inside <c>Executor.Pump</c>, which may then wait for files. null: no
        /// background. Programs are then read and written only by <c>ProgramCache.TryGetWait</c>,
        /// <c>ProgramCache.WaitIdle</c>, <c>ProgramCache.Flush</c>, <c>ProgramCache.WriteBundle</c> and
        /// <c>Dispose</c>. Call <c>ProgramCache.WaitIdle</c> after create: <c>ProgramCache.TryGet</c> never
        /// reads the disk itself.</summary>
        public Executor Executor { get; set; }
        /// <summary>The file system of the directory and of bundles. Null: the operating system's.</summary>
        public FileSystem FileSystem { get; set; }
        /// <summary>A secret of the host, at least 16 bytes; copied. Programs on disk that were written with another one,
        /// or without one, are ignored, and strikes are dropped. So nobody without the secret can make the cache give
        /// bytes to the driver. Bundles have no secret. Default empty: checksums find damage, but no forgery.
        /// docs/trust.md has the details.</summary>
        public byte[] Secret { get; set; }
        /// <summary>Which programs are evicted first. Default <c>Eviction.CostAware</c>.</summary>
        public Eviction Eviction { get => (Eviction)Raw.eviction; set => Raw.eviction = (hob_eviction)value; }
        /// <summary>Limit of memory, in bytes: keys, data, reflection and fingerprints of shaders. 0: the default, 64
        /// MiB. <c>ulong.MaxValue</c>: no limit. A program that is larger is neither kept nor written to disk, so a limit
        /// of 1 stores nothing.</summary>
        public ulong MemoryLimit { get => Raw.memory_limit; set => Raw.memory_limit = value; }
        /// <summary>Limit of the disk for this environment, in bytes, at least 256 KiB. 0: the default, 512 MiB.
        /// <c>ulong.MaxValue</c>: no limit. Bytes are those of whole blocks of 512 bytes of every file of the
        /// library in the directory, also of files that are deleted but open. Files of another format or secret count
        /// only for <c>DirectoryLimit</c>, and those of another user for no limit. Every write evicts first what it
        /// needs, in all processes and with or without an executor. At every moment the files take at most 1.25 * limit.
        /// After destroy, or a flush, they take at most 1.0 * limit; but an executor's background may then merge files
        /// until <c>ProgramCache.WaitIdle</c>. Several processes that write at once share the limit, so each needs room
        /// for its values besides those of the others. Each environment keeps the limit of the process that opened it
        /// last, so the files of several environments take up to the sum of their limits, or <c>DirectoryLimit</c>. A
        /// program of more than 3/4 of the limit, or of more than 256 MiB, is not written. To write nothing, set
        /// <c>ProgramCacheFlags.ReadOnly</c>. A full file system takes the place of the limit: old programs are evicted
        /// for new ones. A program of more than about 5/8 of its space is then not written. One <c>ProgramCache.Flush</c>
        /// reports the programs that were not written, and <c>DiskRefused</c> counts them.</summary>
        public ulong DiskLimit { get => Raw.disk_limit; set => Raw.disk_limit = value; }
        /// <summary>Limit of the programs that wait to be written, in bytes of data, reflection and fingerprints of
        /// shaders. 0: the default, 256 MiB. <c>ulong.MaxValue</c>: no limit. A program that is put beyond it stays in
        /// memory and is not written; there is no retry. Programs that wait are held even after memory evicts them, in
        /// addition to <c>MemoryLimit</c>.</summary>
        public ulong WaitingLimit { get => Raw.waiting_limit; set => Raw.waiting_limit = value; }
        /// <summary>Programs without a put or get for this many seconds are removed from disk. 0: the default, 30 days.
        /// <c>uint.MaxValue</c>: no limit.</summary>
        public uint MaxAgeSeconds { get => Raw.max_age_seconds; set => Raw.max_age_seconds = value; }
        /// <summary>Strikes that ban a program. 0: the default, 2, so that a program may end the process twice.
        /// <c>uint.MaxValue</c>: no bans, and uses are not recorded.</summary>
        public uint BanAt { get => Raw.ban_at; set => Raw.ban_at = value; }
        /// <summary><c>ProgramCacheFlags.ReadOnly</c> and the like. Default 0.</summary>
        public ProgramCacheFlags Flags { get => (ProgramCacheFlags)Raw.flags; set => Raw.flags = (uint)value; }
        /// <summary>Number of programs whose inputs are remembered for <c>ProgramCache.TryExplainMiss</c>. Default 0: none.
        /// Each takes some hundred bytes, in memory and on disk.</summary>
        public uint DescribedKeys { get => Raw.described_keys; set => Raw.described_keys = value; }
        /// <summary>Limit of the directory with all its environments, in bytes, at least 256 KiB. Environments that were
        /// not used for the longest time are removed first, as a whole, and this one never. 0: the default, twice the
        /// largest <c>DiskLimit</c> of an environment in it. <c>ulong.MaxValue</c>: no limit. The same files count as for
        /// <c>DiskLimit</c>, and those of other formats and secrets. These are deleted before all others, the oldest
        /// first. Files that a living process with another format or secret writes stay, and do not count.</summary>
        public ulong DirectoryLimit { get => Raw.directory_limit; set => Raw.directory_limit = value; }
    }

    /// <summary>A program to be stored.</summary>
    public sealed class CompiledProgram
    {
        /// <summary>The driver's format of the data, such as the GLenum of glGetProgramBinary.</summary>
        public uint Format;
        /// <summary>The binary. Null: no bytes.</summary>
        public byte[] Data;
        /// <summary>Any bytes that the host wants back with the binary. Null: none.</summary>
        public byte[] Reflection;
        /// <summary>Fingerprints of the shaders that it was linked from. Null: none.</summary>
        public Fingerprint[] Shaders;
        /// <summary>Microseconds of compiling and linking, for <c>Eviction.CostAware</c>. 0 counts as 1.</summary>
        public ulong BuildUs;
        /// <summary>The page, level or material that it belongs to, for <c>Eviction.Groups</c>.</summary>
        public uint Group;
    }

    /// <summary>How a use of a program ended.</summary>
    public enum UseOutcome : uint
    {
        /// <summary>The GPU has finished the first frame drawn with it. One strike is removed.</summary>
        Ok = 0,
        /// <summary>The driver refused it. It is removed from memory and disk; a program that was put meanwhile
        /// stays.</summary>
        Rejected = 1,
        /// <summary>Nothing was drawn with it. The program and its strikes do not change.</summary>
        Unused = 2,
    }
    /// <summary>How short of memory the machine is.</summary>
    public enum MemoryPressure : uint
    {
        /// <summary>Not short: the limits of memory pressure end.</summary>
        None = 0,
        /// <summary>The limit of memory is a quarter of memory_limit. A program that is larger, but within memory_limit,
        /// is stored alone: all others are evicted.</summary>
        Moderate = 1,
        /// <summary>All programs are evicted from memory, and then memory holds one program, the last that was stored.
        /// Programs that wait to be written stay: <c>ProgramCache.Flush</c> writes them. The disk keeps its
        /// programs.</summary>
        Critical = 2,
    }
    [Flags]
    public enum ProgramPlaces : uint
    {
        /// <summary>None.</summary>
        None = 0,
        /// <summary>It is in memory.</summary>
        InMemory = 1,
        /// <summary>It is in the directory.</summary>
        OnDisk = 2,
        /// <summary>It is in a bundle.</summary>
        InBundle = 4,
    }
    /// <summary>A program of <c>ProgramCache.List</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct ProgramInfo
    {
        /// <summary>Its key.</summary>
        public Fingerprint Key;
        /// <summary>Bytes of data, reflection and fingerprints of shaders.</summary>
        public ulong Size;
        /// <summary><c>CompiledProgram.BuildUs</c> of the put.</summary>
        public ulong BuildUs;
        /// <summary>Second of the last use that is recorded on disk, since 1970. 0: it is not on disk.</summary>
        public ulong LastUsed;
        /// <summary>Gets since it is in memory, and the put. 0: it is not in memory, or was loaded and not
        /// used.</summary>
        public uint Uses;
        /// <summary>Processes that used it, as recorded on disk. 0: it is not on disk.</summary>
        public uint RecordedUses;
        /// <summary>Its group, in memory. 0: it is not in memory.</summary>
        public uint Group;
        /// <summary><c>ProgramPlaces.InMemory</c> and the like.</summary>
        public ProgramPlaces Places;
    }
    /// <summary>Counters of a program cache since it was created, and its present size.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct ProgramCacheStatistics
    {
        uint structSize;
        /// <summary>Uses that have begun and not ended.</summary>
        public uint UsesOpen;
        /// <summary>Gets that found a program. <c>ProgramCache.TryGetWait</c> counts once.</summary>
        public ulong Hits;
        /// <summary>Gets that found none.</summary>
        public ulong Misses;
        /// <summary>Puts, whether the program was stored or not.</summary>
        public ulong Puts;
        /// <summary>Programs that were loaded from the directory or a bundle, after a miss or ahead of need.</summary>
        public ulong Loads;
        /// <summary>Programs evicted to make room.</summary>
        public ulong EvictedForRoom;
        /// <summary>Programs evicted by <c>ProgramCache.Trim</c>.</summary>
        public ulong EvictedByTrim;
        /// <summary>Programs evicted by <c>ProgramCache.ReportMemoryPressure</c>.</summary>
        public ulong EvictedByPressure;
        /// <summary>Programs evicted by <c>ProgramCache.SetMemoryLimit</c>.</summary>
        public ulong EvictedByLimit;
        /// <summary>Programs replaced by another put of their key.</summary>
        public ulong Replaced;
        /// <summary>Programs removed by <c>ProgramCache.Clear</c>.</summary>
        public ulong Cleared;
        /// <summary>Programs removed by <c>ProgramCache.Remove</c>.</summary>
        public ulong Removed;
        /// <summary>Programs removed because the driver rejected them.</summary>
        public ulong Rejected;
        /// <summary>Puts and loads refused: larger than the limit.</summary>
        public ulong RefusedTooLarge;
        /// <summary>Puts and loads refused: the key has a program.</summary>
        public ulong RefusedExists;
        /// <summary>Loads ahead of need refused: no room.</summary>
        public ulong RefusedNoRoom;
        /// <summary>Puts and loads refused: the key is banned.</summary>
        public ulong RefusedBanned;
        /// <summary>Loads refused: the program was removed meanwhile.</summary>
        public ulong RefusedRemoved;
        /// <summary>Uses that did not begin because the key is banned.</summary>
        public ulong UsesBanned;
        /// <summary>Programs in memory.</summary>
        public ulong Programs;
        /// <summary>Bytes in memory that count against <c>MemoryLimit</c>.</summary>
        public ulong Bytes;
        /// <summary>The limit of <c>Bytes</c>.</summary>
        public ulong MemoryLimit;
        /// <summary>Bytes held in all, with tables, bookkeeping and programs that wait to be written. Evicted programs
        /// that a blob still pins are not included.</summary>
        public ulong MemoryUsed;
        /// <summary>Shaders that are known to compile.</summary>
        public ulong Shaders;
        /// <summary>Programs that were chosen to be loaded ahead of need, since the cache was created.</summary>
        public ulong PreloadTotal;
        /// <summary>Programs of <c>PreloadTotal</c> that are done: loaded, refused, or skipped because memory is
        /// full.</summary>
        public ulong PreloadDone;
        /// <summary>Requests that wait for the background: programs to write, missed programs to read, removals and the
        /// like. Loading ahead of need is not included.</summary>
        public ulong Waiting;
        /// <summary>Programs that were put and could not be written.</summary>
        public ulong Unwritten;
        /// <summary>Programs and other values in the directory, of all environments. All <c>disk_</c> fields are as of
        /// the last time that no request waited.</summary>
        public ulong DiskValues;
        /// <summary>Bytes that <c>DiskValues</c> take in the files.</summary>
        public ulong DiskLiveBytes;
        /// <summary>Bytes of the files, with values that were replaced or removed.</summary>
        public ulong DiskFileBytes;
        /// <summary>Number of files that hold values.</summary>
        public ulong DiskFiles;
        /// <summary>Files of other formats, secrets and users, which are not read.</summary>
        public ulong DiskForeignFiles;
        /// <summary>Bytes of memory for the directory: a list of its values, and buffers. Not included in
        /// <c>MemoryUsed</c>.</summary>
        public ulong DiskMemoryUsed;
        /// <summary>Damaged values and files that were found, in the directory and in bundles.</summary>
        public ulong DiskDamaged;
        /// <summary>File operations that failed.</summary>
        public ulong DiskIoErrors;
        /// <summary>Values that were too large to be written.</summary>
        public ulong DiskRefused;
        /// <summary>Values evicted from disk.</summary>
        public ulong DiskEvicted;
        /// <summary>Values removed from disk because of their age.</summary>
        public ulong DiskExpired;
        /// <summary>Banned keys, in all environments of the directory.</summary>
        public ulong KeysBanned;
        /// <summary>Keys with strikes, in all environments of the directory.</summary>
        public ulong KeysWithStrikes;
        /// <summary>Uses that were recorded in a file.</summary>
        public ulong UsesRecorded;
        /// <summary>Uses that could not be recorded.</summary>
        public ulong UsesUnrecorded;
        /// <summary>Strikes that creating this cache added, for processes that ended during a use.</summary>
        public ulong StrikesAdded;
    }
    /// <summary>The measurements of a program cache. Each has a histogram.</summary>
    public enum ProgramCacheMeasure : uint
    {
        /// <summary>Bytes of data of each program that was put, stored or not.</summary>
        BinaryBytes = 0,
        /// <summary>Bytes in memory before each put.</summary>
        BytesBefore = 1,
        /// <summary>Bytes in memory after each put.</summary>
        BytesAfter = 2,
        /// <summary>Microseconds of each <c>ProgramManager.Link</c> that the cache served: making the key, get, begin_use
        /// and <c>Load</c>.</summary>
        HitUs = 3,
        /// <summary>Microseconds of each <c>ProgramManager.Link</c> that built its program. Includes the missed lookup,
        /// deferred compiles, <c>Link</c>, <c>GetBinary</c> and the put.</summary>
        MissUs = 4,
        /// <summary>Microseconds of each <c>ProgramManager.Compile</c> that deferred: copying and hashing the source, and
        /// the lookup.</summary>
        StatusHitUs = 5,
        /// <summary>Microseconds of each <c>ProgramManager.Compile</c> that called <c>Compile</c> and succeeded, callback
        /// included.</summary>
        StatusMissUs = 6,
    }
    /// <summary>The distribution of a measure. Count, sum, minimum and maximum are exact; quantiles to 1 part in
    /// 32.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Histogram
    {
        uint structSize;
        /// <summary>Buckets that hold values.</summary>
        public uint BucketCount;
        /// <summary>Number of values.</summary>
        public ulong Count;
        /// <summary>Sum of the values; <c>ulong.MaxValue</c> if it is larger than that.</summary>
        public ulong Sum;
        /// <summary>The least value. 0 without values, as are all fields below.</summary>
        public ulong Minimum;
        /// <summary>The greatest value.</summary>
        public ulong Maximum;
        /// <summary>The mean, rounded down.</summary>
        public ulong Mean;
        /// <summary>The median.</summary>
        public ulong P50;
        /// <summary>The 90th percentile.</summary>
        public ulong P90;
        /// <summary>The 99th percentile.</summary>
        public ulong P99;
    }
    /// <summary>One bucket of a histogram. Each value below 32 has one; above, there are 16 per power of two.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct HistogramBucket
    {
        /// <summary>The least value of the bucket.</summary>
        public ulong Minimum;
        /// <summary>The greatest value of the bucket.</summary>
        public ulong Maximum;
        /// <summary>Number of values.</summary>
        public ulong Count;
    }
    /// <summary>The programs of a bundle.</summary>
    public enum BundleContents : uint
    {
        /// <summary>All programs in memory, on disk and in bundles for the cache's environment.</summary>
        All = 0,
        /// <summary>The programs of the start-up set.</summary>
        StartupSet = 1,
    }
    /// <summary>Where the described program most similar to a missed one is.</summary>
    public enum ProgramLocation : uint
    {
        /// <summary>It was neither put nor asked for since the cache was created. It may be on disk.</summary>
        NotLoaded = 0,
        /// <summary>In memory.</summary>
        InMemory = 1,
        /// <summary>It was evicted from memory, or removed.</summary>
        Evicted = 2,
        /// <summary>On disk, for another driver, device or build. It is never loaded.</summary>
        OtherEnvironment = 3,
        /// <summary>Banned: see <c>ProgramCache.TryBeginUse</c>. It is never loaded.</summary>
        Banned = 4,
    }
    /// <summary>One input that differs between two programs.
    /// Long values, and values that are not text, are shown as their size and the beginning of their hash.</summary>
    public sealed class ProgramDifference
    {
        internal ProgramDifference(string label, string was, string now)
        {
            Label = label;
            Was = was;
            Is = now;
        }

        /// <summary>The input, such as "vertex stage", "attribute position" or "driver".</summary>
        public string Label { get; }
        /// <summary>Its value in the known program; empty: it has no such input.</summary>
        public string Was { get; }
        /// <summary>Its value in the missed program; empty: it has no such input.</summary>
        public string Is { get; }
    }

    /// <summary>Why a program was missed.</summary>
    public sealed unsafe class ProgramMiss
    {
        internal ProgramMiss(hob_program_miss* raw)
        {
            DifferenceCount = raw->difference_count;
            CommonCount = raw->common_count;
            Location = (ProgramLocation)raw->location;
            Nearest = *(Fingerprint*)&raw->nearest;
            Differences = new ProgramDifference[Math.Min(DifferenceCount, 8)];
            var difference = &raw->differences_0;
            for (var i = 0; i < Differences.Length; ++i, ++difference)
            {
                Differences[i] = new ProgramDifference(Calls.TextOf(difference->label, 48),
                    Calls.TextOf(difference->was, 72), Calls.TextOf(difference->@is, 72));
            }
            Sentence = Calls.TextOf(raw->sentence, 512);
        }

        /// <summary>Inputs that differ, also those beyond the room of <c>Differences</c>. 0: the program is
        /// known.</summary>
        public uint DifferenceCount { get; }
        /// <summary>Inputs that are equal.</summary>
        public uint CommonCount { get; }
        /// <summary>Where the program of <c>Nearest</c> is.</summary>
        public ProgramLocation Location { get; }
        /// <summary>The key of the known program with the most inputs in common.</summary>
        public Fingerprint Nearest { get; }
        /// <summary>The first differences, at most 8: stages, attributes, defines, feedback, extra, then the fields of the
        /// environment.</summary>
        public ProgramDifference[] Differences { get; }
        /// <summary>The explanation as a sentence.</summary>
        public string Sentence { get; }
    }
}
