// A frame loop that keeps the quality of shadows within 16.6 ms.
using System;
using Hobgoblin;

static class Game
{
    static double Draw(uint shadows) { return 4.0 + 3.0 * shadows; }

    static void Main()
    {
        using (var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 16.6 }))
        {
            Setting shadows = goblin.Add("shadows", 0, 4, 6, 7);
            for (int frame = 0; frame < 300; ++frame)
            {
                Decision decision = goblin.Update();
                goblin.Measure(decision.Id, shadows, Lane.Gpu, Draw(shadows.Choice));
            }
            Console.WriteLine("C#, shadows " + shadows.Choice);
        }
    }
}
