// An internal error of the library is an exception. Needs a library with fault injection. MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using System.Text;
using Hobgoblin;
using Hobgoblin.Interop;

static unsafe class PanicTest
{
    [DllImport(Native.Library, CallingConvention = CallingConvention.Cdecl)]
    static extern hob_result hob_fault_arm(hob_str point, uint passes);

    static int Main(string[] arguments)
    {
        return Ensure.Run(typeof(PanicTest), arguments);
    }

    static void Arm(string point)
    {
        var bytes = Encoding.UTF8.GetBytes(point);
        fixed (byte* data = bytes)
            Ensure.Equal(hob_result.HOB_RESULT_OK, hob_fault_arm(new hob_str { data = data, len = (UIntPtr)(uint)bytes.Length }, 0), point);
    }

    public static void A_panic_is_an_exception_with_its_place()
    {
        foreach (var point in new[] { "goblin.decide", "goblin.set_choice" })
        {
            var released = 0;
            var goblin = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 });
            var callbacks = new SettingCallbacks { SetChoice = (choice, id) => { }, Released = () => ++released };
            var setting = goblin.Add("a", callbacks, new[] { new Option(0), new Option(5) });
            for (var n = 0; n < 100; ++n) goblin.Measure(goblin.Update().Id, setting, Lane.Gpu, 1);
            goblin.SetValue(setting, 1, -5);
            Arm(point);
            var sentence = Ensure.Fails(Result.Panic, () => goblin.Update());
            Ensure.That(sentence.Contains("internal error at ") && sentence.Contains(".rs:"), sentence);
            Ensure.Equal(sentence, goblin.LastError, "the goblin keeps the sentence");
            Ensure.Fails(Result.Poisoned, () => goblin.Update());
            Ensure.That(setting.Choice <= 1 && goblin.GetStatistics().Decisions >= 100, "queries still answer");
            goblin.Dispose();
            Ensure.Equal(1, released, "it is destroyed as always");
        }
        using (var fresh = new Goblin(new GoblinDesc { [Lane.Gpu] = 10 })) Ensure.Equal(1ul, fresh.Update().Id, "others work");
    }
}
