// The settings of a goblin, with and without callbacks, and products of settings. MIT OR Apache-2.0.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>A setting whose options are the combinations of several axes; see hob_product_desc. Experimental.</summary>
    public unsafe struct Product
    {
        public readonly Setting Setting;

        internal Product(Setting setting)
        {
            Setting = setting;
        }

        public static implicit operator Setting(Product product) => product.Setting;

        /// <summary>The index of the latest choice on an axis.</summary>
        public uint GetIndex(uint axis) => GetIndexOf(Setting.Choice, axis);

        /// <summary>The index of any choice on an axis.</summary>
        public uint GetIndexOf(uint choice, uint axis)
        {
            using (GatedUse.Shared(Setting.Goblin, out var goblin))
                return Native.hob_goblin_product_index((hob_goblin*)goblin, Setting.Id, choice, axis);
        }

        /// <summary>The choice with these indices, one for each axis.</summary>
        public uint GetChoiceAt(params uint[] indices)
        {
            if (indices == null) throw new ArgumentNullException(nameof(indices));
            using (GatedUse.Shared(Setting.Goblin, out var goblin))
            fixed (uint* first = indices)
            {
                uint choice;
                Hob.Check(Native.hob_goblin_get_product_choice(
                    (hob_goblin*)goblin, Setting.Id, first, (uint)indices.Length, &choice));
                return choice;
            }
        }
    }

    public sealed unsafe partial class Goblin
    {
        const int MostAxes = 16;

        /// <summary>Adds a setting with options of these values.</summary>
        public Setting Add(string id, params double[] values)
        {
            if (values == null) throw new ArgumentNullException(nameof(values));
            using (var text = new Utf8(id, nameof(id)))
            fixed (double* first = values)
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_setting_id setting;
                Hob.Check(Native.hob_goblin_add_array(goblin, text.Str, first, (uint)values.Length, &setting));
                return new Setting(this, setting);
            }
        }

        /// <summary>As the other one, with a choice that is used while nothing is known of the setting.</summary>
        public Setting AddWithDefault(string id, uint defaultChoice, params double[] values)
        {
            if (values == null) throw new ArgumentNullException(nameof(values));
            using (var text = new Utf8(id, nameof(id)))
            fixed (double* first = values)
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_setting_id setting;
                Hob.Check(Native.hob_goblin_add_array_with_default(
                    goblin, text.Str, first, (uint)values.Length, defaultChoice, &setting));
                return new Setting(this, setting);
            }
        }

        /// <summary>Adds a setting with these options.</summary>
        public Setting Add(string id, Option[] options, SettingOptions how = default(SettingOptions))
        {
            return Add(id, null, options, how);
        }

        /// <summary>
        /// Adds a setting with callbacks. Without callbacks.GetOptions it has the options given here. If a callback throws,
        /// nothing is added.
        /// </summary>
        public Setting Add(
            string id, SettingCallbacks callbacks, Option[] options = null, SettingOptions how = default(SettingOptions))
        {
            void* userData = null;
            var isOwned = false;
            var box = callbacks == null ? null : new SettingBox(callbacks);
            try
            {
                // GetId replaces it.
                using (var text = new Utf8(callbacks?.GetId == null ? id : id ?? "", nameof(id)))
                fixed (Option* first = options)
                using (Exclusive(out hob_goblin* goblin))
                {
                    var desc = new hob_setting_desc();
                    Hob.Check(Native.hob_setting_desc_init(&desc, (uint)sizeof(hob_setting_desc)));
                    desc.id = text.Str;
                    desc.options = (hob_option*)first;
                    desc.option_stride = (UIntPtr)(uint)sizeof(Option);
                    desc.option_count = (uint)(options?.Length ?? 0);
                    desc.default_choice = how.DefaultChoice;
                    desc.switch_burden = how.SwitchBurden;
                    desc.flags = how.IsTrim ? Constants.HOB_SETTING_TRIM : 0;
                    if (box != null)
                    {
                        userData = Callbacks.Keep(box);
                        box.Describe(&desc, userData);
                    }
                    hob_setting_id setting;
                    hob_result result;
                    try { }
                    finally
                    {
                        result = Native.hob_goblin_add_setting(goblin, &desc, &setting);
                        isOwned = result == hob_result.HOB_RESULT_OK;
                    }
                    // After an exception the caller would not learn the id.
                    if (isOwned && Callbacks.HasHeld) Native.hob_goblin_remove_setting(goblin, setting);
                    Hob.Check(result);
                    return new Setting(this, setting);
                }
            }
            finally
            {
                if (!isOwned) Callbacks.Drop(userData);
                box?.FreeId();
            }
        }

        /// <summary>Adds a setting that is off (0) or on (1). On is worth <paramref name="value"/>.</summary>
        public Setting AddBinary(string id, double value)
        {
            using (var text = new Utf8(id, nameof(id)))
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_setting_id setting;
                Hob.Check(Native.hob_goblin_add_binary(goblin, text.Str, value, &setting));
                return new Setting(this, setting);
            }
        }

        /// <summary>As the other one, with a value of off and a default.</summary>
        public Setting AddBinary(string id, double valueOff, double valueOn, bool isOnByDefault)
        {
            using (var text = new Utf8(id, nameof(id)))
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_setting_id setting;
                Hob.Check(Native.hob_goblin_add_binary_with_default(
                    goblin, text.Str, valueOff, valueOn, isOnByDefault ? 1u : 0, &setting));
                return new Setting(this, setting);
            }
        }

        /// <summary>Adds a burden without a choice, such as the rest of the frame.</summary>
        public Setting AddFixedBurden(string id)
        {
            using (var text = new Utf8(id, nameof(id)))
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_setting_id setting;
                Hob.Check(Native.hob_goblin_add_fixed_burden(goblin, text.Str, &setting));
                return new Setting(this, setting);
            }
        }

        /// <summary>Adds a burden without a choice that has a value.</summary>
        public Setting AddFixedBurden(string id, double value)
        {
            using (var text = new Utf8(id, nameof(id)))
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_setting_id setting;
                Hob.Check(Native.hob_goblin_add_fixed_burden_with_value(goblin, text.Str, value, &setting));
                return new Setting(this, setting);
            }
        }

        /// <summary>Adds a value without a choice or a burden; SetStrategyValue varies it by strategy.</summary>
        public Setting AddFixedIncentive(string id, double value)
        {
            using (var text = new Utf8(id, nameof(id)))
            using (Exclusive(out hob_goblin* goblin))
            {
                hob_setting_id setting;
                Hob.Check(Native.hob_goblin_add_fixed_incentive(goblin, text.Str, value, &setting));
                return new Setting(this, setting);
            }
        }

        /// <summary>
        /// Adds a product: a setting for axes whose burdens do not add up, such as resolution and samples per pixel.
        /// <paramref name="relativeBurden"/> is per unit of work. Experimental.
        /// </summary>
        public Product AddProduct(
            string id, ProductAxis[] axes, double relativeBurden = 0, SettingOptions how = default(SettingOptions))
        {
            if (axes == null) throw new ArgumentNullException(nameof(axes));
            if (axes.Length > MostAxes)
                throw new ArgumentException($"a product has 1 to {MostAxes} axes, not {axes.Length}", nameof(axes));
            var views = stackalloc hob_product_axis[MostAxes];
            var pins = stackalloc GCHandle[2 * MostAxes];
            var pinned = 0;
            try
            {
                for (var n = 0; n < axes.Length; ++n)
                {
                    var axis = axes[n];
                    var values = axis.Values ?? new double[0];
                    if (axis.Works != null && axis.Works.Length != values.Length)
                        throw new ArgumentException(
                            $"axis {n} has {values.Length} values and {axis.Works.Length} works: expected as many", nameof(axes));
                    views[n] = new hob_product_axis { count = (uint)values.Length, default_index = axis.DefaultIndex };
                    pins[pinned++] = GCHandle.Alloc(values, GCHandleType.Pinned);
                    views[n].values = (double*)pins[pinned - 1].AddrOfPinnedObject();
                    if (axis.Works == null) continue;
                    pins[pinned++] = GCHandle.Alloc(axis.Works, GCHandleType.Pinned);
                    views[n].works = (double*)pins[pinned - 1].AddrOfPinnedObject();
                }
                using (var text = new Utf8(id, nameof(id)))
                using (Exclusive(out hob_goblin* goblin))
                {
                    var desc = new hob_product_desc();
                    Hob.Check(Native.hob_product_desc_init(&desc, (uint)sizeof(hob_product_desc)));
                    desc.id = text.Str;
                    desc.axes = views;
                    desc.axis_stride = (UIntPtr)(uint)sizeof(hob_product_axis);
                    desc.axis_count = (uint)axes.Length;
                    desc.relative_burden = relativeBurden;
                    desc.switch_burden = how.SwitchBurden;
                    desc.flags = how.IsTrim ? Constants.HOB_SETTING_TRIM : 0;
                    hob_setting_id setting;
                    Hob.Check(Native.hob_goblin_add_product(goblin, &desc, &setting));
                    return new Product(new Setting(this, setting));
                }
            }
            finally
            {
                while (pinned > 0) pins[--pinned].Free();
            }
        }

        /// <summary>Removes a setting. Its learned burdens stay, for a later setting of the same id.</summary>
        public void Remove(Setting setting)
        {
            using (Exclusive(out hob_goblin* goblin)) Hob.Check(Native.hob_goblin_remove_setting(goblin, setting.In(this)));
        }

        /// <summary>Replaces the options of a setting. Another number of options drops its learned burdens.</summary>
        public void SetOptions(Setting setting, params Option[] options)
        {
            if (options == null) throw new ArgumentNullException(nameof(options));
            fixed (Option* first = options)
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_options(
                    goblin, setting.In(this), (hob_option*)first, (UIntPtr)(uint)sizeof(Option), (uint)options.Length));
        }

        /// <summary>Changes the value of one option.</summary>
        public void SetValue(Setting setting, uint option, double value)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_value(goblin, setting.In(this), option, value));
        }

        /// <summary>Sets whether an option can be chosen now.</summary>
        public void SetReady(Setting setting, uint option, bool isReady)
        {
            using (Exclusive(out hob_goblin* goblin))
                Hob.Check(Native.hob_goblin_set_ready(goblin, setting.In(this), option, isReady ? 1u : 0));
        }
    }

    /// <summary>The state of a setting with callbacks.</summary>
    internal sealed unsafe class SettingBox : IReleased
    {
        static readonly hob_setting_desc_get_options_fn GetOptionsCallback = GetOptions;
        static readonly hob_setting_desc_get_default_choice_fn GetDefaultChoiceCallback = GetDefaultChoice;
        static readonly hob_setting_desc_set_choice_fn SetChoiceCallback = SetChoice;
        static readonly hob_setting_desc_get_id_fn GetIdCallback = GetId;
        static readonly hob_setting_desc_measure_fn MeasureCallback = Measure;
        static readonly IntPtr GetOptionsPointer = Callbacks.Pointer(GetOptionsCallback);
        static readonly IntPtr GetDefaultChoicePointer = Callbacks.Pointer(GetDefaultChoiceCallback);
        static readonly IntPtr SetChoicePointer = Callbacks.Pointer(SetChoiceCallback);
        static readonly IntPtr GetIdPointer = Callbacks.Pointer(GetIdCallback);
        static readonly IntPtr MeasurePointer = Callbacks.Pointer(MeasureCallback);

        readonly SettingCallbacks callbacks;
        // Two lists: after an exception the old options stay. Both keep their memory.
        List<Option> options = new List<Option>();
        List<Option> fresh = new List<Option>();
        Utf8 id;

        internal SettingBox(SettingCallbacks callbacks)
        {
            this.callbacks = callbacks;
        }

        internal void Describe(hob_setting_desc* desc, void* userData)
        {
            desc->user_data = userData;
            desc->release = Callbacks.ReleasePointer;
            if (callbacks.GetOptions != null) desc->get_options = GetOptionsPointer;
            if (callbacks.GetDefaultChoice != null) desc->get_default_choice = GetDefaultChoicePointer;
            if (callbacks.SetChoice != null) desc->set_choice = SetChoicePointer;
            if (callbacks.GetId != null) desc->get_id = GetIdPointer;
            if (callbacks.Measure != null) desc->measure = MeasurePointer;
        }

        internal void FreeId()
        {
            id.Dispose();
        }

        public void Released()
        {
            callbacks.Released?.Invoke();
        }

        [MonoPInvokeCallback(typeof(hob_setting_desc_get_options_fn))]
        static uint GetOptions(void* userData, hob_option* into, uint capacity)
        {
            var call = Callbacks.Begin();
            SettingBox box = null;
            try
            {
                box = Callbacks.Get<SettingBox>(userData);
                box.fresh.Clear();
                box.callbacks.GetOptions(box.fresh);
                var filled = box.fresh;
                box.fresh = box.options;
                box.options = filled;
            }
            catch (Exception exception)
            {
                call.Fail(exception);
            }
            finally
            {
                call.End();
            }
            if (box == null) return 0;
            var count = (uint)box.options.Count;
            if (count > capacity) return count;
            for (var n = 0; n < count; ++n) ((Option*)into)[n] = box.options[n];
            return count;
        }

        [MonoPInvokeCallback(typeof(hob_setting_desc_get_default_choice_fn))]
        static uint GetDefaultChoice(void* userData)
        {
            var call = Callbacks.Begin();
            try
            {
                return Callbacks.Get<SettingBox>(userData).callbacks.GetDefaultChoice();
            }
            catch (Exception exception)
            {
                call.Fail(exception);
                return 0;
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_setting_desc_set_choice_fn))]
        static void SetChoice(void* userData, uint choice, ulong decisionId)
        {
            var call = Callbacks.Begin();
            try
            {
                Callbacks.Get<SettingBox>(userData).callbacks.SetChoice(choice, decisionId);
            }
            catch (Exception exception)
            {
                call.Fail(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_setting_desc_get_id_fn))]
        static void GetId(void* userData, hob_str* into)
        {
            var call = Callbacks.Begin();
            try
            {
                var box = Callbacks.Get<SettingBox>(userData);
                box.FreeId();
                box.id = new Utf8(box.callbacks.GetId() ?? "", "GetId");
                *into = box.id.Str;
            }
            catch (Exception exception)
            {
                call.Fail(exception);
            }
            finally
            {
                call.End();
            }
        }

        [MonoPInvokeCallback(typeof(hob_setting_desc_measure_fn))]
        static uint Measure(void* userData, hob_sample* into)
        {
            var call = Callbacks.Begin();
            try
            {
                return Callbacks.Get<SettingBox>(userData).callbacks.Measure(ref *(Sample*)into) ? 1u : 0;
            }
            catch (Exception exception)
            {
                call.Fail(exception);
                return 0;
            }
            finally
            {
                call.End();
            }
        }
    }
}
