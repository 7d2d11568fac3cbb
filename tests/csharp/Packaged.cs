// A program of a user of the packages: a goblin that keeps a frame inside its budget, and loops on several threads.
using System;
using System.Threading;
using Hobgoblin;

static class Packaged
{
    static int Main()
    {
        using (var executor = Executor.CreatePool(2))
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 }))
        {
            Setting shadows = goblin.Add("shadows", 0, 4, 6, 7);
            int blocks = 0;
            for (int frame = 0; frame < 1500; ++frame)
            {
                Decision decision = goblin.Update();
                goblin.Measure(decision.Id, shadows, Lane.Gpu, shadows.Choice * 4);
                executor.ParallelFor(4, block => Interlocked.Increment(ref blocks));
            }
            Console.WriteLine("version " + Hob.LibraryVersion + ", choice " + shadows.Choice + ", blocks " + blocks);
            return shadows.Choice == 2 && blocks == 6000 ? 0 : 1;
        }
    }
}
