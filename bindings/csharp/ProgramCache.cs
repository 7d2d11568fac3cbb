// Compiled shader programs, kept in memory and on disk, so that no program is compiled twice. MIT OR Apache-2.0.
//
//     var desc = new ProgramCacheDesc { Directory = "cache/programs", Environment = environment };
//     using (var cache = new ProgramCache(desc))
//     {
//         cache.WaitIdle();                               // loads programs, behind a loading screen
//         var blob = new Blob();                          // one for all gets: a hit allocates nothing
//         var isLoaded = false;
//         if (cache.TryGet(key, blob) && cache.TryBeginUse(key, out var use))
//         {
//             isLoaded = GlProgramBinary(program, blob.Format, blob.Data, blob.Size);
//             if (!isLoaded) cache.EndUse(use, UseOutcome.Rejected);              // before the put
//         }
//         if (!isLoaded) cache.Put(key, Compile(program));
//         // when the GPU has finished the first frame: cache.EndUse(use, UseOutcome.Ok)
//     }
using System;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>A cache of programs, in memory and, with a directory, on disk.
    /// All methods may run on several threads at once. Timeouts are in microseconds: 0 does no work and does not wait,
    /// <c>ulong.MaxValue</c> has no limit.</summary>
    public sealed unsafe partial class ProgramCache : HobHandle
    {
        /// <summary>Creates a cache. Null: the defaults, so memory only.
        /// Without an executor, or behind a loading screen, call <see cref="WaitIdle"/> next. A directory that cannot be read
        /// or written is no failure: <see cref="GetProblem"/> says why, and the cache works in memory.</summary>
        public ProgramCache(ProgramCacheDesc desc = null)
        {
            if (desc == null) desc = new ProgramCacheDesc();
            using (var arena = new Arena())
            using (Use.Begin(desc.Executor, out var executor))
            {
                var raw = desc.Raw;
                raw.directory = arena.Text(desc.Directory);
                if (desc.Environment != null) raw.environment = desc.Environment.Describe(arena);
                raw.executor = (hob_executor*)executor;
                raw.secret = arena.Blob(desc.Secret);
                var files = desc.FileSystem;
                if (files != null) raw.file_io = files.BeginUse(arena);
                hob_program_cache* cache;
                var result = Native.hob_program_cache_create(&raw, &cache);
                if (result == hob_result.HOB_RESULT_OK) Adopt(cache);
                else files?.EndUse();
                Hob.Check(result);
            }
        }

        internal override void Destroy(IntPtr native) => Native.hob_program_cache_destroy((hob_program_cache*)native);

        // ---- Get and put

        /// <summary>Gets a program from memory, as a view.
        /// Never waits for a file; a hit copies nothing and allocates nothing. False: it is not in memory, or banned
        /// (<see cref="Blob.IsBanned"/>): build it. It may still be on disk, which is then read in the background for the
        /// next get. A view that the blob holds ends first: after a miss the blob is empty.</summary>
        public bool TryGet(Fingerprint key, Blob blob)
        {
            return Get(key, blob, GetKind.Memory, 0);
        }

        /// <summary>Gets a program from memory for a group, and moves it there.
        /// As <see cref="TryGet(Fingerprint, Blob)"/>, for <c>Eviction.Groups</c>.</summary>
        public bool TryGetForGroup(Fingerprint key, uint group, Blob blob)
        {
            return Get(key, blob, GetKind.Group, group);
        }

        /// <summary>Gets a program, and waits for the disk, for loading screens.
        /// False: it does not exist, is banned, or the time was too short.</summary>
        public bool TryGetWait(Fingerprint key, Blob blob, ulong timeoutMicroseconds = ulong.MaxValue)
        {
            return Get(key, blob, GetKind.Wait, timeoutMicroseconds);
        }

        /// <summary>Gets a copy of a program from memory. Allocates the array.</summary>
        public bool TryGet(Fingerprint key, out byte[] data, out uint format)
        {
            using (var blob = new Blob())
            {
                var found = TryGet(key, blob);
                data = found ? blob.ToArray() : null;
                format = found ? blob.Format : 0;
                return found;
            }
        }

        enum GetKind
        {
            Memory,
            Group,
            Wait,
        }

        bool Get(Fingerprint key, Blob blob, GetKind kind, ulong argument)
        {
            if (blob == null) throw new ArgumentNullException(nameof(blob));
            using (Hold(out var native))
            using (blob.HoldForGet(out var view))
            {
                lock (blob.Gate)
                {
                    var cache = (hob_program_cache*)native;
                    var raw = (hob_blob*)view;
                    hob_result result;
                    var name = (hob_fingerprint*)&key;
                    if (kind == GetKind.Memory) result = Native.hob_program_cache_get(cache, name, raw);
                    else if (kind == GetKind.Group)
                        result = Native.hob_program_cache_get_for_group(cache, name, (uint)argument, raw);
                    else result = Native.hob_program_cache_get_wait(cache, name, argument, raw);
                    blob.IsBanned = result == hob_result.HOB_RESULT_BANNED;
                    if (result == hob_result.HOB_RESULT_BANNED || result == hob_result.HOB_RESULT_TIMEOUT) return false;
                    return Hob.CheckUnless(result, hob_result.HOB_RESULT_NOT_FOUND);
                }
            }
        }

        /// <summary>Stores a copy of a program: in memory now, and on disk in the background.
        /// Never waits for a file. A second put of a key replaces the first. A banned program is not stored. Throws with
        /// <c>Result.LimitExceeded</c> if it is larger than the memory limit.</summary>
        public void Put(Fingerprint key, CompiledProgram program)
        {
            Hob.Check(PutProgram(key, program));
        }

        /// <summary>As <see cref="Put(Fingerprint, CompiledProgram)"/>. False: it is larger than the memory limit.</summary>
        public bool TryPut(Fingerprint key, CompiledProgram program)
        {
            return Hob.CheckUnless(PutProgram(key, program), hob_result.HOB_RESULT_LIMIT_EXCEEDED);
        }

        /// <summary>Stores a copy of a program in native memory.</summary>
        public void Put(Fingerprint key, uint format, IntPtr data, long size, ulong buildMicroseconds = 0)
        {
            if (size < 0) throw new ArgumentOutOfRangeException(nameof(size));
            hob_program raw;
            Hob.Check(Native.hob_program_init(&raw, (uint)sizeof(hob_program)));
            raw.format = format;
            raw.data = (void*)data;
            raw.size = (UIntPtr)(ulong)size;
            raw.build_us = buildMicroseconds;
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_put((hob_program_cache*)cache, (hob_fingerprint*)&key, &raw));
            }
        }

        hob_result PutProgram(Fingerprint key, CompiledProgram program)
        {
            if (program == null) throw new ArgumentNullException(nameof(program));
            hob_program raw;
            Hob.Check(Native.hob_program_init(&raw, (uint)sizeof(hob_program)));
            raw.format = program.Format;
            raw.build_us = program.BuildUs;
            raw.group = program.Group;
            // Once, so that sizes are those of the arrays even if another thread sets others.
            var bytes = program.Data;
            var reflected = program.Reflection;
            var linked = program.Shaders;
            using (Hold(out var cache))
            {
                fixed (byte* data = bytes)
                fixed (byte* reflection = reflected)
                fixed (Fingerprint* shaders = linked)
                {
                    raw.data = data;
                    raw.size = (UIntPtr)(bytes == null ? 0 : bytes.Length);
                    raw.reflection = reflection;
                    raw.reflection_size = (UIntPtr)(reflected == null ? 0 : reflected.Length);
                    raw.shaders = (hob_fingerprint*)shaders;
                    raw.shader_count = (UIntPtr)(linked == null ? 0 : linked.Length);
                    return Native.hob_program_cache_put((hob_program_cache*)cache, (hob_fingerprint*)&key, &raw);
                }
            }
        }

        // ---- Uses

        /// <summary>Begins a use: call it just before the driver gets the binary. False: the program is banned.
        /// If the process crashes or is killed before the use ends, the key gets a strike. With a directory, writes 64 bytes
        /// to a file, on this thread.</summary>
        public bool TryBeginUse(Fingerprint key, out UseId use)
        {
            use = default(UseId);
            using (Hold(out var cache))
            {
                fixed (UseId* to = &use)
                {
                    return Hob.CheckUnless(
                        Native.hob_program_cache_begin_use((hob_program_cache*)cache, (hob_fingerprint*)&key, (hob_use_id*)to),
                        hob_result.HOB_RESULT_BANNED);
                }
            }
        }

        /// <summary>Ends a use, when the GPU has finished the first frame drawn with the program.
        /// Throws with <c>Result.NotFound</c> if the use has ended already, or belongs to another cache.</summary>
        public void EndUse(UseId use, UseOutcome outcome = UseOutcome.Ok)
        {
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_end_use(
                    (hob_program_cache*)cache, *(hob_use_id*)&use, (hob_use_outcome)outcome));
            }
        }

        // ---- Limits

        /// <summary>Removes a program from memory and disk. A key without a program is allowed.</summary>
        public void Remove(Fingerprint key)
        {
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_remove((hob_program_cache*)cache, (hob_fingerprint*)&key));
            }
        }

        /// <summary>Removes all programs and shader statuses from memory, and with <paramref name="diskToo"/> also from
        /// disk.</summary>
        public void Clear(bool diskToo = false)
        {
            using (Hold(out var cache))
                Hob.Check(Native.hob_program_cache_clear((hob_program_cache*)cache, diskToo ? 1u : 0u));
        }

        /// <summary>Removes all programs of all environments from memory and disk. Strikes and bans stay.</summary>
        public void ClearDirectory()
        {
            using (Hold(out var cache)) Hob.Check(Native.hob_program_cache_clear_directory((hob_program_cache*)cache));
        }

        /// <summary>Evicts programs until memory holds at most this many bytes; 0: all of them.</summary>
        public void Trim(ulong maxBytes)
        {
            using (Hold(out var cache)) Hob.Check(Native.hob_program_cache_trim((hob_program_cache*)cache, maxBytes));
        }

        /// <summary>Changes the limit of memory, in bytes. 0: the default. <c>ulong.MaxValue</c>: no limit.</summary>
        public void SetMemoryLimit(ulong limit)
        {
            using (Hold(out var cache)) Hob.Check(Native.hob_program_cache_set_memory_limit((hob_program_cache*)cache, limit));
        }

        /// <summary>Changes the limit of the disk, in bytes, at least 256 KiB. 0: the default. <c>ulong.MaxValue</c>: no
        /// limit.</summary>
        public void SetDiskLimit(ulong limit)
        {
            using (Hold(out var cache)) Hob.Check(Native.hob_program_cache_set_disk_limit((hob_program_cache*)cache, limit));
        }

        /// <summary>Limits memory as the system asks, until the next report. Unity: Application.lowMemory.</summary>
        public void ReportMemoryPressure(MemoryPressure pressure)
        {
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_report_memory_pressure(
                    (hob_program_cache*)cache, (hob_memory_pressure)pressure));
            }
        }

        /// <summary>Adds a key to the start-up set, or removes it. Programs of the set are loaded before all others.</summary>
        public void MarkStartup(Fingerprint key, bool isMarked = true)
        {
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_mark_startup(
                    (hob_program_cache*)cache, (hob_fingerprint*)&key, isMarked ? 1u : 0u));
            }
        }

        // ---- Status of shaders and programs

        /// <summary>Reports that a shader has compiled, before a program of it is put.</summary>
        public void ReportShaderCompiled(Fingerprint shader)
        {
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_report_shader_compiled(
                    (hob_program_cache*)cache, (hob_fingerprint*)&shader));
            }
        }

        /// <summary>Tells whether a shader is known to compile. Its compile may be deferred until a program is missed.</summary>
        public bool KnowsShader(Fingerprint shader)
        {
            uint isKnown;
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_get_shader_status(
                    (hob_program_cache*)cache, (hob_fingerprint*)&shader, &isKnown));
            }
            return isKnown != 0;
        }

        /// <summary>Gets the number of programs in memory that were linked from a shader.</summary>
        public uint GetShaderProgramCount(Fingerprint shader)
        {
            uint count;
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_get_shader_program_count(
                    (hob_program_cache*)cache, (hob_fingerprint*)&shader, &count));
            }
            return count;
        }

        /// <summary>Tells whether a program is in memory. False: unknown; it may be on disk, which is not searched.</summary>
        public bool KnowsProgram(Fingerprint key)
        {
            uint isKnown;
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_get_program_status(
                    (hob_program_cache*)cache, (hob_fingerprint*)&key, &isKnown));
            }
            return isKnown != 0;
        }

        /// <summary>Gets the number of strikes of a key.</summary>
        public uint GetStrikes(Fingerprint key)
        {
            uint strikes;
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_get_strikes((hob_program_cache*)cache, (hob_fingerprint*)&key, &strikes));
            }
            return strikes;
        }

        /// <summary>Clears the strikes of a key, and so lifts its ban. Waits for a small file.</summary>
        public void ClearStrikes(Fingerprint key)
        {
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_clear_strikes((hob_program_cache*)cache, (hob_fingerprint*)&key));
            }
        }

        /// <summary>Clears the strikes of all keys, in all environments of the directory.</summary>
        public void ClearAllStrikes()
        {
            using (Hold(out var cache)) Hob.Check(Native.hob_program_cache_clear_strikes((hob_program_cache*)cache, null));
        }

        // ---- Disk

        /// <summary>Reads and writes on this thread until no work waits. False: some work still waits.</summary>
        public bool WaitIdle(ulong timeoutMicroseconds = ulong.MaxValue)
        {
            using (Hold(out var cache))
            {
                return Hob.CheckUnless(
                    Native.hob_program_cache_wait_idle((hob_program_cache*)cache, timeoutMicroseconds), hob_result.HOB_RESULT_TIMEOUT);
            }
        }

        /// <summary>Writes all programs that wait, so that a loss of power cannot lose them. False: the time was too short.
        /// Throws with <c>Result.Io</c> if programs could not be written or removed.</summary>
        public bool Flush(ulong timeoutMicroseconds = ulong.MaxValue)
        {
            using (Hold(out var cache))
            {
                return Hob.CheckUnless(
                    Native.hob_program_cache_flush((hob_program_cache*)cache, timeoutMicroseconds), hob_result.HOB_RESULT_TIMEOUT);
            }
        }

        /// <summary>Gets the progress of loading. The total is 0 until the directory is open.</summary>
        public void GetLoadingProgress(out ulong done, out ulong total)
        {
            ulong isDone, ofAll;
            using (Hold(out var cache))
                Hob.Check(Native.hob_program_cache_get_loading_progress((hob_program_cache*)cache, &isDone, &ofAll));
            done = isDone;
            total = ofAll;
        }
    }
}
