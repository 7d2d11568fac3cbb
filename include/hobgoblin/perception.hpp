// hobgoblin/perception.hpp: vision over frames. Part of hobgoblin.hpp. MIT OR Apache-2.0.
#ifndef HOBGOBLIN_PERCEPTION_HPP
#define HOBGOBLIN_PERCEPTION_HPP

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base.hpp"
#include "executor.hpp"
#include "perception.h"

HOB_NAMESPACE_BEGIN

/// Parameters of a pipeline; see hob_perception_pipeline_desc.
struct PerceptionPipeline {
    /// A name for messages and statistics.
    std::string_view name;
    /// The name of the state that it is part of.
    std::string_view state = {};
    /// Pipelines whose results are the inputs. Empty: the frame.
    ArrayView<hob_perception_pipeline_id> inputs = {};
    /// Whether a frame computes it before it is asked for.
    hob_prefetch prefetch = HOB_PREFETCH_PROFILE;
};

/// Looks only at what changed; see hob_perception.
///
///     hob::Perception eye;
///     const auto reader = eye.add_cognition("read", HOB_COGNITION_PURE, [](hob_cognition_call& call) {
///         call.value.number = digits_in(call.inputs[0]);
///     });
///     const auto health = eye.add_pipeline({"health"}, {hob::step(reader, {90, 171, 48, 16})});
///     eye.begin_frame(frame);
///     if (const auto value = eye.query(health, 3)) react(value->number);
///
/// Frames are copied, unless hob_perception_desc.borrows_frames is set.
///
/// An exception from a cognition fails the pipelines that need it: its message is what(). The call continues, and
/// rethrows the first exception at its end, also in its try_ form.
class Perception {
public:
#if HOB_EXCEPTIONS
    Perception() : Perception(try_create().value()) {}
    explicit Perception(const hob_perception_desc& desc) : Perception(try_create(desc).value()) {}
#endif
    static Result<Perception> try_create() {
        hob_perception* made = nullptr;
        const hob_result code = hob_perception_create(nullptr, &made);
        return detail::result_of(code, Perception(made));
    }
    static Result<Perception> try_create(const hob_perception_desc& desc) {
        hob_perception* made = nullptr;
        const hob_result code = hob_perception_create(&desc, &made);
        return detail::result_of(code, Perception(made));
    }
    /// Takes ownership of a C handle.
    explicit Perception(hob_perception* perception)
        : pending_(std::make_unique<detail::SharedPending>()), handle_(perception) {}

    /// Adds a cognition: `run(hob_cognition_call&)` returns a hob_result, or nothing for HOB_RESULT_OK. `flags` are
    /// HOB_COGNITION_ bits, without HOB_COGNITION_OWNED.
    template <class Run>
    Result<hob_cognition_id> try_add_cognition(std::string_view name, uint32_t flags, Run run) {
        hob_cognition_desc desc = HOB_COGNITION_DESC_INIT;
        desc.name = detail::text(name);
        desc.flags = flags;
        return try_add_cognition(desc, std::move(run));
    }
    /// Adds a cognition with all parameters of `desc`, apart from `perceive`, `user_data` and `release`. Of callbacks
    /// in it, `user_data` is not the host's.
    template <class Run>
    Result<hob_cognition_id> try_add_cognition(hob_cognition_desc desc, Run run) {
        auto cognition = std::make_unique<Cognition<Run>>(Cognition<Run>{std::move(run), pending_.get()});
        desc.perceive = &Cognition<Run>::perceive;
        desc.user_data = cognition.get();
        desc.release = &Cognition<Run>::release;
        hob_cognition_id id = {0, 0};
        const hob_result code = hob_perception_add_cognition(capi(), &desc, &id);
        if (code == HOB_RESULT_OK) (void)cognition.release();  // the perception owns it and calls Cognition::release
        return detail::result_of(code, id);
    }
    /// Adds a built-in cognition.
    Result<hob_cognition_id> try_add_operator(const hob_operator_desc& desc) {
        hob_cognition_id id = {0, 0};
        const hob_result code = hob_perception_add_operator(capi(), &desc, &id);
        return detail::result_of(code, id);
    }
    /// Adds a pipeline of these steps; see step().
    Result<hob_perception_pipeline_id> try_add_pipeline(const PerceptionPipeline& options,
                                                        ArrayView<hob_perception_step> steps) {
        hob_perception_pipeline_desc desc = HOB_PERCEPTION_PIPELINE_DESC_INIT;
        desc.name = detail::text(options.name);
        desc.state = detail::text(options.state);
        desc.prefetch = options.prefetch;
        desc.inputs = options.inputs.data();
        desc.input_count = options.inputs.count();
        desc.steps = steps.data();
        desc.step_count = steps.count();
        hob_perception_pipeline_id id = {0, 0};
        const hob_result code = hob_perception_add_pipeline(capi(), &desc, &id);
        return detail::result_of(code, id);
    }
    /// Removes a pipeline.
    Result<void> try_remove_pipeline(hob_perception_pipeline_id pipeline) {
        return detail::result_of(hob_perception_remove_pipeline(capi(), pipeline));
    }
    /// Sets whether a frame computes the pipeline before it is asked for.
    Result<void> try_set_prefetch(hob_perception_pipeline_id pipeline, hob_prefetch prefetch) {
        return detail::result_of(hob_perception_set_prefetch(capi(), pipeline, prefetch));
    }

    /// Begins a frame on this thread.
    Result<void> try_begin_frame(const hob_frame& frame) { return begun(frame, nullptr); }
    /// Begins a frame, on the threads of the executor, too.
    Result<void> try_begin_frame(const hob_frame& frame, const Executor& executor) {
        return begun(frame, executor.capi());
    }
    /// The value for the present frame, if the last `frames` frames agree. Empty: they do not, or not enough are known.
    Result<std::optional<hob_value>> try_query(hob_perception_pipeline_id pipeline, uint32_t frames = 1) {
        return asked([&](hob_value* value) { return hob_perception_query(capi(), pipeline, frames, value); });
    }
    /// The value `age` frames ago. Empty: it cannot be known.
    Result<std::optional<hob_value>> try_query_past(hob_perception_pipeline_id pipeline, uint32_t age) {
        return asked([&](hob_value* value) { return hob_perception_query_past(capi(), pipeline, age, value); });
    }
    /// Answers questions into `answers`, which has room for as many, in one call.
    Result<void> try_query_many(ArrayView<hob_perception_question> questions, hob_perception_answer* answers) {
        std::size_t count = 0;
        const hob_result code =
            hob_perception_query_many(capi(), questions.data(), sizeof(hob_perception_question), questions.size(), answers,
                                      sizeof(hob_perception_answer), questions.size(), &count);
        rethrow();
        return detail::result_of(code);
    }
    /// The image of a pipeline's last step. Valid until the next call that is not const.
    Result<hob_image> try_image(hob_perception_pipeline_id pipeline) {
        auto image = detail::filled_by(detail::sized<hob_image>(), [&](hob_image* to) {
            return hob_perception_get_image(capi(), pipeline, to);
        });
        rethrow();
        return image;
    }
    /// The reason of a pipeline's failure. Empty without one.
    Result<std::string> try_failure(hob_perception_pipeline_id pipeline) const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_perception_get_failure(capi(), pipeline, buffer, capacity, size);
        });
    }
    /// Counts of the perception.
    Result<hob_perception_statistics> try_statistics() const {
        return detail::filled_by(detail::sized<hob_perception_statistics>(), [&](hob_perception_statistics* statistics) {
            return hob_perception_get_statistics(capi(), statistics);
        });
    }
    /// Counts of a pipeline.
    Result<hob_perception_pipeline_statistics> try_pipeline_statistics(hob_perception_pipeline_id pipeline) const {
        return detail::filled_by(detail::sized<hob_perception_pipeline_statistics>(),
                                 [&](hob_perception_pipeline_statistics* statistics) {
                                     return hob_perception_get_pipeline_statistics(capi(), pipeline, statistics);
                                 });
    }
    /// Draws over a picture of the present frame: outlines of the regions, and counts. Writes to the pixels of
    /// `target`.
    Result<void> try_draw_overlay(const hob_image& target) const {
        return detail::result_of(hob_perception_draw_overlay(capi(), &target));
    }
    /// All counts as JSON.
    Result<std::string> try_save_json() const {
        return detail::read_all<std::string>([&](char* buffer, std::size_t capacity, std::size_t* size) {
            return hob_perception_save_json(capi(), buffer, capacity, size);
        });
    }

#if HOB_EXCEPTIONS
    // The throwing forms.
    template <class Run>
    hob_cognition_id add_cognition(std::string_view name, uint32_t flags, Run run) {
        return try_add_cognition(name, flags, std::move(run)).value();
    }
    template <class Run>
    hob_cognition_id add_cognition(const hob_cognition_desc& desc, Run run) {
        return try_add_cognition(desc, std::move(run)).value();
    }
    hob_cognition_id add_operator(const hob_operator_desc& desc) { return try_add_operator(desc).value(); }
    hob_perception_pipeline_id add_pipeline(const PerceptionPipeline& options, ArrayView<hob_perception_step> steps) {
        return try_add_pipeline(options, steps).value();
    }
    void remove_pipeline(hob_perception_pipeline_id pipeline) { try_remove_pipeline(pipeline).value(); }
    void set_prefetch(hob_perception_pipeline_id pipeline, hob_prefetch prefetch) {
        try_set_prefetch(pipeline, prefetch).value();
    }
    void begin_frame(const hob_frame& frame) { try_begin_frame(frame).value(); }
    void begin_frame(const hob_frame& frame, const Executor& executor) { try_begin_frame(frame, executor).value(); }
    std::optional<hob_value> query(hob_perception_pipeline_id pipeline, uint32_t frames = 1) {
        return try_query(pipeline, frames).value();
    }
    std::optional<hob_value> query_past(hob_perception_pipeline_id pipeline, uint32_t age) {
        return try_query_past(pipeline, age).value();
    }
    void query_many(ArrayView<hob_perception_question> questions, hob_perception_answer* answers) {
        try_query_many(questions, answers).value();
    }
    hob_image image(hob_perception_pipeline_id pipeline) { return try_image(pipeline).value(); }
    std::string failure(hob_perception_pipeline_id pipeline) const { return try_failure(pipeline).value(); }
    hob_perception_statistics statistics() const { return try_statistics().value(); }
    hob_perception_pipeline_statistics pipeline_statistics(hob_perception_pipeline_id pipeline) const {
        return try_pipeline_statistics(pipeline).value();
    }
    void draw_overlay(const hob_image& target) const { try_draw_overlay(target).value(); }
    std::string save_json() const { return try_save_json().value(); }
#endif

    hob_perception* capi() noexcept { return handle_.get(); }
    const hob_perception* capi() const noexcept { return handle_.get(); }

private:
    template <class Run>
    struct Cognition {
        Run run;
        detail::SharedPending* pending;

        static hob_result perceive(void* self, hob_cognition_call* call) noexcept {
            auto& cognition = *static_cast<Cognition*>(self);
            hob_result result = HOB_RESULT_COGNITION_FAILED;
            cognition.pending->guard([&] { result = with_message(cognition.run, *call); });
            return result;
        }
        static void release(void* self) noexcept { delete static_cast<Cognition*>(self); }
    };

    template <class Run>
    static hob_result call(Run& run, hob_cognition_call& call) {
        if constexpr (std::is_void_v<std::invoke_result_t<Run&, hob_cognition_call&>>) {
            run(call);
            return HOB_RESULT_OK;
        } else {
            return run(call);
        }
    }
    template <class Run>
    static hob_result with_message(Run& run, hob_cognition_call& cognition_call) {
#if HOB_EXCEPTIONS
        try {
            return call(run, cognition_call);
        } catch (const std::exception& exception) {
            const std::string_view what = exception.what();
            const std::size_t most = cognition_call.message_capacity - 1;
            const std::size_t size = what.size() < most ? what.size() : most;
            if (size > 0) std::memcpy(cognition_call.message, what.data(), size);
            cognition_call.message[size] = '\0';
            throw;
        }
#else
        return call(run, cognition_call);
#endif
    }

    struct Destroy {
        void operator()(hob_perception* perception) const noexcept { hob_perception_destroy(perception); }
    };

    /// A perception that was moved from has none.
    void rethrow() {
        if (pending_) pending_->rethrow();
    }
    Result<void> begun(const hob_frame& frame, const hob_executor* executor) {
        const hob_result code = hob_perception_begin_frame(capi(), &frame, executor);
        rethrow();
        return detail::result_of(code);
    }
    template <class Ask>
    Result<std::optional<hob_value>> asked(Ask ask) {
        hob_value value = {{0, 0}};
        const hob_result code = ask(&value);
        rethrow();
        if (code == HOB_RESULT_NO_CONSENSUS) return detail::result_of(HOB_RESULT_OK, std::optional<hob_value>());
        return detail::result_of(code, std::optional<hob_value>(value));
    }

    std::unique_ptr<detail::SharedPending> pending_;
    std::unique_ptr<hob_perception, Destroy> handle_;
};

/// A step that reads a region of its input; all zero: the whole input.
inline hob_perception_step step(hob_cognition_id cognition, const hob_rect& region = {0, 0, 0, 0},
                                uint32_t tolerance = 0) noexcept {
    return {cognition, region, nullptr, 0, tolerance, 0};
}

HOB_NAMESPACE_END

#endif  // HOBGOBLIN_PERCEPTION_HPP
