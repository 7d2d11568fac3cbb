// Program caches from C#. MIT OR Apache-2.0.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;
using Hobgoblin;

static unsafe class ProgramCacheTest
{
    static int Main(string[] arguments)
    {
        if (arguments.Length == 2 && arguments[0] == "die") return Die(arguments[1]);
        return Ensure.Run(typeof(ProgramCacheTest), arguments);
    }

    static Fingerprint Key(int number)
    {
        return Fingerprint.OfText("program " + number);
    }

    static CompiledProgram Program(int number, int size = 1000)
    {
        var data = new byte[size];
        for (var i = 0; i < size; ++i) data[i] = (byte)(number + i);
        return new CompiledProgram
        {
            Format = (uint)number, Data = data, Reflection = new[] { (byte)number, (byte)9 }, BuildUs = 500,
            Shaders = new[] { Fingerprint.OfText("shader " + number) },
        };
    }

    static void Holds(Blob blob, int number, int size = 1000)
    {
        Ensure.That(blob.HasProgram && !blob.IsBanned, "the blob has a program");
        Ensure.Equal((uint)number, blob.Format, "format");
        Ensure.Equal((long)size, blob.Size, "size");
        Ensure.Bytes(Program(number, size).Data, blob.ToArray(), "data");
        Ensure.Bytes(new[] { (byte)number, (byte)9 }, blob.ReflectionToArray(), "reflection");
        Ensure.Equal(2L, blob.ReflectionSize, "bytes of reflection");
        Ensure.Equal(0L, (long)blob.Data % 16, "alignment");
        Ensure.Equal((byte)number, *(byte*)blob.Data, "the first byte in native memory");
        Ensure.Equal((byte)9, ((byte*)blob.Reflection)[1], "the second byte of reflection");
    }

    public static void A_program_outlives_the_process_cache()
    {
        using (var folder = new Ensure.Folder())
        using (var executor = Executor.CreatePool(1))
        using (var blob = new Blob())
        {
            var desc = new ProgramCacheDesc
            {
                Directory = folder.Path, Executor = executor, Flags = ProgramCacheFlags.Compress,
                Environment = new ProgramEnvironment { Api = GraphicsApi.Opengl, Driver = "1" },
            };
            using (var cache = new ProgramCache(desc))
            {
                for (var i = 0; i < 50; ++i) cache.Put(Key(i), Program(i));
                Ensure.That(cache.TryGet(Key(7), blob), "memory has it");
                Holds(blob, 7);
            }
            Holds(blob, 7);
            using (var cache = new ProgramCache(desc))
            {
                Ensure.That(cache.WaitIdle(), "all programs load");
                for (var i = 0; i < 50; ++i)
                {
                    Ensure.That(cache.TryGet(Key(i), blob), "program " + i);
                    Holds(blob, i);
                }
                Ensure.That(!cache.TryGet(Key(99), blob) && !blob.HasProgram, "a miss leaves the blob empty");
                cache.GetLoadingProgress(out var done, out var total);
                Ensure.Equal(total, done, "progress");
                Ensure.That(cache.TryGet(Key(3), out var data, out var format) && format == 3, "the form that copies");
                Ensure.Bytes(Program(3).Data, data, "its bytes");
                Ensure.Equal(50, cache.ListAll().Count, "the list");
                Ensure.Equal(ProgramPlaces.InMemory | ProgramPlaces.OnDisk, cache.FindPlaces(Key(3)), "places");
                Ensure.Equal("", cache.GetProblem(), "no problem");
            }
            desc.Environment.Driver = "2";
            using (var cache = new ProgramCache(desc))
                Ensure.That(!cache.TryGetWait(Key(7), blob), "a new driver gets no old binary");
        }
    }

    public static void Forms_of_put_and_get_agree()
    {
        using (var cache = new ProgramCache())
        using (var blob = new Blob())
        {
            var data = Program(1).Data;
            fixed (byte* at = data) cache.Put(Key(1), 4, (IntPtr)at, data.Length, 10);
            Ensure.That(cache.TryGetForGroup(Key(1), 3, blob), "the get for a group");
            Ensure.Bytes(data, blob.ToArray(), "bytes of native memory");
            var target = new byte[1010];
            Ensure.Equal(1000, blob.CopyTo(target, 10), "copied bytes");
            Ensure.Equal(data[999], target[1009], "the last byte");
            Ensure.Throws<ArgumentException>(() => blob.CopyTo(target, 11));
            Ensure.Throws<ArgumentNullException>(() => blob.CopyTo(null));
            blob.Clear();
            Ensure.That(!blob.HasProgram && blob.Size == 0 && blob.ToArray().Length == 0, "a cleared blob is empty");
            cache.Put(Key(2), new CompiledProgram());
            Ensure.That(cache.TryGet(Key(2), blob) && blob.Size == 0, "a program without bytes");
            Ensure.That(cache.KnowsProgram(Key(2)) && !cache.KnowsProgram(Key(3)), "status of programs");
            Ensure.Equal(2, cache.ListAll().Count, "programs");
            cache.Remove(Key(2));
            Ensure.Equal(1, cache.ListAll().Count, "after a removal");
            cache.Clear(true);
            cache.ClearDirectory();
            Ensure.Equal(0, cache.ListAll().Count, "after a clear");
        }
    }

    public static void Limits_shaders_and_measures_work()
    {
        using (var cache = new ProgramCache(new ProgramCacheDesc { MemoryLimit = 100000, Eviction = Eviction.Lru }))
        using (var blob = new Blob())
        {
            Ensure.That(!cache.TryPut(Key(1), Program(1, 200000)), "a program larger than the limit");
            Ensure.Fails(Result.LimitExceeded, () => cache.Put(Key(1), Program(1, 200000)));
            for (var i = 0; i < 200; ++i) cache.Put(Key(i), Program(i));
            var statistics = cache.GetStatistics();
            Ensure.That(statistics.Bytes <= 100000 && statistics.EvictedForRoom > 100, "memory keeps its limit");
            Ensure.Equal(202ul, statistics.Puts, "puts");
            Ensure.Equal(1u, cache.GetShaderProgramCount(Fingerprint.OfText("shader 199")), "programs of a shader");
            Ensure.That(cache.KnowsShader(Fingerprint.OfText("shader 199")), "a shader of a program");
            Ensure.That(!cache.KnowsShader(Fingerprint.OfText("shader x")), "an unknown shader");
            cache.ReportShaderCompiled(Fingerprint.OfText("shader x"));
            Ensure.That(cache.KnowsShader(Fingerprint.OfText("shader x")), "a reported shader");
            cache.ReportMemoryPressure(MemoryPressure.Moderate);
            cache.ReportMemoryPressure(MemoryPressure.None);
            cache.SetMemoryLimit(50000);
            cache.SetDiskLimit(1 << 20);
            Ensure.Fails(Result.InvalidArgument, () => cache.SetDiskLimit(5));
            cache.MarkStartup(Key(1));
            cache.Trim(0);
            Ensure.Equal(0ul, cache.GetStatistics().Programs, "after a trim");
            cache.AddMeasurement(ProgramCacheMeasure.HitUs, 20);
            cache.AddMeasurement(ProgramCacheMeasure.HitUs, 40);
            var histogram = cache.GetHistogram(ProgramCacheMeasure.HitUs);
            Ensure.Equal(2ul, histogram.Count, "values");
            Ensure.Equal(60ul, histogram.Sum, "sum");
            var buckets = cache.GetHistogramBuckets(ProgramCacheMeasure.HitUs);
            Ensure.Equal(2, buckets.Length, "buckets");
            Ensure.That(buckets[1].Minimum <= 40 && buckets[1].Maximum >= 40 && buckets[1].Count == 1, "the second bucket");
            Ensure.That(cache.GetReport().Contains("\"puts\""), "the report is JSON");
        }
    }

    public static void Pages_of_the_list_are_in_order()
    {
        using (var cache = new ProgramCache())
        {
            for (var i = 0; i < 600; ++i) cache.Put(Key(i), Program(i, 10));
            var page = new ProgramInfo[100];
            Fingerprint? after = null;
            var last = "";
            var count = 0;
            for (int found; (found = cache.List(after, page)) > 0; after = page[found - 1].Key)
            {
                for (var i = 0; i < found; ++i, ++count)
                {
                    Ensure.That(string.CompareOrdinal(last, page[i].Key.ToString()) < 0, "keys ascend");
                    last = page[i].Key.ToString();
                    Ensure.Equal(ProgramPlaces.InMemory, page[i].Places, "place");
                }
            }
            Ensure.Equal(600, count, "programs");
            Ensure.Equal(600, cache.ListAll().Count, "all at once");
            Ensure.Equal(0, cache.List(null, new ProgramInfo[0]), "an empty page");
        }
    }

    public static void Bundles_carry_programs()
    {
        using (var folder = new Ensure.Folder())
        using (var made = new ProgramCache())
        using (var blob = new Blob())
        {
            Ensure.Fails(Result.NotFound, () => made.WriteBundle(folder.File("empty.bundle")));
            for (var i = 0; i < 5; ++i) made.Put(Key(i), Program(i));
            var path = folder.File("größe.bundle");
            Ensure.Equal(5ul, made.WriteBundle(path), "programs");
            using (var cache = new ProgramCache())
            {
                cache.AddBundle(path);
                Ensure.That(cache.TryGetWait(Key(4), blob), "a program of the file");
                Holds(blob, 4);
            }
            using (var cache = new ProgramCache())
            {
                cache.AddBundle(File.ReadAllBytes(path));
                Ensure.That(cache.TryGetWait(Key(2), blob), "a program of the bytes");
                Ensure.Fails(Result.Malformed, () => cache.AddBundle(new byte[4000]));
                Ensure.Fails(Result.Io, () => cache.AddBundle(folder.File("missing")));
                Ensure.Throws<ArgumentNullException>(() => cache.AddBundle((byte[])null));
                Ensure.Throws<ArgumentNullException>(() => cache.AddBundle((string)null));
                Ensure.Throws<ArgumentOutOfRangeException>(() => cache.AddBundle(IntPtr.Zero, -1));
            }
        }
    }

    public static void Misses_are_explained()
    {
        using (var cache = new ProgramCache(new ProgramCacheDesc { DescribedKeys = 10 }))
        {
            var known = new ProgramKey().AddStage(ShaderStage.Vertex, "a").AddAttribute("position", 0);
            Ensure.That(!cache.TryExplainMiss(known, out var none) && none == null, "nothing is described");
            cache.Describe(known);
            cache.Describe(known, known.ComputeFingerprint());
            var missed = new ProgramKey().AddStage(ShaderStage.Vertex, "a").AddAttribute("position", 1);
            Ensure.That(cache.TryExplainMiss(missed, out var miss), "a program is described");
            Ensure.Equal(1u, miss.DifferenceCount, "differences");
            Ensure.That(miss.Differences[0].Label.Contains("position"), "the input: " + miss.Differences[0].Label);
            Ensure.That(miss.Differences[0].Was != miss.Differences[0].Is, "both values");
            Ensure.Equal(known.ComputeFingerprint(), miss.Nearest, "the nearest program");
            Ensure.That(miss.Sentence.Contains("position"), miss.Sentence);
            Ensure.Throws<ArgumentNullException>(() => cache.Describe(null));
            Ensure.Throws<ArgumentNullException>(() => cache.TryExplainMiss(null, out _));
        }
    }

    public static void Blobs_of_renderers_are_cached()
    {
        using (var cache = new ProgramCache())
        {
            cache.StoreDawnBlob(new byte[] { 1 }, new byte[] { 4, 5, 6 });
            Ensure.That(cache.TryLoadDawnBlob(new byte[] { 1 }, out var value), "a blob");
            Ensure.Bytes(new byte[] { 4, 5, 6 }, value, "its bytes");
            Ensure.That(!cache.TryLoadDawnBlob(new byte[] { 2 }, out value) && value == null, "a miss");
            Ensure.That(!ProgramCache.TryGetEglBlob(new byte[] { 1 }, out value), "no cache is bound");
            cache.BindEgl();
            ProgramCache.SetEglBlob(new byte[] { 3 }, new byte[] { 7 });
            Ensure.That(ProgramCache.TryGetEglBlob(new byte[] { 3 }, out value) && value[0] == 7, "an EGL blob");
            cache.TrackBlobUses(true);
            Ensure.That(cache.TryLoadDawnBlob(new byte[] { 1 }, out value), "a blob with a use");
            cache.EndBlobUses();
            ProgramCache.UnbindEgl();
            Ensure.That(!ProgramCache.TryGetEglBlob(new byte[] { 3 }, out value), "it is unbound");
            Ensure.Throws<ArgumentNullException>(() => cache.StoreDawnBlob(null, new byte[1]));
            Ensure.Throws<ArgumentNullException>(() => cache.StoreDawnBlob(new byte[1], null));
            Ensure.Throws<ArgumentNullException>(() => cache.TryLoadDawnBlob(null, out _));
            Ensure.Throws<ArgumentNullException>(() => ProgramCache.SetEglBlob(null, null));
            cache.BindEgl();
        }
        Ensure.That(!ProgramCache.TryGetEglBlob(new byte[] { 3 }, out _), "a disposed cache is unbound");
    }

    static int Die(string directory)
    {
        var cache = new ProgramCache(new ProgramCacheDesc { Directory = directory, BanAt = 1 });
        cache.TryBeginUse(Key(1), out _);
        Process.GetCurrentProcess().Kill();
        Thread.Sleep(Timeout.Infinite);
        return 0;
    }

    public static void A_program_that_kills_the_process_is_banned()
    {
        using (var folder = new Ensure.Folder())
        {
            var desc = new ProgramCacheDesc { Directory = folder.Path, BanAt = 1 };
            using (var cache = new ProgramCache(desc)) cache.Put(Key(1), Program(1));
            var self = Assembly.GetExecutingAssembly().Location;
            var runtime = Process.GetCurrentProcess().MainModule.FileName;
            using (var child = Process.Start(new ProcessStartInfo(runtime, $"\"{self}\" die \"{folder.Path}\"") { UseShellExecute = false }))
                child.WaitForExit();
            using (var cache = new ProgramCache(desc))
            using (var blob = new Blob())
            {
                Ensure.Equal(1u, cache.GetStrikes(Key(1)), "strikes: " + cache.GetProblem());
                Ensure.That(!cache.TryGetWait(Key(1), blob) && blob.IsBanned, "the binary is not given out");
                Ensure.That(!cache.TryBeginUse(Key(1), out var use) && !use.IsValid, "a use is refused");
                cache.ClearStrikes(Key(1));
                Ensure.That(cache.TryBeginUse(Key(1), out use) && use.IsValid, "the ban is lifted");
                cache.EndUse(use, UseOutcome.Rejected);
                Ensure.Fails(Result.NotFound, () => cache.EndUse(use));
                Ensure.Fails(Result.NotFound, () => cache.EndUse(default(UseId)));
                Ensure.Fails(Result.InvalidArgument, () => cache.EndUse(use, (UseOutcome)77));
                cache.ClearAllStrikes();
            }
        }
    }

    public static void Bad_input_is_refused()
    {
        Ensure.Fails(Result.InvalidArgument, () => new ProgramCache(new ProgramCacheDesc { Eviction = (Eviction)9 }));
        Ensure.Fails(Result.InvalidArgument, () => new ProgramCache(new ProgramCacheDesc { Secret = new byte[3] }));
        Ensure.Fails(Result.Unsupported, () => new ProgramCache(new ProgramCacheDesc { Flags = (ProgramCacheFlags)(1u << 30) }));
        using (var cache = new ProgramCache())
        using (var blob = new Blob())
        {
            Ensure.Throws<ArgumentNullException>(() => cache.TryGet(Key(1), null));
            Ensure.Throws<ArgumentNullException>(() => cache.Put(Key(1), null));
            Ensure.Fails(Result.InvalidArgument, () => cache.Put(Key(1), 0, IntPtr.Zero, 10));
            Ensure.Throws<ArgumentOutOfRangeException>(() => cache.Put(Key(1), 0, IntPtr.Zero, -1));
            Ensure.Throws<ArgumentNullException>(() => cache.List(null, null));
            Ensure.Throws<ArgumentNullException>(() => cache.WriteBundle(null));
            Ensure.Fails(Result.InvalidArgument, () => cache.GetHistogram((ProgramCacheMeasure)99));
            Ensure.Fails(Result.InvalidArgument, () => cache.ReportMemoryPressure((MemoryPressure)9));
            blob.Dispose();
            Ensure.Throws<ObjectDisposedException>(() => cache.TryGet(Key(1), blob));
            Ensure.Throws<ObjectDisposedException>(() => blob.ToArray());
            Ensure.Throws<ObjectDisposedException>(() => { var size = blob.Size; });
            cache.Dispose();
            cache.Dispose();
            Ensure.Throws<ObjectDisposedException>(() => cache.Put(Key(1), Program(1)));
            Ensure.Throws<ObjectDisposedException>(() => cache.GetStatistics());
        }
        var executor = Executor.CreatePool(0);
        executor.Dispose();
        Ensure.Throws<ObjectDisposedException>(() => new ProgramCache(new ProgramCacheDesc { Executor = executor }));
    }

    public static void A_hit_and_a_use_allocate_nothing()
    {
        using (var folder = new Ensure.Folder())
        using (var cache = new ProgramCache(new ProgramCacheDesc { Directory = folder.Path }))
        using (var blob = new Blob())
        {
            var key = Key(1);
            var missing = Key(2);
            var target = new byte[1000];
            cache.Put(key, Program(1));
            Ensure.AllocatesNothing("a get", 100000, i =>
            {
                if (!cache.TryGet(key, blob)) throw new Exception("a miss");
                blob.CopyTo(target);
                cache.TryGet(missing, blob);
                cache.KnowsProgram(key);
            });
            Ensure.AllocatesNothing("a use", 1000, i =>
            {
                cache.TryBeginUse(key, out var use);
                cache.EndUse(use, UseOutcome.Unused);
            });
        }
    }

    public static void Threads_get_and_put_at_once()
    {
        using (var folder = new Ensure.Folder())
        using (var executor = Executor.CreatePool(1))
        using (var cache = new ProgramCache(new ProgramCacheDesc { Directory = folder.Path, Executor = executor, MemoryLimit = 20000 }))
        {
            Ensure.OnThreads(4, thread =>
            {
                using (var blob = new Blob())
                {
                    for (var i = 0; i < 3000; ++i)
                    {
                        var number = (i * 7 + thread) % 60;
                        if (i % 3 == 0) cache.Put(Key(number), Program(number, 600));
                        else if (cache.TryGet(Key(number), blob)) Holds(blob, number, 600);
                        if (i % 1000 == 999) GC.Collect();
                    }
                }
            });
        }
    }

    /// <summary>Hostile: the owner disposes what others use.</summary>
    public static void Disposing_a_cache_while_others_get_is_safe()
    {
        for (var round = 0; round < 30; ++round)
        {
            using (var executor = Executor.CreatePool(1))
            using (var shared = new Blob())
            {
                var cache = new ProgramCache(new ProgramCacheDesc { Executor = executor });
                var key = Key(1);
                cache.Put(key, Program(1));
                Ensure.OnThreads(4, thread =>
                {
                    try
                    {
                        for (var i = 0; i < 100000; ++i)
                        {
                            if (thread == 0 && i == 50 + round * 20) cache.Dispose();
                            // All threads use one blob, too.
                            cache.TryGet(key, shared);
                            if (shared.HasProgram) Ensure.Equal(1000, shared.ToArray().Length, "bytes");
                            if (thread == 1) cache.Put(key, Program(1));
                        }
                    }
                    catch (ObjectDisposedException)
                    {
                        // As it should be.
                    }
                });
                Ensure.That(cache.IsClosed, "the cache is disposed");
            }
        }
    }

    /// <summary>Hostile: one thread reads a blob that another one disposes.</summary>
    public static void Disposing_a_blob_while_others_read_it_is_safe()
    {
        using (var cache = new ProgramCache())
        {
            cache.Put(Key(1), Program(1));
            for (var round = 0; round < 50; ++round)
            {
                var blob = new Blob();
                cache.TryGet(Key(1), blob);
                Ensure.OnThreads(3, thread =>
                {
                    try
                    {
                        for (var i = 0; i < 2000; ++i)
                        {
                            if (thread == 0 && i == 30) blob.Dispose();
                            Ensure.Equal(1000, blob.ToArray().Length, "bytes");
                        }
                    }
                    catch (ObjectDisposedException)
                    {
                        // As it should be.
                    }
                });
            }
        }
    }

    public static void Observers_of_problems_are_replaced_and_may_throw()
    {
        var files = new MemoryFiles();
        var seen = 0;
        Exception reported = null;
        Action<Exception> handler = exception => reported = exception;
        Hob.UnhandledCallbackException += handler;
        using (var executor = Executor.CreatePool(1))
        using (var cache = new ProgramCache(new ProgramCacheDesc { Directory = "d", FileSystem = files, Executor = executor }))
        {
            cache.SetProblemCallback(sentence => { });
            cache.SetProblemCallback(sentence =>
            {
                ++seen;
                Ensure.Collect();
                cache.GetStatistics();
                throw new InvalidOperationException("from the observer");
            });
            cache.Put(Key(1), Program(1));
            cache.Flush();
            files.WriteResult = Result.Io;
            cache.Put(Key(2), Program(2));
            Ensure.Throws<HobgoblinException>(() => cache.Flush());
            Ensure.Soon(() => seen > 0, "the observer is called");
            Ensure.Soon(() => reported is InvalidOperationException, "its exception is reported");
            // Hostile: it disposes the cache of its own background task.
            cache.SetProblemCallback(sentence => cache.Dispose());
            files.WriteResult = Result.Ok;
            for (var i = 0; i < 50 && !cache.IsClosed; ++i)
            {
                try
                {
                    cache.Put(Key(i), Program(i));
                    cache.WaitIdle();
                }
                catch (ObjectDisposedException)
                {
                    break;
                }
            }
            executor.WaitIdle();
        }
        Hob.UnhandledCallbackException -= handler;
    }

    /// <summary>Caches and blobs that nobody disposes are collected.</summary>
    public static void Forgotten_caches_are_collected()
    {
        var weak = new WeakReference[200];
        var thread = new Thread(() =>
        {
            for (var i = 0; i < weak.Length; ++i)
            {
                var cache = new ProgramCache();
                var blob = new Blob();
                cache.SetProblemCallback(sentence => { });
                cache.Put(Key(1), Program(1));
                cache.TryGet(Key(1), blob);
                weak[i] = new WeakReference(cache);
            }
        });
        thread.Start();
        thread.Join();
        var alive = 0;
        for (var i = 0; i < 10; ++i)
        {
            Ensure.Collect();
            alive = 0;
            foreach (var one in weak) alive += one.IsAlive ? 1 : 0;
            if (alive == 0) break;
        }
        Ensure.That(alive < 5, alive + " of 200 caches are alive");
    }
}
