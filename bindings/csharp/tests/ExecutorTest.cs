// Loops and tasks: inline, on a pool, on the host's threads, and on calling threads only. MIT OR Apache-2.0.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Hobgoblin;

static class ExecutorTest
{
    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(ExecutorTest), arguments);
    }

    static void LoopRunsEveryBlockOnce(Executor executor, uint blocks)
    {
        var counts = new int[blocks];
        executor.ParallelFor(blocks, block => Interlocked.Increment(ref counts[block]), Priority.High, "count");
        Ensure.That(counts.All(count => count == 1), "every block ran once");
    }

    public static void Loops_run_every_block_once()
    {
        using (var inline = new Executor())
        using (var pool = Executor.CreatePool(3))
        {
            foreach (var blocks in new uint[] { 0, 1, 7, 1000 })
            {
                LoopRunsEveryBlockOnce(inline, blocks);
                LoopRunsEveryBlockOnce(pool, blocks);
            }
            var workers = new ConcurrentDictionary<uint, int>();
            var most = pool.GetStatistics().MaxConcurrency;
            Ensure.Equal(4u, most, "three threads and the caller");
            pool.ParallelFor(400, (block, worker) => workers.AddOrUpdate(worker, 1, (key, count) => count + 1));
            Ensure.That(workers.Keys.All(worker => worker < most), "workers are below the limit");
            Ensure.Equal(400, workers.Values.Sum(), "every block has a worker");
        }
    }

    public static void Tasks_run_in_the_background_in_order()
    {
        using (var pool = Executor.CreatePool(1))
        {
            var ran = new List<int>();
            for (var n = 0; n < 100; ++n)
            {
                var number = n;
                pool.Post(() => ran.Add(number), Priority.Normal, "add");
            }
            Ensure.That(pool.WaitIdle(), "all have ended");
            Ensure.That(ran.SequenceEqual(Enumerable.Range(0, 100)), "one at a time, in order");
            Ensure.That(pool.GetStatistics().Ran >= 100 && pool.GetStatistics().Failed == 0, "they are counted");
            Ensure.That(pool.MemoryUsed > 0, "it holds memory");
            var gate = new ManualResetEvent(false);
            var isStarted = new ManualResetEvent(false);
            pool.Post(() => { isStarted.Set(); gate.WaitOne(); });
            isStarted.WaitOne(); // else WaitIdle would run it on this thread
            Ensure.That(!pool.WaitIdle(1000), "the time is too short");
            gate.Set();
            Ensure.That(pool.WaitIdle(), "the task has ended");
        }
        Ensure.Equal(0, Hob.UserDataCount, "every task is released");
    }

    public static void Waiting_tasks_are_dropped_with_the_executor()
    {
        using (var executor = new Executor(new ExecutorDesc { TaskLimit = 2 }))
        {
            executor.Post(() => Ensure.That(false, "it never runs"));
            executor.Post(() => Ensure.That(false, "it never runs"));
            Ensure.Fails(Result.LimitExceeded, () => executor.Post(() => { }));
            Ensure.Equal(2ul, executor.GetStatistics().Waiting, "two wait");
            Ensure.Equal(2, Hob.UserDataCount, "the refused one is not held");
        }
        Ensure.Equal(0, Hob.UserDataCount, "both are released");
    }

    public static void Callbacks_stay_on_calling_threads_if_asked()
    {
        var desc = new ExecutorDesc { PoolThreads = 3, Background = Background.Thread, CallingThreadOnly = true };
        Ensure.That(desc.CallingThreadOnly, "the flag is set");
        using (var executor = new Executor(desc))
        {
            var own = Thread.CurrentThread.ManagedThreadId;
            Action check = () =>
            {
                GC.Collect(0);
                Ensure.Equal(own, Thread.CurrentThread.ManagedThreadId, "the calling thread");
            };
            for (var n = 0; n < 20; ++n)
            {
                executor.ParallelFor(100, block => check());
                executor.Post(check);
            }
            Thread.Sleep(20);
            Ensure.Equal(20ul, executor.GetStatistics().Waiting, "tasks wait for a pump");
            Ensure.Equal(20u, executor.Pump(), "all ran here");
        }
    }

    /// <summary>A job system of one thread, which can refuse, run inside, and cancel.</summary>
    sealed class Jobs : IJobSystem, IDisposable
    {
        sealed class Ticket
        {
            internal Job Job;
            internal int State; // 0: waits, 1: runs or was cancelled
            internal readonly ManualResetEventSlim Ended = new ManualResetEventSlim(false);
        }

        readonly BlockingCollection<Ticket> queue = new BlockingCollection<Ticket>();
        readonly Thread[] threads;
        internal int Enqueued, Finished, Ran;
        internal Exception Failure;
        internal string Name;

        internal Jobs(int count)
        {
            threads = Enumerable.Range(0, count).Select(_ => new Thread(Work)).ToArray();
            foreach (var thread in threads) thread.Start();
        }

        void Work()
        {
            foreach (var ticket in queue.GetConsumingEnumerable())
            {
                if (Interlocked.Exchange(ref ticket.State, 1) != 0) continue;
                ticket.Job.Run();
                Interlocked.Increment(ref Ran);
                ticket.Ended.Set();
            }
        }

        public object Enqueue(Job job)
        {
            if (Failure != null) throw Failure;
            Name = job.GetName();
            var number = Interlocked.Increment(ref Enqueued);
            if (number % 5 == 0) return null;
            if (number % 7 == 0)
            {
                job.Run();
                return null;
            }
            var ticket = new Ticket { Job = job };
            queue.Add(ticket);
            return ticket;
        }

        public void Finish(object given)
        {
            Interlocked.Increment(ref Finished);
            var ticket = (Ticket)given;
            if (Interlocked.Exchange(ref ticket.State, 1) != 0) ticket.Ended.Wait();
        }

        internal void Post(Job job)
        {
            queue.Add(new Ticket { Job = job });
        }

        public void Dispose()
        {
            queue.CompleteAdding();
            foreach (var thread in threads) thread.Join();
        }
    }

    /// <summary>Keeps all jobs, and runs each at once.</summary>
    sealed class Collector : IJobSystem
    {
        internal readonly List<Job> Jobs = new List<Job>();

        public object Enqueue(Job job)
        {
            Jobs.Add(job);
            job.Run();
            return job;
        }

        public void Finish(object ticket)
        {
        }
    }

    public static void A_job_that_is_over_cannot_run_again()
    {
        var collector = new Collector();
        var tasks = new List<Job>();
        var desc = new ExecutorDesc
        {
            JobSystem = collector, Post = tasks.Add, Background = Background.Host, MaxConcurrency = 2,
        };
        var count = 0;
        using (var executor = new Executor(desc))
        {
            executor.ParallelFor(10, block => ++count);
            Ensure.That(collector.Jobs.Count > 0, "a helper was asked for");
            Ensure.Throws<InvalidOperationException>(() => collector.Jobs[0].Run());
            executor.Post(() => ++count);
            tasks[0].Run();
            Ensure.Throws<InvalidOperationException>(() => tasks[0].Run());
        }
        Ensure.Throws<InvalidOperationException>(() => collector.Jobs[0].Run());
        Ensure.Throws<InvalidOperationException>(() => new Job().Run());
        Ensure.Equal(11, count, "ten blocks and a task");
    }

    public static void The_host_can_give_its_job_system()
    {
        using (var jobs = new Jobs(3))
        {
            var desc = new ExecutorDesc { JobSystem = jobs, Post = jobs.Post, Background = Background.Host, MaxConcurrency = 4 };
            using (var executor = new Executor(desc))
            {
                for (var n = 0; n < 200; ++n)
                {
                    var counts = new int[50];
                    executor.ParallelFor(50, block =>
                    {
                        Interlocked.Increment(ref counts[block]);
                        if (block % 10 == 0) GC.Collect(0);
                    }, Priority.Normal, "ombres ☂");
                    Ensure.That(counts.All(count => count == 1), "every block ran once");
                }
                Ensure.That(jobs.Enqueued > 200 && jobs.Finished > 100, "the job system was used");
                Ensure.Equal("ombres ☂", jobs.Name, "the name of the loop");
                var main = Thread.CurrentThread.ManagedThreadId;
                var other = main;
                executor.Post(() => other = Thread.CurrentThread.ManagedThreadId);
                Ensure.Soon(() => executor.GetStatistics().Ran == 1, "the task has run");
                Ensure.That(other != main, "on a thread of the host");

                jobs.Failure = new InvalidOperationException("no jobs today");
                var ran = 0;
                var thrown = Ensure.Throws<InvalidOperationException>(
                    () => executor.ParallelFor(50, block => Interlocked.Increment(ref ran)));
                Ensure.Equal("no jobs today", thrown.Message, "the exception of Enqueue");
                Ensure.Equal(50, ran, "every block ran");
            }
            Ensure.Equal(0, Hob.UserDataCount, "all tickets, tasks and the job system are released");
        }
    }

    public static void Exceptions_of_loops_and_tasks_come_back()
    {
        using (var pool = Executor.CreatePool(3))
        {
            for (var n = 0; n < 50; ++n)
            {
                var ran = 0;
                var thrown = Ensure.Throws<FormatException>(() => pool.ParallelFor(100000, block =>
                {
                    Interlocked.Increment(ref ran);
                    if (block == 20) throw new FormatException("block 20");
                }));
                Ensure.That(thrown.Message == "block 20" && ran < 100000, "no further block starts");
                LoopRunsEveryBlockOnce(pool, 100);

                pool.Post(() => throw new FormatException("task"));
                Ensure.Equal("task", Ensure.Throws<FormatException>(() => pool.WaitIdle()).Message, "the task's exception");
                Ensure.That(pool.WaitIdle(), "it is thrown once");
            }
        }
        var reported = 0;
        Action<Exception> report = exception => Interlocked.Increment(ref reported);
        Hob.UnhandledCallbackException += report;
        var executor = new Executor();
        executor.Post(() => throw new FormatException("first"));
        executor.Post(() => throw new FormatException("second"));
        Ensure.Equal("first", Ensure.Throws<FormatException>(() => executor.Pump()).Message, "the first one");
        Ensure.Equal(1, reported, "the second one is reported");
        executor.Post(() => throw new FormatException("third"));
        executor.Post(executor.Dispose);
        Ensure.Throws<FormatException>(() => executor.Pump());
        Hob.UnhandledCallbackException -= report;
    }

    public static void Invalid_arguments_are_refused()
    {
        using (var executor = new Executor())
        {
            Ensure.Throws<ArgumentNullException>(() => executor.ParallelFor(1, (Action<uint>)null));
            Ensure.Throws<ArgumentNullException>(() => executor.ParallelFor(1, (Action<uint, uint>)null));
            Ensure.Throws<ArgumentNullException>(() => executor.Post(null));
            Ensure.Fails(Result.InvalidArgument, () => executor.ParallelFor(1, block => { }, (Priority)9));
            Ensure.Fails(Result.InvalidArgument, () => executor.Post(() => { }, (Priority)9));
            executor.ParallelFor(1, block => Ensure.Fails(Result.Busy, () => executor.Pump()));
        }
        Ensure.Fails(Result.InvalidArgument, () => Executor.CreatePool(1000));
        using (var jobs = new Jobs(0))
            Ensure.Fails(Result.InvalidArgument, () => new Executor(new ExecutorDesc { JobSystem = jobs, PoolThreads = 2 }));
        Ensure.Equal(0, Hob.UserDataCount, "nothing is held after a failure");
    }
}
