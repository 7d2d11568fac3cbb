// A file system of the host, under a program cache. MIT OR Apache-2.0.
using System;
using System.IO;
using System.Text;
using System.Threading;
using Hobgoblin;

static class StoreTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(StoreTest), arguments);
    }

    static readonly Fingerprint Key = Fingerprint.OfText("a key");

    static ProgramCache Open(MemoryFiles files, Executor executor = null)
    {
        return new ProgramCache(new ProgramCacheDesc { Directory = "cache", FileSystem = files, Executor = executor });
    }

    static void Put(ProgramCache cache, Fingerprint key, int size = 300000)
    {
        var data = new byte[size];
        for (var i = 0; i < size; ++i) data[i] = (byte)(i * 7);
        cache.Put(key, new CompiledProgram { Format = 5, Data = data });
    }

    public static void Programs_outlive_the_cache()
    {
        var files = new MemoryFiles();
        using (var cache = Open(files)) Put(cache, Key);
        Ensure.That(files.Count > 0, "files were made");
        using (var blob = new Blob())
        {
            using (var cache = Open(files))
            {
                Ensure.That(!cache.TryGet(Key, blob), "get reads no file");
                Ensure.That(cache.TryGetWait(Key, blob), "the program is found: " + cache.GetProblem());
                Ensure.Equal(300000L, blob.Size, "its size");
            }
            var data = blob.ToArray();
            for (var i = 0; i < data.Length; ++i) Ensure.Equal((byte)(i * 7), data[i], "byte " + i);
        }
        Ensure.Equal(files.Opened, files.Closed, "each file is closed once");
        Ensure.Equal(files.Locked, files.Unlocked, "each lock is released once");
        Ensure.That(files.Locked > 0, "locks are taken");
    }

    public static void Caches_of_one_file_system_share_its_locks()
    {
        var files = new MemoryFiles();
        using (var one = Open(files))
        using (var other = Open(files))
        using (var blob = new Blob())
        {
            Put(one, Key);
            Ensure.That(one.Flush(), "a flush");
            Ensure.That(other.TryBeginUse(Key, out var use), "a use of the other");
            other.EndUse(use, UseOutcome.Unused);
            Ensure.Soon(() => other.TryGetWait(Key, blob), "the other finds it");
        }
        Ensure.Equal(files.Opened, files.Closed, "each file is closed once");
    }

    public static void Failures_are_problems_and_not_crashes()
    {
        foreach (var fault in new Exception[] { new IOException("no"), new UnauthorizedAccessException(),
            new OutOfMemoryException(), new InvalidOperationException("a bug of the host"), new NullReferenceException() })
        {
            var files = new MemoryFiles();
            Exception reported = null;
            Action<Exception> handler = exception => reported = exception;
            Hob.UnhandledCallbackException += handler;
            using (var cache = Open(files))
            {
                Put(cache, Fingerprint.OfText("before"));
                Ensure.That(cache.Flush(), "a flush before the fault");
                files.Fault = fault;
                Put(cache, Key);
                var failure = Ensure.Throws<HobgoblinException>(() => cache.Flush());
                Ensure.That(failure.Result == Result.Io || failure.Result == Result.OutOfMemory, "a flush: " + failure.Message);
                Ensure.That(cache.GetProblem().Length > 0, "the problem of " + fault.GetType().Name);
                Ensure.That(cache.KnowsProgram(Key), "memory still has the program");
                files.Fault = null;
                // One more flush tells about the loss; and the directory is tried again after a while.
                Ensure.Soon(() => Flushes(cache), "a flush after the fault");
                Ensure.Equal("", cache.GetProblem(), "the problem is over");
            }
            Hob.UnhandledCallbackException -= handler;
            var isBug = fault is InvalidOperationException || fault is NullReferenceException;
            Ensure.That(isBug == (reported != null), "only bugs of the host are reported: " + fault.GetType().Name);
        }
    }

    static bool Flushes(ProgramCache cache)
    {
        try
        {
            return cache.Flush();
        }
        catch (HobgoblinException)
        {
            return false;
        }
    }

    public static void A_full_disk_is_a_problem()
    {
        var files = new MemoryFiles { WriteResult = Result.LimitExceeded };
        string last = null;
        using (var cache = Open(files))
        {
            cache.SetProblemCallback(sentence =>
            {
                last = sentence;
                Ensure.Collect();
            });
            Put(cache, Key);
            Flushes(cache);
            Ensure.That(!string.IsNullOrEmpty(last), "the observer was called");
            Ensure.Equal(last, cache.GetProblem(), "the same sentence");
            cache.SetProblemCallback(null);
        }
    }

    public static void Damaged_files_are_misses()
    {
        var files = new MemoryFiles();
        using (var cache = Open(files)) Put(cache, Key);
        files.DamageAll();
        using (var cache = Open(files))
        using (var blob = new Blob()) Ensure.That(!cache.TryGetWait(Key, blob), "a damaged program is missed");
    }

    public static void A_create_that_fails_leaves_the_file_system_alone()
    {
        var files = new MemoryFiles();
        for (var i = 0; i < 100; ++i)
        {
            Ensure.Fails(Result.InvalidArgument, () => new ProgramCache(
                new ProgramCacheDesc { Directory = "cache", FileSystem = files, DiskLimit = 1 }));
        }
        using (var cache = Open(files)) Put(cache, Key);
        Ensure.Equal(files.Opened, files.Closed, "each file is closed once");
    }

    public static void Calls_of_the_library_inside_are_refused()
    {
        var files = new MemoryFiles();
        ProgramCache cache = null;
        HobgoblinException found = null;
        var calls = 0;
        files.OnCall = () =>
        {
            if (cache == null) return;
            ++calls;
            if (calls % 50 == 1) GC.Collect();
            try
            {
                cache.GetStatistics();
            }
            catch (HobgoblinException exception)
            {
                found = exception;
            }
        };
        using (cache = Open(files))
        {
            Put(cache, Key);
            Ensure.That(cache.Flush(), "a flush");
            Ensure.That(found != null && found.Result == Result.Busy, "a call inside is busy");
            cache.Dispose();
        }
    }

    public static void Disposing_the_cache_inside_takes_effect_later()
    {
        var files = new MemoryFiles();
        using (var executor = Executor.CreatePool(1))
        {
            var cache = Open(files, executor);
            var isOnce = 0;
            Put(cache, Key);
            files.OnCall = () =>
            {
                if (Interlocked.Exchange(ref isOnce, 1) == 0) cache.Dispose();
            };
            for (var i = 0; i < 100; ++i)
            {
                try
                {
                    Put(cache, Fingerprint.OfText("key " + i), 1000);
                }
                catch (ObjectDisposedException)
                {
                    break;
                }
                Thread.Sleep(1);
            }
            Ensure.Soon(() => cache.IsClosed, "the cache closes");
            Ensure.Soon(() => files.Opened == files.Closed && files.Opened > 0, "all files close");
            executor.WaitIdle();
        }
        using (var again = Open(files))
        using (var blob = new Blob()) Ensure.That(again.TryGetWait(Key, blob), "the program was written");
    }

    public static void The_background_calls_it_on_other_threads()
    {
        var files = new MemoryFiles();
        var threads = 0;
        var here = Thread.CurrentThread.ManagedThreadId;
        files.OnCall = () =>
        {
            if (Thread.CurrentThread.ManagedThreadId != here) Interlocked.Increment(ref threads);
            if (threads % 64 == 1) GC.Collect();
        };
        using (var executor = Executor.CreatePool(1))
        using (var cache = Open(files, executor))
        {
            Ensure.OnThreads(3, thread =>
            {
                for (var i = 0; i < 40; ++i) Put(cache, Fingerprint.OfText(thread + "." + i), 5000);
            });
            Ensure.That(cache.Flush(), "a flush");
            executor.WaitIdle();
        }
        Ensure.That(threads > 0, "the background called");
        using (var cache = Open(files)) Ensure.Equal(120, cache.ListAll().Count, "programs on disk");
    }

    public static void It_is_released_with_its_caches()
    {
        var weak = Leave();
        for (var i = 0; i < 20 && weak.IsAlive; ++i)
        {
            Ensure.Collect();
            new byte[1 << 16].ToString();
        }
        Ensure.That(!weak.IsAlive, "nothing keeps a file system that no cache uses");
    }

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static WeakReference Leave()
    {
        WeakReference weak = null;
        // On a thread of its own, so that no stale word of this stack keeps it.
        var thread = new Thread(() =>
        {
            var files = new MemoryFiles();
            for (var i = 0; i < 3; ++i)
                using (var cache = Open(files)) Put(cache, Key);
            weak = new WeakReference(files);
        });
        thread.Start();
        thread.Join();
        return weak;
    }
}
