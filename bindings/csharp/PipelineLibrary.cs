// Pipeline state objects (PSOs), compiled before the frame that needs them. MIT OR Apache-2.0.
//
//     var library = new PipelineLibrary(new PipelineLibraryDesc
//     {
//         Project = "game", Format = "spirv", Api = GraphicsApi.Vulkan, Version = "1.2", Directory = "cache/pipelines",
//         Environment = environment, Executor = executor, Compile = job => Create(job),
//     });
//     // once a frame:
//     library.BeginFrame();
//     // for each draw; the key is computed once, by PipelineDesc.ComputeKey:
//     switch (library.Use(key))
//     {
//         case PipelineState.Ready: Draw(key); break;
//         case PipelineState.Unknown: library.Add(desc, Build(desc)); Draw(key); break;
//         default: break;                                     // skip the object, or draw a substitute
//     }
using System;
using System.Collections.Generic;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Compiles a pipeline. It may block, and several may run at once, on the threads that work for the library. It
    /// may call the library. An exception counts as failed. The call of the library around it throws it; on a thread of the
    /// executor it goes to Hob.UnhandledCallbackException.</summary>
    public delegate PipelineBuilt PipelineCompiler(PipelineJob job);

    /// <summary>Parameters of a library. A new one has the defaults.</summary>
    public sealed unsafe class PipelineLibraryDesc
    {
        internal hob_pipeline_library_desc Raw;

        public PipelineLibraryDesc()
        {
            Hob.Ready(Room.Pipeline);
            fixed (hob_pipeline_library_desc* raw = &Raw)
                Hob.Check(Native.hob_pipeline_library_desc_init(raw, (uint)sizeof(hob_pipeline_library_desc)));
        }

        /// <summary>The graphics API, or a number of the host from <c>GraphicsApi.User</c> on.</summary>
        public GraphicsApi Api { get => (GraphicsApi)Raw.api; set => Raw.api = (uint)value; }
        /// <summary>The game: 1 to 128 ASCII letters, digits and - _ . + without a dot first.</summary>
        public string Project { get; set; }
        /// <summary>The format of its shaders, such as "spirv", in the same letters.</summary>
        public string Format { get; set; }
        /// <summary>The version of the game, at most 1024 bytes. The user's cache of another version is not
        /// used.</summary>
        public string Version { get; set; }
        /// <summary>Directory of the user's cache and of bans. Default empty: nothing outlives the process. It must not
        /// be that of a program cache. A path: on Unix any bytes without NUL, elsewhere UTF-8.</summary>
        public string Directory { get; set; }
        /// <summary>A new file that records this run for the next build of the game. Default empty: no recording. It gets
        /// the pipelines at their first use, and how often they are used with the first 256 masks of the run; uses with
        /// further masks are not counted. The executor's background writes first uses. Without an executor, and for
        /// counts of uses, <c>PipelineLibrary.Flush</c> and <c>PipelineLibrary.Destroy</c> write. An existing file is an
        /// error, so give each run its own name: "runs/20261125-1.rec.hobpipe".</summary>
        public string Recording { get; set; }
        /// <summary>The driver and device, which bans belong to. null: unknown.</summary>
        public ProgramEnvironment Environment { get; set; }
        /// <summary>Compiles in its background, one pipeline at a time, and is kept alive by the library. Null: only Compile
        /// and Wait compile, and only Flush and Dispose write files.</summary>
        public Executor Executor { get; set; }
        /// <summary>The file system of the directory. Null: the operating system's.</summary>
        public FileSystem FileSystem { get; set; }
        /// <summary>A secret of the host, at least 16 bytes; copied. Files that were written without it are ignored.
        /// Default empty.</summary>
        public byte[] Secret { get; set; }
        /// <summary>Compiles a pipeline. Must be set.</summary>
        public PipelineCompiler Compile { get; set; }
        /// <summary>All selected pipelines were compiled, or have failed. Called by the thread that compiled the last one.
        /// A library without anything to compile never calls it. May be null.</summary>
        public Action Completed { get; set; }
        /// <summary>Whether a mask of a pipeline, the first one, fits the current one. It must always give the same answer.
        /// Inside it, all methods of the library fail with <c>Result.Busy</c>. Null: <c>(mask &amp; current) == current</c>,
        /// or field by field with <see cref="Dimensions"/>.</summary>
        public Func<PipelineMask, PipelineMask, bool> Compare { get; set; }
        /// <summary>The first current mask. No bits select all pipelines.</summary>
        public PipelineMask Mask { get; set; }
        /// <summary>The first precompile mask, for <c>PipelineMode.Precompile</c>. No bits select all pipelines.</summary>
        public PipelineMask PrecompileMask { get; set; }
        /// <summary>The named fields of masks. Recordings and the user's cache keep them, and the current masks may have no
        /// other bits. Null: masks have no fields.</summary>
        public IList<PipelineDimension> Dimensions { get; set; }
        /// <summary>The first mode. Default <c>PipelineMode.Fast</c>; 0 is <c>PipelineMode.Paused</c>.</summary>
        public PipelineMode Mode { get => (PipelineMode)Raw.mode; set => Raw.mode = (hob_pipeline_mode)value; }
        /// <summary>The order of compiles. Default <c>PipelineOrder.Predicted</c>.</summary>
        public PipelineOrder Order { get => (PipelineOrder)Raw.order; set => Raw.order = (hob_pipeline_order)value; }
        /// <summary><c>PipelineFlags.NoUserCache</c> and the like. Default 0.</summary>
        public PipelineFlags Flags { get => (PipelineFlags)Raw.flags; set => Raw.flags = (uint)value; }
        /// <summary>Strikes that ban a pipeline. Default 2. <c>uint.MaxValue</c>: no bans. A compile gives a strike if
        /// the process crashes during it, calls abort() or _exit(), or is ended by a signal, such as SIGKILL or SIGTERM.
        /// A call of exit() gives none. A successful compile takes one strike back.</summary>
        public uint BanAt { get => Raw.ban_at; set => Raw.ban_at = value; }
        /// <summary>Pipelines of the user's cache that were not used for this many seconds are removed at create. The
        /// time ends at the newest use before this start, so a wrong clock removes nothing, and an old pipeline is
        /// removed one start later. Default 30 days. <c>uint.MaxValue</c>: no limit.</summary>
        public uint MaxAgeSeconds { get => Raw.max_age_seconds; set => Raw.max_age_seconds = value; }
        /// <summary>Number of threads that compile at the same time. Those are the host's in
        /// <c>PipelineLibrary.Compile</c>, and one of the executor, whose background runs one task at a time. No thread
        /// is created. Each gets the time of the mode. The budget of <c>PipelineLibrary.BeginFrame</c> is for all of them
        /// together. 1 to 256, default 1.</summary>
        public uint Workers { get => Raw.workers; set => Raw.workers = value; }
        /// <summary>Limit of the user's cache on the disk, in bytes, at least 256 KiB. Default 64 MiB.</summary>
        public ulong DiskLimit { get => Raw.disk_limit; set => Raw.disk_limit = value; }
    }

    /// <summary>The pipelines of a running game.
    /// All methods may run on several threads at once, also inside callbacks. Timeouts and budgets are in
    /// microseconds.</summary>
    public sealed unsafe class PipelineLibrary : HobHandle
    {
        static readonly hob_pipeline_library_desc_compile_fn CompileCallback = OnCompile;
        static readonly hob_pipeline_library_desc_completed_fn CompletedCallback = OnCompleted;
        static readonly hob_pipeline_library_desc_compare_fn CompareCallback = OnCompare;
        static readonly IntPtr CompilePointer = Callbacks.Pointer(CompileCallback);
        static readonly IntPtr CompletedPointer = Callbacks.Pointer(CompletedCallback);
        static readonly IntPtr ComparePointer = Callbacks.Pointer(CompareCallback);

        /// <summary>What the library holds.</summary>
        sealed class Box
        {
            internal PipelineCompiler Compile;
            internal Action Completed;
            internal Func<PipelineMask, PipelineMask, bool> Compare;
        }

        /// <summary>Creates a library, and loads the user's cache. This reads files.
        /// A directory that cannot be read or written is no failure: <see cref="GetProblem"/> says why.</summary>
        public PipelineLibrary(PipelineLibraryDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            var box = new Box { Compile = desc.Compile, Completed = desc.Completed, Compare = desc.Compare };
            if (box.Compile == null) throw new ArgumentException("a pipeline library needs Compile", nameof(desc));
            using (var arena = new Arena())
            using (Hobgoblin.Use.Begin(desc.Executor, out var executor))
            {
                var raw = desc.Raw;
                raw.project = arena.Text(desc.Project);
                raw.format = arena.Text(desc.Format);
                raw.version = arena.Text(desc.Version);
                raw.directory = arena.Text(desc.Directory);
                raw.recording = arena.Text(desc.Recording);
                if (desc.Environment != null) raw.environment = desc.Environment.Describe(arena);
                raw.executor = (hob_executor*)executor;
                raw.secret = arena.Blob(desc.Secret);
                var mask = desc.Mask;
                var precompileMask = desc.PrecompileMask;
                raw.mask = (hob_pipeline_mask*)&mask;
                raw.precompile_mask = (hob_pipeline_mask*)&precompileMask;
                raw.dimensions = PipelineDimension.Describe(arena, desc.Dimensions, out raw.dimension_count);
                raw.dimension_stride = (UIntPtr)sizeof(hob_pipeline_dimension);
                raw.compile = CompilePointer;
                raw.completed = box.Completed != null ? CompletedPointer : IntPtr.Zero;
                raw.compare = box.Compare != null ? ComparePointer : IntPtr.Zero;
                raw.release = Callbacks.ReleasePointer;
                raw.user_data = Callbacks.Keep(box);
                var files = desc.FileSystem;
                if (files != null) raw.file_io = files.BeginUse(arena);
                hob_pipeline_library* library;
                var call = BeginCall();
                var result = Native.hob_pipeline_library_create(&raw, &library);
                call.End();
                if (result == hob_result.HOB_RESULT_OK)
                {
                    Adopt(library);
                }
                else
                {
                    files?.EndUse();
                    Callbacks.Drop(raw.user_data);
                }
                Hob.Check(result);
            }
        }

        internal override void Destroy(IntPtr native) => Native.hob_pipeline_library_destroy((hob_pipeline_library*)native);

        // ---- The frame

        /// <summary>Begins a frame: allows the next batch of compiles.
        /// The budget is the time that they may take in this frame on all threads together. <c>ulong.MaxValue</c>: the limit
        /// of the mode. 0: only pipelines that are needed now. Waits for nothing.</summary>
        public void BeginFrame(ulong budgetMicroseconds = ulong.MaxValue)
        {
            using (Hold(out var library))
                Hob.Check(Native.hob_pipeline_library_begin_frame((hob_pipeline_library*)library, budgetMicroseconds));
        }

        /// <summary>Uses a pipeline in this frame, and returns its state. Only <c>PipelineState.Ready</c> can be drawn with.
        /// A pipeline that is not ready is compiled before all others. One look-up.</summary>
        public PipelineState Use(Fingerprint key)
        {
            using (Hold(out var library))
                return (PipelineState)Native.hob_pipeline_library_use((hob_pipeline_library*)library, (hob_fingerprint*)&key);
        }

        /// <summary>Adds a pipeline that the host has built itself, because it was not ready. Returns its key.
        /// It is ready from now on, counts as used in this frame, and is kept for the next start.</summary>
        public Fingerprint Add(PipelineDesc pipeline, ulong buildMicroseconds = 0)
        {
            if (pipeline == null) throw new ArgumentNullException(nameof(pipeline));
            Fingerprint key;
            using (var arena = new Arena())
            using (Hold(out var library))
            {
                var raw = pipeline.Describe(arena);
                var call = BeginCall();
                hob_result result;
                try { }
                finally
                {
                    result = Native.hob_pipeline_library_add(
                        (hob_pipeline_library*)library, &raw, buildMicroseconds, (hob_fingerprint*)&key);
                }
                call.End();
                Hob.Check(result);
            }
            return key;
        }

        /// <summary>Compiles pipelines on this thread, until none may be compiled now or the time is over. Returns how many.
        /// For loading screens, and for worker threads of the host: several may call it at once. BeginFrame allows
        /// batches.</summary>
        public uint Compile(ulong timeoutMicroseconds = ulong.MaxValue)
        {
            uint count = 0;
            using (Hold(out var library))
            {
                var call = BeginCall();
                hob_result result;
                try { }
                finally
                {
                    result = Native.hob_pipeline_library_compile((hob_pipeline_library*)library, timeoutMicroseconds, &count);
                }
                call.End();
                Hob.Check(result);
            }
            return count;
        }

        /// <summary>Waits until a pipeline has a final state, and returns its state then.
        /// This thread compiles it, unless another one does already. <c>PipelineState.Unknown</c>: no cache has it.</summary>
        public PipelineState Wait(Fingerprint key, ulong timeoutMicroseconds = ulong.MaxValue)
        {
            using (Hold(out var library))
            {
                var call = BeginCall();
                hob_pipeline_state state;
                try { }
                finally
                {
                    state = Native.hob_pipeline_library_wait(
                        (hob_pipeline_library*)library, (hob_fingerprint*)&key, timeoutMicroseconds);
                }
                call.End();
                Callbacks.Rethrow();
                return (PipelineState)state;
            }
        }

        /// <summary>Requests a pipeline, and waits for other threads that compile it. Returns its state after the wait.
        /// It is compiled before all that is not needed now, in every mode. Does not count as a use.</summary>
        public PipelineState Request(Fingerprint key, ulong timeoutMicroseconds = 0)
        {
            using (Hold(out var library))
            {
                return (PipelineState)Native.hob_pipeline_library_request(
                    (hob_pipeline_library*)library, (hob_fingerprint*)&key, timeoutMicroseconds);
            }
        }

        /// <summary>Gets the state of a pipeline, without a use.</summary>
        public PipelineState GetState(Fingerprint key)
        {
            using (Hold(out var library))
            {
                return (PipelineState)Native.hob_pipeline_library_get_state(
                    (hob_pipeline_library*)library, (hob_fingerprint*)&key);
            }
        }

        // ---- Control

        /// <summary>Opens a cache that ships with the game, and queues the pipelines that the masks select. Waits for the file.
        /// Returns the number of pipelines. Throws with <c>Result.Unsupported</c> if it is for another project, format or
        /// API.</summary>
        public ulong OpenCache(string path)
        {
            if (path == null) throw new ArgumentNullException(nameof(path));
            ulong count = 0;
            using (var text = new Utf8(path, nameof(path)))
            using (Hold(out var library))
            {
                var call = BeginCall();
                var result = Native.hob_pipeline_library_open_cache((hob_pipeline_library*)library, text.Str, &count);
                call.End();
                Hob.Check(result);
            }
            return count;
        }

        /// <summary>Opens a cache in memory, such as a file of an archive.</summary>
        public ulong OpenCache(byte[] bytes)
        {
            if (bytes == null) throw new ArgumentNullException(nameof(bytes));
            fixed (byte* data = bytes) return OpenCache((IntPtr)data, bytes.Length);
        }

        /// <summary>Opens a cache in native memory, which is not needed afterwards.</summary>
        public ulong OpenCache(IntPtr data, long size)
        {
            if (size < 0) throw new ArgumentOutOfRangeException(nameof(size));
            ulong count = 0;
            using (Hold(out var library))
            {
                var call = BeginCall();
                var result = Native.hob_pipeline_library_open_cache_bytes(
                    (hob_pipeline_library*)library, (void*)data, (UIntPtr)(ulong)size, &count);
                call.End();
                Hob.Check(result);
            }
            return count;
        }

        /// <summary>The mode. Compiles that are running go on when it changes.</summary>
        public PipelineMode Mode
        {
            get
            {
                using (Hold(out var library))
                    return (PipelineMode)Native.hob_pipeline_library_get_mode((hob_pipeline_library*)library);
            }
            set
            {
                using (Hold(out var library))
                    Hob.Check(Native.hob_pipeline_library_set_mode((hob_pipeline_library*)library, (hob_pipeline_mode)value));
            }
        }

        /// <summary>Changes the current mask and the precompile mask, and selects again which pipelines are compiled
        /// ahead.</summary>
        public void SetMasks(PipelineMask mask, PipelineMask precompileMask = default(PipelineMask))
        {
            using (Hold(out var library))
            {
                var call = BeginCall();
                var result = Native.hob_pipeline_library_set_masks((hob_pipeline_library*)library,
                    (hob_pipeline_mask*)&mask, (hob_pipeline_mask*)&precompileMask);
                call.End();
                Hob.Check(result);
            }
        }

        /// <summary>The number of selected or requested pipelines that are not compiled yet, for a progress bar.</summary>
        public uint Remaining
        {
            get
            {
                uint remaining;
                using (Hold(out var library))
                    Hob.Check(Native.hob_pipeline_library_get_remaining((hob_pipeline_library*)library, &remaining));
                return remaining;
            }
        }

        /// <summary>Gets the number of pipelines that are not compiled yet and that a mask selects, or would, as the current
        /// one.</summary>
        public uint GetRemainingOf(PipelineMask mask)
        {
            uint remaining;
            using (Hold(out var library))
            {
                var call = BeginCall();
                var result = Native.hob_pipeline_library_get_remaining_of(
                    (hob_pipeline_library*)library, (hob_pipeline_mask*)&mask, &remaining);
                call.End();
                Hob.Check(result);
            }
            return remaining;
        }

        /// <summary>Compiles a pipeline again that is ready, failed or banned. A ban is lifted. False: it has no such
        /// state.</summary>
        public bool Forget(Fingerprint key)
        {
            ulong count;
            using (Hold(out var library))
            {
                Hob.Check(Native.hob_pipeline_library_forget(
                    (hob_pipeline_library*)library, (hob_fingerprint*)&key, &count));
            }
            return count > 0;
        }

        /// <summary>Compiles all pipelines again that are ready, for instance after the device was lost. Returns how
        /// many.</summary>
        public ulong ForgetAll()
        {
            ulong count;
            using (Hold(out var library))
                Hob.Check(Native.hob_pipeline_library_forget((hob_pipeline_library*)library, null, &count));
            return count;
        }

        /// <summary>Writes the pipelines that wait to be kept, and their uses, on this thread, and waits for the disk.
        /// Throws with <c>Result.Io</c> if they cannot be written, and with <c>Result.LimitExceeded</c> if some are not
        /// kept.</summary>
        public void Flush()
        {
            using (Hold(out var library)) Hob.Check(Native.hob_pipeline_library_flush((hob_pipeline_library*)library));
        }

        /// <summary>Gets why pipelines are not kept, bans not remembered, or those of the last start not used. Empty: no
        /// problem.</summary>
        public string GetProblem()
        {
            using (Hold(out var library))
            {
                return Calls.ReadText((buffer, capacity, size) => Native.hob_pipeline_library_get_problem(
                    (hob_pipeline_library*)library, buffer, capacity, size));
            }
        }

        // ---- Ready groups

        /// <summary>Adds a group: the pipelines of one object, such as those of its passes. At most 4096 keys.</summary>
        public PipelineGroupId AddGroup(params Fingerprint[] keys)
        {
            if (keys == null) throw new ArgumentNullException(nameof(keys));
            PipelineGroupId group;
            using (Hold(out var library))
            {
                fixed (Fingerprint* names = keys)
                {
                    Hob.Check(Native.hob_pipeline_library_add_group((hob_pipeline_library*)library, (hob_fingerprint*)names,
                        (UIntPtr)sizeof(hob_fingerprint), (UIntPtr)keys.Length, (hob_pipeline_group_id*)&group));
                }
            }
            return group;
        }

        /// <summary>Removes a group. Its pipelines stay.</summary>
        public void RemoveGroup(PipelineGroupId group)
        {
            using (Hold(out var library))
            {
                Hob.Check(Native.hob_pipeline_library_remove_group(
                    (hob_pipeline_library*)library, *(hob_pipeline_group_id*)&group));
            }
        }

        /// <summary>Decides how to draw the object of a group in this frame.
        /// <c>PipelineDecision.Skip</c> for an unknown group. A decision does not count as a use.</summary>
        public PipelineDecision Decide(PipelineGroupId group, PipelinePolicy policy = PipelinePolicy.Skip,
            ulong timeoutMicroseconds = 0)
        {
            using (Hold(out var library))
            {
                return (PipelineDecision)Native.hob_pipeline_library_decide((hob_pipeline_library*)library,
                    *(hob_pipeline_group_id*)&group, (hob_pipeline_policy)policy, timeoutMicroseconds);
            }
        }

        /// <summary>Gets the counts of the library.</summary>
        public PipelineStatistics GetStatistics()
        {
            PipelineStatistics statistics;
            ((hob_pipeline_statistics*)&statistics)->struct_size = (uint)sizeof(hob_pipeline_statistics);
            using (Hold(out var library))
            {
                Hob.Check(Native.hob_pipeline_library_get_statistics(
                    (hob_pipeline_library*)library, (hob_pipeline_statistics*)&statistics));
            }
            return statistics;
        }

        // ---- Callbacks

        // Calls of a library on this thread that may run callbacks, and can throw their exceptions.
        [ThreadStatic] static int calls;

        struct Call
        {
            internal void End() => --calls;
        }

        static Call BeginCall()
        {
            ++calls;
            return new Call();
        }

        static void Fail(Callback callback, Exception exception)
        {
            if (calls > 0) callback.Fail(exception);
            else callback.Report(exception);
        }

        [MonoPInvokeCallback(typeof(hob_pipeline_library_desc_compile_fn))]
        static uint OnCompile(void* userData, hob_pipeline_job* job)
        {
            var callback = Callbacks.BeginBackground();
            try
            {
                return (uint)Callbacks.Get<Box>(userData).Compile(new PipelineJob(job));
            }
            catch (Exception exception)
            {
                Fail(callback, exception);
                return (uint)PipelineBuilt.Failed;
            }
            finally
            {
                callback.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_pipeline_library_desc_completed_fn))]
        static void OnCompleted(void* userData)
        {
            var callback = Callbacks.BeginBackground();
            try
            {
                Callbacks.Get<Box>(userData).Completed();
            }
            catch (Exception exception)
            {
                Fail(callback, exception);
            }
            finally
            {
                callback.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_pipeline_library_desc_compare_fn))]
        static uint OnCompare(void* userData, hob_pipeline_mask* mask, hob_pipeline_mask* current)
        {
            var callback = Callbacks.BeginBackground();
            try
            {
                return Callbacks.Get<Box>(userData).Compare(*(PipelineMask*)mask, *(PipelineMask*)current) ? 1u : 0u;
            }
            catch (Exception exception)
            {
                Fail(callback, exception);
                return 0;
            }
            finally
            {
                callback.End();
            }
        }
    }
}
