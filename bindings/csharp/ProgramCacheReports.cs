// Program caches: problems, lists, statistics, bundles, explanations, and blobs of renderers. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    public sealed unsafe partial class ProgramCache
    {
        static readonly hob_problem_callback_report_fn OnProblemCallback = OnProblem;
        static readonly IntPtr OnProblemPointer = Callbacks.Pointer(OnProblemCallback);

        // ---- Problems

        /// <summary>Sets the observer of problems; null removes it.
        /// A problem keeps programs from being read, written or removed, such as a full disk. The observer receives each new
        /// problem once, and an empty text when it is over. It runs on the thread that noticed the problem: in a background
        /// task, or inside a call of the cache. Its exceptions go to Hob.UnhandledCallbackException.</summary>
        public void SetProblemCallback(Action<string> report)
        {
            using (Hold(out var cache))
            {
                if (report == null)
                {
                    Hob.Check(Native.hob_program_cache_set_problem_callback((hob_program_cache*)cache, null));
                    return;
                }
                hob_problem_callback raw;
                Hob.Check(Native.hob_problem_callback_init(&raw, (uint)sizeof(hob_problem_callback)));
                raw.user_data = Callbacks.Keep(report);
                raw.report = OnProblemPointer;
                raw.release = Callbacks.ReleasePointer;
                var result = Native.hob_program_cache_set_problem_callback((hob_program_cache*)cache, &raw);
                if (result != hob_result.HOB_RESULT_OK) Callbacks.Drop(raw.user_data);
                Hob.Check(result);
            }
        }

        [MonoPInvokeCallback(typeof(hob_problem_callback_report_fn))]
        static void OnProblem(void* userData, hob_str sentence)
        {
            var call = Callbacks.BeginBackground();
            try
            {
                Callbacks.Get<Action<string>>(userData)(Text.From(sentence));
            }
            catch (Exception exception)
            {
                call.Report(exception);
            }
            finally
            {
                call.End();
            }
        }

        /// <summary>Gets the present error of reading or writing as a sentence. Empty: no error.</summary>
        public string GetProblem()
        {
            using (Hold(out var cache))
            {
                return Calls.ReadText((buffer, capacity, size) =>
                    Native.hob_program_cache_get_problem((hob_program_cache*)cache, buffer, capacity, size));
            }
        }

        // ---- Places and the list

        /// <summary>Tells where a program is. <c>ProgramPlaces.None</c>: nowhere.
        /// Throws with <c>Result.Timeout</c> if the disk is still busy after the time.</summary>
        public ProgramPlaces FindPlaces(Fingerprint key, ulong timeoutMicroseconds = ulong.MaxValue)
        {
            uint places;
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_contains(
                    (hob_program_cache*)cache, (hob_fingerprint*)&key, timeoutMicroseconds, &places));
            }
            return (ProgramPlaces)places;
        }

        /// <summary>Lists programs in the order of their keys, a page at a time: those of memory, disk and bundles.
        /// <paramref name="after"/> is the last key of the previous page; null begins. Returns the number of programs in the
        /// page; 0: the end.</summary>
        public int List(Fingerprint? after, ProgramInfo[] page, ulong timeoutMicroseconds = ulong.MaxValue)
        {
            if (page == null) throw new ArgumentNullException(nameof(page));
            var begin = after ?? default(Fingerprint);
            var count = UIntPtr.Zero;
            using (Hold(out var cache))
            {
                fixed (ProgramInfo* items = page)
                {
                    Hob.Check(Native.hob_program_cache_list((hob_program_cache*)cache,
                        after.HasValue ? (hob_fingerprint*)&begin : null, timeoutMicroseconds, (hob_program_info*)items,
                        (UIntPtr)sizeof(ProgramInfo), (UIntPtr)page.Length, &count));
                }
            }
            return (int)(ulong)count;
        }

        /// <summary>Lists all programs in the order of their keys.</summary>
        public List<ProgramInfo> ListAll(ulong timeoutMicroseconds = ulong.MaxValue)
        {
            var all = new List<ProgramInfo>();
            var page = new ProgramInfo[256];
            Fingerprint? after = null;
            for (;;)
            {
                var count = List(after, page, timeoutMicroseconds);
                if (count == 0) return all;
                for (var i = 0; i < count; ++i) all.Add(page[i]);
                after = page[count - 1].Key;
            }
        }

        // ---- Statistics and histograms

        /// <summary>Gets all counters. Visits every program in memory: not for every frame.</summary>
        public ProgramCacheStatistics GetStatistics()
        {
            ProgramCacheStatistics statistics;
            var raw = (hob_program_cache_statistics*)&statistics;
            raw->struct_size = (uint)sizeof(hob_program_cache_statistics);
            using (Hold(out var cache)) Hob.Check(Native.hob_program_cache_get_statistics((hob_program_cache*)cache, raw));
            return statistics;
        }

        /// <summary>Gets all counters and histograms as a JSON object. Not for every frame.</summary>
        public string GetReport()
        {
            using (Hold(out var cache))
            {
                return Calls.ReadText((buffer, capacity, size) =>
                    Native.hob_program_cache_get_report((hob_program_cache*)cache, buffer, capacity, size));
            }
        }

        /// <summary>Adds a value to a histogram, for hosts that measure links and compiles themselves.</summary>
        public void AddMeasurement(ProgramCacheMeasure measure, ulong value)
        {
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_add_measurement(
                    (hob_program_cache*)cache, (hob_program_cache_measure)measure, value));
            }
        }

        /// <summary>Gets the distribution of a measure.</summary>
        public Histogram GetHistogram(ProgramCacheMeasure measure)
        {
            Histogram histogram;
            var raw = (hob_histogram*)&histogram;
            Hob.Check(Native.hob_histogram_init(raw, (uint)sizeof(hob_histogram)));
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_get_histogram(
                    (hob_program_cache*)cache, (hob_program_cache_measure)measure, raw));
            }
            return histogram;
        }

        /// <summary>Gets the buckets of a histogram that hold values, in ascending order.</summary>
        public HistogramBucket[] GetHistogramBuckets(ProgramCacheMeasure measure)
        {
            using (var arena = new Arena())
            using (Hold(out var cache))
            {
                var items = (HistogramBucket*)Calls.List(arena, sizeof(HistogramBucket), out var length,
                    (buckets, capacity, count) => Native.hob_program_cache_get_histogram_buckets((hob_program_cache*)cache,
                        (hob_program_cache_measure)measure, (hob_histogram_bucket*)buckets, (UIntPtr)sizeof(HistogramBucket),
                        capacity, count));
                var found = new HistogramBucket[length];
                for (var i = 0; i < length; ++i) found[i] = items[i];
                return found;
            }
        }

        // ---- Experimental: Bundles

        /// <summary>Adds a bundle, which is searched after the directory and after earlier bundles.
        /// The file stays open until the cache is disposed.</summary>
        public void AddBundle(string path)
        {
            if (path == null) throw new ArgumentNullException(nameof(path));
            using (var text = new Utf8(path, nameof(path)))
            using (Hold(out var cache)) Hob.Check(Native.hob_program_cache_add_bundle((hob_program_cache*)cache, text.Str));
        }

        /// <summary>Adds a bundle from memory, such as a file of an archive. The library keeps a copy.</summary>
        public void AddBundle(byte[] bytes)
        {
            if (bytes == null) throw new ArgumentNullException(nameof(bytes));
            fixed (byte* data = bytes) AddBundle((IntPtr)data, bytes.Length);
        }

        /// <summary>Adds a bundle from native memory. The library keeps a copy.</summary>
        public void AddBundle(IntPtr data, long size)
        {
            if (size < 0) throw new ArgumentOutOfRangeException(nameof(size));
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_add_bundle_bytes(
                    (hob_program_cache*)cache, (void*)data, (UIntPtr)(ulong)size));
            }
        }

        /// <summary>Writes programs to a bundle, for build machines. Returns the number of programs.
        /// Throws with <c>Result.NotFound</c> if there is no program.</summary>
        public ulong WriteBundle(string path, BundleContents contents = BundleContents.All)
        {
            if (path == null) throw new ArgumentNullException(nameof(path));
            ulong programs;
            using (var text = new Utf8(path, nameof(path)))
            using (Hold(out var cache))
            {
                Hob.Check(Native.hob_program_cache_write_bundle(
                    (hob_program_cache*)cache, text.Str, (hob_bundle_contents)contents, &programs));
            }
            return programs;
        }

        // ---- Experimental: Explaining misses

        /// <summary>Remembers the inputs of a program for <see cref="TryExplainMiss"/>.
        /// Does nothing unless <see cref="ProgramCacheDesc.DescribedKeys"/> is set. <paramref name="name"/> null: the key that
        /// <see cref="ProgramKey.ComputeFingerprint"/> makes.</summary>
        public void Describe(ProgramKey key, Fingerprint? name = null)
        {
            if (key == null) throw new ArgumentNullException(nameof(key));
            var named = name ?? default(Fingerprint);
            using (var arena = new Arena())
            using (Hold(out var cache))
            {
                var desc = key.Describe(arena);
                Hob.Check(Native.hob_program_cache_describe(
                    (hob_program_cache*)cache, name.HasValue ? (hob_fingerprint*)&named : null, &desc));
            }
        }

        /// <summary>Explains a miss: which inputs differ from the most similar program that is described.
        /// Call it before <see cref="Describe"/>. False: no program is described.</summary>
        public bool TryExplainMiss(ProgramKey key, out ProgramMiss miss)
        {
            if (key == null) throw new ArgumentNullException(nameof(key));
            using (var arena = new Arena())
            using (Hold(out var cache))
            {
                var desc = key.Describe(arena);
                var raw = (hob_program_miss*)arena.Allocate(1, sizeof(hob_program_miss));
                Hob.Check(Native.hob_program_miss_init(raw, (uint)sizeof(hob_program_miss)));
                var isKnown = Hob.CheckUnless(
                    Native.hob_program_cache_explain_miss((hob_program_cache*)cache, &desc, raw), hob_result.HOB_RESULT_NOT_FOUND);
                miss = isKnown ? new ProgramMiss(raw) : null;
                return isKnown;
            }
        }

        // ---- Experimental: Dawn and EGL
        //
        // A native renderer takes the C functions themselves: hob_dawn_blob_store, hob_dawn_blob_load, hob_egl_blob_set and
        // hob_egl_blob_get of the library, with DangerousGetHandle as user data. These methods read and write the same blobs.

        /// <summary>Stores a blob, as Dawn does. A blob that cannot be stored is dropped.</summary>
        public void StoreDawnBlob(byte[] key, byte[] value)
        {
            if (key == null) throw new ArgumentNullException(nameof(key));
            if (value == null) throw new ArgumentNullException(nameof(value));
            using (Hold(out var cache))
            {
                fixed (byte* name = key)
                fixed (byte* data = value)
                {
                    Native.hob_dawn_blob_store(
                        name, (UIntPtr)key.Length, data, (UIntPtr)value.Length, (void*)cache);
                }
            }
        }

        /// <summary>Loads a blob from memory, as Dawn does. Never waits for a file.</summary>
        public bool TryLoadDawnBlob(byte[] key, out byte[] value)
        {
            if (key == null) throw new ArgumentNullException(nameof(key));
            value = null;
            using (Hold(out var cache))
            {
                fixed (byte* name = key)
                {
                    var size = Native.hob_dawn_blob_load(name, (UIntPtr)key.Length, null, UIntPtr.Zero, (void*)cache);
                    if (size == UIntPtr.Zero) return false;
                    var bytes = new byte[checked((int)(ulong)size)];
                    fixed (byte* data = bytes)
                    {
                        if (Native.hob_dawn_blob_load(name, (UIntPtr)key.Length, data, size, (void*)cache) != size) return false;
                    }
                    value = bytes;
                    return true;
                }
            }
        }

        /// <summary>Binds the cache to the EGL functions, for the whole process. Disposing the cache unbinds it.</summary>
        public void BindEgl()
        {
            using (Hold(out var cache)) Hob.Check(Native.hob_program_cache_bind_egl((hob_program_cache*)cache));
        }

        /// <summary>Unbinds the cache of the EGL functions.</summary>
        public static void UnbindEgl()
        {
            Hob.Ready(Room.ProgramCache);
            Hob.Check(Native.hob_program_cache_bind_egl(null));
        }

        /// <summary>Stores a blob in the bound cache, as EGL does.</summary>
        public static void SetEglBlob(byte[] key, byte[] value)
        {
            if (key == null) throw new ArgumentNullException(nameof(key));
            if (value == null) throw new ArgumentNullException(nameof(value));
            Hob.Ready(Room.ProgramCache);
            fixed (byte* name = key)
            fixed (byte* data = value) Native.hob_egl_blob_set(name, (IntPtr)key.Length, data, (IntPtr)value.Length);
        }

        /// <summary>Loads a blob from the bound cache, as EGL does. False: it is missing, or no cache is bound.</summary>
        public static bool TryGetEglBlob(byte[] key, out byte[] value)
        {
            if (key == null) throw new ArgumentNullException(nameof(key));
            Hob.Ready(Room.ProgramCache);
            value = null;
            fixed (byte* name = key)
            {
                var size = (long)Native.hob_egl_blob_get(name, (IntPtr)key.Length, null, IntPtr.Zero);
                if (size <= 0) return false;
                var bytes = new byte[size];
                fixed (byte* data = bytes)
                {
                    if ((long)Native.hob_egl_blob_get(name, (IntPtr)key.Length, data, (IntPtr)size) != size) return false;
                }
                value = bytes;
                return true;
            }
        }

        /// <summary>Turns uses of blobs on or off (the default). On, each blob that is copied begins a use.
        /// Call <see cref="EndBlobUses"/> after each frame.</summary>
        public void TrackBlobUses(bool isOn)
        {
            using (Hold(out var cache))
                Hob.Check(Native.hob_program_cache_track_blob_uses((hob_program_cache*)cache, isOn ? 1u : 0u));
        }

        /// <summary>Ends all uses that blobs have begun, on any thread: when a frame drawn with them is finished.</summary>
        public void EndBlobUses(UseOutcome outcome = UseOutcome.Ok)
        {
            using (Hold(out var cache))
                Hob.Check(Native.hob_program_cache_end_blob_uses((hob_program_cache*)cache, (hob_use_outcome)outcome));
        }
    }
}
