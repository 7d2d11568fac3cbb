// The costs of settings, saved as JSON and carried to the next run or another machine; see profile.h.
// MIT OR Apache-2.0.
using System;
using System.Runtime.InteropServices;
using System.Text;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Where an estimate comes from; see hob_estimate_source.</summary>
    public enum EstimateSource : uint
    {
        /// <summary>Nothing is known of the option: a guess from the other options of its setting.</summary>
        Blind = 0,
        /// <summary>The past profile, scaled to this machine.</summary>
        Past = 1,
        /// <summary>A few samples of this run, blended with a prior.</summary>
        Ramp = 2,
        /// <summary>Recent samples of this run.</summary>
        Recent = 3,
    }

    /// <summary>The cost of one option; see hob_estimate.</summary>
    public struct Estimate
    {
        internal hob_estimate Raw;

        public EstimateSource Source => (EstimateSource)Raw.source;
        /// <summary>Samples behind it; 0: nothing was measured.</summary>
        public ulong Count => Raw.count;
        /// <summary>Mean burden in the lane's unit, milliseconds for lanes of time.</summary>
        public double Mean => Raw.mean;
        /// <summary>Standard deviation, in the same unit.</summary>
        public double Deviation => Raw.deviation;

        public override string ToString() => $"{Mean} ± {Deviation} ({Count} samples, {Source})";

        internal static unsafe Estimate Empty()
        {
            var estimate = new Estimate();
            Hob.Check(Native.hob_estimate_init(&estimate.Raw, (uint)sizeof(hob_estimate)));
            return estimate;
        }
    }

    /// <summary>One option of a task; see hob_profile_option.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct ProfileOption
    {
        /// <summary>Samples behind it; 0: unknown.</summary>
        public ulong Count;
        /// <summary>Mean burden: finite, not negative.</summary>
        public double Mean;
        /// <summary>Standard deviation: finite, not negative.</summary>
        public double Deviation;

        public ProfileOption(ulong count, double mean, double deviation)
        {
            Count = count;
            Mean = mean;
            Deviation = deviation;
        }
    }

    /// <summary>
    /// Tasks and what their options cost; see hob_profile. Several threads may read it at once; a call that changes it must
    /// be the only one.
    /// </summary>
    public sealed unsafe class Profile : ExclusiveHandle
    {
        /// <summary>An empty profile. <paramref name="memoryLimit"/> is in bytes; 0: none.</summary>
        public Profile(ulong memoryLimit = 0)
        {
            Hob.Ready(Room.Goblin);
            hob_profile* native = null;
            var desc = new hob_profile_desc();
            Hob.Check(Native.hob_profile_desc_init(&desc, (uint)sizeof(hob_profile_desc)));
            if (memoryLimit != 0) desc.memory_limit = memoryLimit;
            Hob.Check(Native.hob_profile_create(&desc, &native));
            Adopt(native);
        }

        internal override void Destroy(IntPtr native)
        {
            Native.hob_profile_destroy((hob_profile*)native);
        }

        GatedUse Exclusive(out hob_profile* profile)
        {
            var use = Exclusive(out IntPtr native);
            profile = (hob_profile*)native;
            return use;
        }

        GatedUse Shared(out hob_profile* profile)
        {
            var use = Shared(out IntPtr native);
            profile = (hob_profile*)native;
            return use;
        }

        /// <summary>Replaces all tasks by those of a JSON text. After a failure the profile is unchanged.</summary>
        public void Load(string json)
        {
            Load(Text.Bytes(json, nameof(json)));
        }

        /// <summary>Replaces all tasks by those of a JSON text in UTF-8.</summary>
        public void Load(byte[] json)
        {
            if (json == null) throw new ArgumentNullException(nameof(json));
            fixed (byte* data = json)
            using (Exclusive(out hob_profile* profile))
                Hob.Check(Native.hob_profile_load(profile, data, (UIntPtr)(uint)json.Length));
        }

        /// <summary>The profile as JSON. Loading it restores every number exactly, except that a count above 2^53 is saved as
        /// 2^53.</summary>
        public string Save()
        {
            using (Shared(out hob_profile* profile))
            {
                var native = profile;
                return Encoding.UTF8.GetString(Buffers.ReadAll(
                    (buffer, capacity, size) => Native.hob_profile_save(native, buffer, capacity, size)));
            }
        }

        /// <summary>Replaces all tasks by those of a JSON file. Blocks on the disk.</summary>
        public void LoadFile(string path)
        {
            using (var text = new Utf8(path, nameof(path)))
            using (Exclusive(out hob_profile* profile))
                Hob.Check(Native.hob_profile_load_file(profile, text.Str));
        }

        /// <summary>Saves the profile as a JSON file. A crash leaves the old file or the new one. Blocks on the disk.</summary>
        public void SaveFile(string path)
        {
            using (var text = new Utf8(path, nameof(path)))
            using (Shared(out hob_profile* profile))
                Hob.Check(Native.hob_profile_save_file(profile, text.Str));
        }

        /// <summary>Adds a task, or replaces that of the same id.</summary>
        public void SetTask(string id, params ProfileOption[] options)
        {
            if (options == null) throw new ArgumentNullException(nameof(options));
            using (var text = new Utf8(id, nameof(id)))
            fixed (ProfileOption* first = options)
            using (Exclusive(out hob_profile* profile))
                Hob.Check(Native.hob_profile_set_task(
                    profile, text.Str, (hob_profile_option*)first, (UIntPtr)(uint)sizeof(ProfileOption),
                    (uint)options.Length));
        }

        /// <summary>Removes a task. False: the id is unknown.</summary>
        public bool RemoveTask(string id)
        {
            using (var text = new Utf8(id, nameof(id)))
            using (Exclusive(out hob_profile* profile))
                return Hob.CheckUnless(
                    Native.hob_profile_remove_task(profile, text.Str), hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>Removes all tasks.</summary>
        public void Clear()
        {
            using (Exclusive(out hob_profile* profile)) Hob.Check(Native.hob_profile_clear(profile));
        }

        /// <summary>Adds all tasks of another profile, and pools the samples of tasks that both have.</summary>
        public void Merge(Profile other)
        {
            if (ReferenceEquals(other, this))
                throw new ArgumentException("a profile cannot be merged with itself: merge it with a copy", nameof(other));
            using (GatedUse.Shared(other, out var source))
            using (Exclusive(out hob_profile* profile))
                Hob.Check(Native.hob_profile_merge(profile, (hob_profile*)source));
        }

        /// <summary>Multiplies every burden, as for a machine that is slower by that factor.</summary>
        public void Scale(double factor)
        {
            using (Exclusive(out hob_profile* profile)) Hob.Check(Native.hob_profile_scale(profile, factor));
        }

        public uint TaskCount
        {
            get { using (Shared(out hob_profile* profile)) return Native.hob_profile_task_count(profile); }
        }

        /// <summary>The id of a task, in order of id, and its number of options.</summary>
        public string GetTask(uint index, out uint optionCount)
        {
            using (Shared(out hob_profile* profile))
            {
                hob_str id;
                uint count;
                Hob.Check(Native.hob_profile_get_task(profile, index, &id, &count));
                optionCount = count;
                return Text.From(id);
            }
        }

        /// <summary>The estimate of one option of a task.</summary>
        public Estimate GetEstimate(string id, uint option)
        {
            if (TryGetEstimate(id, option, out var estimate)) return estimate;
            throw Hob.Failure(hob_result.HOB_RESULT_NOT_FOUND);
        }

        /// <summary>The estimate of one option of a task. False: there is no such task or option.</summary>
        public bool TryGetEstimate(string id, uint option, out Estimate estimate)
        {
            using (var text = new Utf8(id, nameof(id)))
            using (Shared(out hob_profile* profile))
            {
                var found = Estimate.Empty();
                var isFound = Hob.CheckUnless(
                    Native.hob_profile_get_estimate(profile, text.Str, option, &found.Raw),
                    hob_result.HOB_RESULT_NOT_FOUND);
                estimate = found;
                return isFound;
            }
        }

        /// <summary>Bytes that it holds.</summary>
        public ulong MemoryUsed
        {
            get { using (Shared(out hob_profile* profile)) return (ulong)Native.hob_profile_memory_used(profile); }
        }

        /// <summary>The sentence of its last call that failed and would have changed it.</summary>
        public string LastError
        {
            get { using (Shared(out hob_profile* profile)) return Text.From(Native.hob_profile_last_error(profile)); }
        }
    }
}
