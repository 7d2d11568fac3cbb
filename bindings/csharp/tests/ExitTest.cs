// A process ends with everything alive: it must end with its own status, and soon. MIT OR Apache-2.0.
using System;
using System.Threading;
using Hobgoblin;

static class ExitTest
{
    static Goblin goblin;
    static Executor pool;

    static int Main(string[] arguments)
    {
        Hob.SetLogHook((level, line) => { }, LogLevel.Debug);
        goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 });
        goblin.Add("a", new SettingCallbacks { SetChoice = (choice, id) => { } }, new[] { new Option(0), new Option(1) });
        Record();
        pool = Executor.CreatePool(2);
        Action task = null;
        task = () =>
        {
            Thread.Sleep(1);
            try
            {
                pool.Post(task);
            }
            catch (ObjectDisposedException)
            {
            }
        };
        for (var n = 0; n < 4; ++n) pool.Post(task);
        new Thread(() =>
        {
            try
            {
                for (;;)
                {
                    goblin.Update();
                    pool.ParallelFor(16, block => Thread.SpinWait(10));
                }
            }
            catch (ObjectDisposedException)
            {
            }
        }) { IsBackground = true }.Start();
        Thread.Sleep(50);
        Console.WriteLine("ok   A_process_ends_with_everything_alive");
        return 0;
    }

    static void Record()
    {
        var recorded = new Balance();
        recorded.StartRecording(piece => { });
        recorded.Choose();
    }
}
