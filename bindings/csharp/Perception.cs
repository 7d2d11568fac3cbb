// Vision over a stream of frames, which looks only at what changed. MIT OR Apache-2.0.
//
//     var eye = new Perception();
//     var reader = eye.AddCognition(new CognitionDesc
//     {
//         Flags = CognitionFlags.Pure,                        // it runs only after a change in its region
//         Perceive = call =>
//         {
//             call.Value.Number = DigitsIn(call.Input(0));
//             return Result.Ok;
//         },
//     });
//     var region = new PixelRect { X = 90, Y = 171, Width = 48, Height = 16 };
//     var health = eye.AddPipeline(new PerceptionPipelineDesc("health", new PerceptionStep(reader, region)));
//     // for each frame:
//     eye.BeginFrame(frame);
//     if (eye.TryQuery(health, 3, out var value)) React(value.Number);      // three frames agree
using System;
using Hobgoblin.Interop;

namespace Hobgoblin
{
    /// <summary>Receives the image of a pipeline, which is valid during the call.</summary>
    public delegate void ImageReader(ImageView image);

    /// <summary>Looks only at what changed.
    /// For one thread at a time: a call during another one fails with <c>Result.Busy</c>, also inside cognitions. Disposed
    /// inside a cognition, it ends when the running call returns.</summary>
    public sealed unsafe class Perception : ExclusiveHandle
    {
        readonly PerceptionState state = new PerceptionState();
        readonly bool borrowsFrames;
        // During ReadImage, whose view the next call would end.
        bool isReading;
        // The library may use the executor of a frame until the next one.
        Use executorOfFrame;

        /// <summary>Creates a perception without cognitions. Null: the defaults.</summary>
        public Perception(PerceptionDesc desc = null)
        {
            if (desc == null) desc = new PerceptionDesc();
            var raw = desc.Raw;
            borrowsFrames = raw.borrows_frames != 0;
            hob_perception* perception;
            Hob.Check(Native.hob_perception_create(&raw, &perception));
            Adopt(perception);
        }

        internal override void Destroy(IntPtr native)
        {
            Native.hob_perception_destroy((hob_perception*)native);
            executorOfFrame.Dispose();
            state.Exceptions.Report();
        }

        /// <summary>Begins a call that no other one may interrupt, nor a function that reads an image.</summary>
        GatedUse Enter(out IntPtr native)
        {
            var use = Exclusive(out native);
            if (!isReading) return use;
            use.Dispose();
            throw new HobgoblinException(Result.Busy, "an image is being read: call the perception afterwards");
        }

        /// <summary>Throws the first exception of the cognitions, or else the failure of the call.</summary>
        void Check(hob_result result)
        {
            state.Exceptions.Rethrow();
            Hob.Check(result);
        }

        // ---- Cognitions

        /// <summary>Adds a cognition of the host.</summary>
        public CognitionId AddCognition(CognitionDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            if (desc.Perceive == null) throw new ArgumentException("a cognition needs Perceive", nameof(desc));
            return Add(desc, desc.Flags, new CognitionFunctionBox(desc, state));
        }

        /// <summary>Adds a cognition whose value is an object that the perception owns; see <c>Value.Object</c>.
        /// An object that is IDisposable is disposed when no kept frame has it any more. If T is IEquatable, equal objects
        /// count as equal values. Perceive, IsEqual and ReleaseValue of <paramref name="desc"/> are not used.</summary>
        public CognitionId AddObject<T>(CognitionDesc desc, CognitionMaker<T> make) where T : class
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            if (make == null) throw new ArgumentNullException(nameof(make));
            return Add(desc, desc.Flags | CognitionFlags.Owned, new CognitionObjectBox<T>(make, state));
        }

        CognitionId Add(CognitionDesc desc, CognitionFlags flags, CognitionBox box)
        {
            hob_cognition_desc raw;
            CognitionId cognition;
            using (var name = new Utf8(desc.Name ?? "", nameof(desc)))
            using (Enter(out var perception))
            {
                Hob.Check(Native.hob_cognition_desc_init(&raw, (uint)sizeof(hob_cognition_desc)));
                raw.flags = (uint)flags;
                raw.name = name.Str;
                raw.support = desc.Support;
                raw.scale = desc.Scale;
                raw.image_format = (hob_pixel_format)desc.ImageFormat;
                raw.image_width = desc.ImageWidth;
                raw.image_height = desc.ImageHeight;
                raw.cost_ns = desc.CostNs;
                CognitionCallbacks.Describe(&raw, box);
                var result = Native.hob_perception_add_cognition(
                    (hob_perception*)perception, &raw, (hob_cognition_id*)&cognition);
                if (result != hob_result.HOB_RESULT_OK) Callbacks.Drop(raw.user_data);
                Check(result);
            }
            return cognition;
        }

        /// <summary>Adds a built-in cognition. Its images are copied.</summary>
        public CognitionId AddOperator(OperatorDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            CognitionId cognition;
            using (var arena = new Arena())
            using (Enter(out var perception))
            {
                var raw = desc.Raw;
                raw.name = arena.Text(desc.Name);
                if (desc.Image != null) raw.image = desc.Image.Describe(arena);
                var given = Calls.Snapshot(desc.Glyphs);
                raw.glyphs = (hob_glyph*)arena.Allocate(given.Length, sizeof(hob_glyph));
                raw.glyph_stride = (UIntPtr)sizeof(hob_glyph);
                raw.glyph_count = (uint)given.Length;
                for (var i = 0; i < given.Length; ++i)
                {
                    var glyph = given[i];
                    if (glyph == null) throw new ArgumentException("glyph " + i + " is null", nameof(desc));
                    raw.glyphs[i].digit = glyph.Digit;
                    if (glyph.Image != null) raw.glyphs[i].image = glyph.Image.Describe(arena);
                    if (glyph.Mask != null) raw.glyphs[i].mask = glyph.Mask.Describe(arena);
                }
                Check(Native.hob_perception_add_operator((hob_perception*)perception, &raw, (hob_cognition_id*)&cognition));
            }
            return cognition;
        }

        // ---- Pipelines

        /// <summary>Adds a pipeline. It can be asked for from the next frame on.
        /// Throws with <c>Result.NotFound</c> if there is no such cognition, or no such pipeline.</summary>
        public PerceptionPipelineId AddPipeline(PerceptionPipelineDesc desc)
        {
            if (desc == null) throw new ArgumentNullException(nameof(desc));
            PerceptionPipelineId pipeline;
            using (var arena = new Arena())
            using (Enter(out var perception))
            {
                hob_perception_pipeline_desc raw;
                Hob.Check(Native.hob_perception_pipeline_desc_init(&raw, (uint)sizeof(hob_perception_pipeline_desc)));
                raw.prefetch = (hob_prefetch)desc.Prefetch;
                raw.name = arena.Text(desc.Name);
                raw.state = arena.Text(desc.State);
                var given = Calls.Snapshot(desc.Inputs);
                var inputs = (PerceptionPipelineId*)arena.Allocate(given.Length, sizeof(PerceptionPipelineId));
                for (var i = 0; i < given.Length; ++i) inputs[i] = given[i];
                raw.inputs = (hob_perception_pipeline_id*)inputs;
                raw.input_count = (uint)given.Length;
                var steps = Calls.Snapshot(desc.Steps);
                raw.steps = (hob_perception_step*)arena.Allocate(steps.Length, sizeof(hob_perception_step));
                raw.step_stride = (UIntPtr)sizeof(hob_perception_step);
                raw.step_count = (uint)steps.Length;
                for (var i = 0; i < steps.Length; ++i)
                {
                    var cognition = steps[i].Cognition;
                    var region = steps[i].Region;
                    raw.steps[i].cognition = *(hob_cognition_id*)&cognition;
                    raw.steps[i].region = *(hob_rect*)&region;
                    raw.steps[i].parameters = arena.Bytes(steps[i].Parameters, out raw.steps[i].parameters_size);
                    raw.steps[i].tolerance = steps[i].Tolerance;
                }
                Check(Native.hob_perception_add_pipeline(
                    (hob_perception*)perception, &raw, (hob_perception_pipeline_id*)&pipeline));
            }
            return pipeline;
        }

        /// <summary>Removes a pipeline, and the steps that only it has.</summary>
        public void RemovePipeline(PerceptionPipelineId pipeline)
        {
            using (Enter(out var perception))
            {
                Check(Native.hob_perception_remove_pipeline(
                    (hob_perception*)perception, *(hob_perception_pipeline_id*)&pipeline));
            }
        }

        /// <summary>Sets whether a pipeline is computed when a frame begins.</summary>
        public void SetPrefetch(PerceptionPipelineId pipeline, Prefetch prefetch)
        {
            using (Enter(out var perception))
            {
                Check(Native.hob_perception_set_prefetch(
                    (hob_perception*)perception, *(hob_perception_pipeline_id*)&pipeline, (hob_prefetch)prefetch));
            }
        }

        // ---- The frame

        /// <summary>Begins a frame: compares its pixels with the last frame's, and computes pipelines in advance.
        /// Without an executor only this thread computes. Cognitions that fail are no failure of the call. Allocates nothing,
        /// apart from the first frames after a new pipeline, size or executor.</summary>
        public void BeginFrame(Frame frame, Executor executor = null)
        {
            if (frame == null) throw new ArgumentNullException(nameof(frame));
            // Each field is read once, so that the checked sizes are used even if another thread changes the frame.
            var pixelArray = frame.Pixels;
            var chromaArray = frame.Chroma;
            var dirtyArray = frame.Dirty;
            var moveArray = frame.Moves;
            if (borrowsFrames && (pixelArray != null || chromaArray != null))
                throw new ArgumentException("arrays move in memory: set Data of a frame that is borrowed", nameof(frame));
            hob_frame raw;
            Hob.Check(Native.hob_frame_init(&raw, (uint)sizeof(hob_frame)));
            raw.format = (hob_pixel_format)frame.Format;
            raw.width = frame.Width;
            raw.height = frame.Height;
            raw.trust = (hob_frame_trust)frame.Trust;
            var stride = frame.Stride;
            var chromaStride = frame.ChromaStride;
            var dirtyCount = frame.DirtyCount;
            var moveCount = frame.MoveCount;
            raw.stride = (UIntPtr)(ulong)stride;
            raw.chroma_stride = (UIntPtr)(ulong)chromaStride;
            raw.dirty_count = (uint)dirtyCount;
            raw.move_count = (uint)moveCount;
            PixelLayout.Check((PixelFormat)raw.format, raw.width, raw.height, stride,
                pixelArray == null ? frame.DataSize : pixelArray.Length, chromaStride,
                chromaArray == null ? frame.ChromaDataSize : chromaArray.Length);
            Frame.CheckCount(dirtyArray, dirtyCount, nameof(frame.DirtyCount));
            Frame.CheckCount(moveArray, moveCount, nameof(frame.MoveCount));
            using (Enter(out var perception))
            {
                var use = Use.Begin(executor, out var threads);
                hob_result result;
                fixed (byte* pixels = pixelArray)
                fixed (byte* chroma = chromaArray)
                fixed (PixelRect* dirty = dirtyArray)
                fixed (FrameMove* moves = moveArray)
                {
                    // An array without elements has no address, but says that nothing changed.
                    PixelRect nothing;
                    raw.pixels = pixelArray != null ? pixels : (void*)frame.Data;
                    raw.chroma = chromaArray != null ? chroma : (void*)frame.ChromaData;
                    raw.dirty = (hob_rect*)(dirtyArray != null && dirty == null ? &nothing : dirty);
                    raw.moves = (hob_frame_move*)moves;
                    var before = state.Executor;
                    state.Executor = executor;
                    try { }
                    finally
                    {
                        result = Native.hob_perception_begin_frame((hob_perception*)perception, &raw, (hob_executor*)threads);
                    }
                    if (result == hob_result.HOB_RESULT_OK)
                    {
                        executorOfFrame.Dispose();
                        executorOfFrame = use;
                    }
                    else
                    {
                        state.Executor = before;
                        use.Dispose();
                    }
                }
                Check(result);
            }
        }

        /// <summary>Begins a frame of pixels without gaps. Allocates a <see cref="Frame"/>.</summary>
        public void BeginFrame(byte[] pixels, uint width, uint height, PixelFormat format = PixelFormat.Default,
            Executor executor = null)
        {
            BeginFrame(new Frame(pixels, width, height, format), executor);
        }

        // ---- Queries

        /// <summary>Gets the value of a pipeline for the present frame, if the last frames agree on it.
        /// <paramref name="frames"/> is the number of frames that must agree, this one included, up to 64. False: they do not
        /// agree, not enough of them are known, or a cognition failed: see <see cref="GetFailure"/>. Allocates
        /// nothing.</summary>
        public bool TryQuery(PerceptionPipelineId pipeline, uint frames, out Value value)
        {
            Value found;
            using (Enter(out var perception))
            {
                hob_result result;
                try { }
                finally
                {
                    result = Native.hob_perception_query((hob_perception*)perception,
                        *(hob_perception_pipeline_id*)&pipeline, frames, (hob_value*)&found);
                }
                return Found(result, found, out value);
            }
        }

        /// <summary>Gets the value of a pipeline for the present frame. Throws with <c>Result.NoConsensus</c> and
        /// <c>Result.CognitionFailed</c> where <see cref="TryQuery"/> returns false.</summary>
        public Value Query(PerceptionPipelineId pipeline, uint frames = 1)
        {
            Value found;
            using (Enter(out var perception))
            {
                hob_result result;
                try { }
                finally
                {
                    result = Native.hob_perception_query((hob_perception*)perception, *(hob_perception_pipeline_id*)&pipeline,
                        frames, (hob_value*)&found);
                }
                Check(result);
            }
            return found;
        }

        /// <summary>Gets the value of a pipeline for a past frame: <paramref name="age"/> frames before the present one.
        /// Computes it if it was not computed then. False: it cannot be known, or a cognition failed.</summary>
        public bool TryQueryPast(PerceptionPipelineId pipeline, uint age, out Value value)
        {
            Value found;
            using (Enter(out var perception))
            {
                hob_result result;
                try { }
                finally
                {
                    result = Native.hob_perception_query_past((hob_perception*)perception,
                        *(hob_perception_pipeline_id*)&pipeline, age, (hob_value*)&found);
                }
                return Found(result, found, out value);
            }
        }

        bool Found(hob_result result, Value found, out Value value)
        {
            state.Exceptions.Rethrow();
            var isKnown = result != hob_result.HOB_RESULT_COGNITION_FAILED &&
                Hob.CheckUnless(result, hob_result.HOB_RESULT_NO_CONSENSUS);
            value = isKnown ? found : default(Value);
            return isKnown;
        }

        /// <summary>Answers several questions in one call. There must be as many answers as questions, at least.
        /// Questions that fail are no failure of the call: see <see cref="PerceptionAnswer.Result"/>. Allocates
        /// nothing.</summary>
        public void QueryMany(PerceptionQuestion[] questions, PerceptionAnswer[] answers)
        {
            if (questions == null) throw new ArgumentNullException(nameof(questions));
            if (answers == null) throw new ArgumentNullException(nameof(answers));
            if (answers.Length < questions.Length) throw new ArgumentException("fewer answers than questions", nameof(answers));
            if (questions.Length == 0) return;
            var count = UIntPtr.Zero;
            using (Enter(out var perception))
            {
                fixed (PerceptionQuestion* asked = questions)
                fixed (PerceptionAnswer* answered = answers)
                {
                    hob_result result;
                    try { }
                    finally
                    {
                        result = Native.hob_perception_query_many((hob_perception*)perception, (hob_perception_question*)asked,
                            (UIntPtr)sizeof(hob_perception_question), (UIntPtr)questions.Length,
                            (hob_perception_answer*)answered,
                            (UIntPtr)sizeof(hob_perception_answer), (UIntPtr)answers.Length, &count);
                    }
                    Check(result);
                }
            }
        }

        /// <summary>Copies the image of a pipeline for the present frame.
        /// The arrays of <paramref name="image"/> are used again if they are large enough: then nothing is allocated. Rows
        /// have no gaps. Throws with <c>Result.InvalidArgument</c> if its last step makes no image.</summary>
        public void CopyImage(PerceptionPipelineId pipeline, PixelImage image)
        {
            if (image == null) throw new ArgumentNullException(nameof(image));
            using (Enter(out var perception))
            {
                var view = View(perception, pipeline);
                var rowSize = view.Width * view.PixelSize;
                var chromaRows = view.Chroma == IntPtr.Zero ? 0 : (view.Height + 1) / 2;
                var chromaRowSize = (view.Width + 1) / 2 * 2;
                image.Format = view.Format;
                image.Width = (uint)view.Width;
                image.Height = (uint)view.Height;
                image.Stride = rowSize;
                image.ChromaStride = chromaRows == 0 ? 0 : chromaRowSize;
                var size = checked(rowSize * view.Height);
                if (image.Pixels == null || image.Pixels.Length < size) image.Pixels = new byte[size];
                for (var y = 0; y < view.Height; ++y) view.Row(y).CopyTo(image.Pixels, y * rowSize);
                if (chromaRows == 0)
                {
                    image.Chroma = null;
                    return;
                }
                var chromaSize = chromaRows * chromaRowSize;
                if (image.Chroma == null || image.Chroma.Length < chromaSize) image.Chroma = new byte[chromaSize];
                for (var y = 0; y < chromaRows; ++y) view.ChromaRow(y).CopyTo(image.Chroma, y * chromaRowSize);
            }
        }

        /// <summary>Passes the image of a pipeline for the present frame to a function, without a copy.
        /// The function must not call the perception.</summary>
        public void ReadImage(PerceptionPipelineId pipeline, ImageReader read)
        {
            if (read == null) throw new ArgumentNullException(nameof(read));
            using (Enter(out var perception))
            {
                var view = View(perception, pipeline);
                isReading = true;
                try
                {
                    read(view);
                }
                finally
                {
                    isReading = false;
                }
            }
        }

        ImageView View(IntPtr perception, PerceptionPipelineId pipeline)
        {
            hob_image raw;
            Hob.Check(Native.hob_image_init(&raw, (uint)sizeof(hob_image)));
            hob_result result;
            try { }
            finally
            {
                result = Native.hob_perception_get_image(
                    (hob_perception*)perception, *(hob_perception_pipeline_id*)&pipeline, &raw);
            }
            Check(result);
            return new ImageView((PixelFormat)raw.format, raw.pixels, raw.width, raw.height, raw.stride, raw.chroma,
                raw.chroma_stride, false);
        }

        /// <summary>Gets the reason why a pipeline failed. Empty if it did not fail, or if the cognition gave no
        /// reason.</summary>
        public string GetFailure(PerceptionPipelineId pipeline)
        {
            var id = *(hob_perception_pipeline_id*)&pipeline;
            using (Shared(out var perception))
            {
                return Calls.ReadText((buffer, capacity, size) => Native.hob_perception_get_failure(
                    (hob_perception*)perception, id, buffer, capacity, size));
            }
        }

        // ---- Statistics and pictures

        /// <summary>Gets the counts of the perception.</summary>
        public PerceptionStatistics GetStatistics()
        {
            PerceptionStatistics statistics;
            ((hob_perception_statistics*)&statistics)->struct_size = (uint)sizeof(hob_perception_statistics);
            using (Shared(out var perception))
            {
                Check(Native.hob_perception_get_statistics(
                    (hob_perception*)perception, (hob_perception_statistics*)&statistics));
            }
            return statistics;
        }

        /// <summary>Gets the counts of a pipeline. False: there is no such pipeline.</summary>
        public bool TryGetPipelineStatistics(PerceptionPipelineId pipeline, out PerceptionPipelineStatistics statistics)
        {
            PerceptionPipelineStatistics found;
            ((hob_perception_pipeline_statistics*)&found)->struct_size = (uint)sizeof(hob_perception_pipeline_statistics);
            using (Shared(out var perception))
            {
                var isKnown = Hob.CheckUnless(Native.hob_perception_get_pipeline_statistics((hob_perception*)perception,
                    *(hob_perception_pipeline_id*)&pipeline, (hob_perception_pipeline_statistics*)&found),
                    hob_result.HOB_RESULT_NOT_FOUND);
                statistics = isKnown ? found : default(PerceptionPipelineStatistics);
                return isKnown;
            }
        }

        /// <summary>Saves all counts as JSON.</summary>
        public string SaveJson()
        {
            using (Shared(out var perception))
            {
                return Calls.ReadText((buffer, capacity, size) =>
                    Native.hob_perception_save_json((hob_perception*)perception, buffer, capacity, size));
            }
        }

        /// <summary>Draws over a picture of the present frame: an outline of each watched region, and counts.
        /// The pixels are changed, so pass a copy of the frame, with its size, in <c>PixelFormat.Bgrx8</c> or
        /// <c>PixelFormat.Bgra8</c>. Allocates nothing.</summary>
        public void DrawOverlay(PixelImage picture)
        {
            if (picture == null) throw new ArgumentNullException(nameof(picture));
            var bytes = picture.Pixels;
            if (bytes == null) throw new ArgumentException("the picture has no pixels", nameof(picture));
            fixed (byte* pixels = bytes)
            {
                DrawOverlay((IntPtr)pixels, bytes.Length, picture.Width, picture.Height, picture.Stride,
                    picture.Format);
            }
        }

        /// <summary>Draws over a picture in native memory.</summary>
        public void DrawOverlay(IntPtr data, long size, uint width, uint height, long stride = 0,
            PixelFormat format = PixelFormat.Default)
        {
            PixelLayout.Check(format, width, height, stride, size, 0, long.MaxValue);
            hob_image raw;
            Hob.Check(Native.hob_image_init(&raw, (uint)sizeof(hob_image)));
            raw.format = (hob_pixel_format)format;
            raw.pixels = (void*)data;
            raw.width = width;
            raw.height = height;
            raw.stride = (UIntPtr)(ulong)stride;
            using (Shared(out var perception))
                Check(Native.hob_perception_draw_overlay((hob_perception*)perception, &raw));
        }
    }
}
