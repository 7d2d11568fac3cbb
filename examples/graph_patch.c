// graph_patch.c: a patch of a visual program, with hob_graph, in C.
//
// An animation, a value of the user, and large data that is built on demand. It shows nodes of four classes, a lazy
// input, a feedback link, an owned value, a cycle that is refused, a failure, and what ran in each frame and why.
//
// Build and run it in the repository:
//
//     cargo build --release
//     cc -Iinclude examples/graph_patch.c -o graph_patch -Ltarget/release -lhobgoblin -lm -Wl,-rpath,target/release
//     ./graph_patch

#include <hobgoblin/graph.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(hob_result result) {
    if (result == HOB_RESULT_OK) return;
    fprintf(stderr, "%s: %s\n", hob_result_name(result), hob_last_error());
    exit(1);
}

// ---- The functions of nodes. user_data is what one node keeps for itself.

// Volatile: another value in every frame.
static hob_verdict count_frames(void *user_data, hob_node_call *call) {
    double *frame = user_data;
    call->outputs[0].number = ++*frame;
    return HOB_VERDICT_DONE;
}

static hob_verdict multiply(void *user_data, hob_node_call *call) {
    (void)user_data;
    call->outputs[0].number = call->inputs[0].number * call->inputs[1].number;
    return HOB_VERDICT_DONE;
}

static hob_verdict sine(void *user_data, hob_node_call *call) {
    (void)user_data;
    call->outputs[0].number = sin(call->inputs[0].number);
    return HOB_VERDICT_DONE;
}

// An average over frames: input 1 is its own output in the last frame, by a feedback link.
static hob_verdict smooth(void *user_data, hob_node_call *call) {
    (void)user_data;
    call->outputs[0].number = 0.75 * call->inputs[1].number + 0.25 * call->inputs[0].number;
    return HOB_VERDICT_DONE;
}

// Large data behind a pointer. The graph owns it: it releases the old data when the node makes new data.
static hob_verdict generate(void *user_data, hob_node_call *call) {
    (void)user_data;
    const int count = (int)call->inputs[0].number;
    if (count <= 0 || count > 1000000) {
        snprintf(call->message, call->message_capacity, "cannot generate %d points", count);
        return HOB_VERDICT_FAILED;
    }
    double *points = malloc(sizeof(double) * (size_t)count);
    if (points == NULL) {
        snprintf(call->message, call->message_capacity, "out of memory");
        return HOB_VERDICT_FAILED;
    }
    for (int n = 0; n < count; ++n) points[n] = n;
    call->outputs[0] = hob_value_of_pointer(points);
    return HOB_VERDICT_DONE;
}

static void free_points(void *user_data, uint32_t output, const hob_value *value) {
    (void)user_data;
    (void)output;
    free(value->pointer);
}

// Input 0: whether to build. Input 1, lazy: the data, which is generated only if it is asked for.
static hob_verdict build(void *user_data, hob_node_call *call) {
    (void)user_data;
    if (call->inputs[0].number == 0) {
        call->outputs[0].number = 0;
        return HOB_VERDICT_DONE;
    }
    if ((call->available & 2) == 0) {
        call->need = 2;
        return HOB_VERDICT_NEED;
    }
    const double *points = call->inputs[1].pointer;
    call->outputs[0].number = points[1];
    return HOB_VERDICT_DONE;
}

// ---- The patch.

static hob_node_id add(hob_graph *graph, hob_str name, hob_node_class node_class,
                       hob_verdict (*evaluate)(void *, hob_node_call *), size_t inputs, void *user_data) {
    hob_node_desc desc = HOB_NODE_DESC_INIT;
    hob_node_id node;
    desc.name = name;
    desc.node_class = node_class;
    desc.evaluate = evaluate;
    desc.user_data = user_data;
    desc.input_count = inputs;
    desc.output_count = 1;
    must(hob_graph_add_node(graph, &desc, &node));
    return node;
}

static void set(hob_graph *graph, hob_node_id node, uint32_t input, double number) {
    const hob_value value = hob_value_of_number(number);
    must(hob_graph_set_input(graph, node, input, &value));
}

static double get(const hob_graph *graph, hob_node_id node) {
    hob_value value;
    must(hob_graph_get_value(graph, node, 0, &value));
    return value.number;
}

static void print_reason(const hob_graph *graph, hob_node_id node) {
    char text[400];
    size_t size;
    must(hob_graph_get_reason_text(graph, node, text, sizeof text, &size));
    printf("  %.*s\n", (int)size, text);
}

static void frame(hob_graph *graph, const char *what) {
    hob_evaluation_summary summary = HOB_EVALUATION_SUMMARY_INIT;
    must(hob_graph_evaluate(graph, NULL, NULL, &summary));
    printf("%s: %d nodes ran, %d broken\n", what, (int)summary.runs, (int)summary.broken);
}

int main(void) {
    hob_graph *graph = NULL;
    must(hob_graph_create(NULL, &graph));

    double frames = 0;
    const hob_node_id time = add(graph, HOB_STR("time"), HOB_NODE_CLASS_VOLATILE, count_frames, 0, &frames);
    const hob_node_id speed = add(graph, HOB_STR("speed"), HOB_NODE_CLASS_INPUT, NULL, 0, NULL);
    const hob_node_id phase = add(graph, HOB_STR("phase"), HOB_NODE_CLASS_PURE, multiply, 2, NULL);
    const hob_node_id wave = add(graph, HOB_STR("wave"), HOB_NODE_CLASS_PURE, sine, 1, NULL);
    const hob_node_id tuning = add(graph, HOB_STR("tuning"), HOB_NODE_CLASS_CONSTANT, sine, 1, NULL);
    const hob_node_id height = add(graph, HOB_STR("height"), HOB_NODE_CLASS_PURE, multiply, 2, NULL);
    const hob_node_id smoothed = add(graph, HOB_STR("smoothed"), HOB_NODE_CLASS_PURE, smooth, 2, NULL);
    const hob_node_id apply = add(graph, HOB_STR("apply"), HOB_NODE_CLASS_INPUT, NULL, 0, NULL);

    const hob_node_output owned = {HOB_CUTOFF_BYTES, HOB_NODE_OUTPUT_OWNED, 0, {{0, 0}}};
    const hob_node_input pins[] = {{0, 0, {{0, 0}}}, {HOB_NODE_INPUT_LAZY, 0, {{0, 0}}}};
    hob_node_desc desc = HOB_NODE_DESC_INIT;
    hob_node_id data, builder;
    desc.name = HOB_STR("data");
    desc.node_class = HOB_NODE_CLASS_PURE;
    desc.evaluate = generate;
    desc.release_value = free_points;
    desc.input_count = 1;
    desc.outputs = &owned;
    desc.output_count = 1;
    must(hob_graph_add_node(graph, &desc, &data));
    desc = HOB_NODE_DESC_INIT;
    desc.name = HOB_STR("builder");
    desc.node_class = HOB_NODE_CLASS_PURE;
    desc.evaluate = build;
    desc.inputs = pins;
    desc.input_count = 2;
    desc.output_count = 1;
    desc.flags = HOB_NODE_SINK;
    must(hob_graph_add_node(graph, &desc, &builder));

    must(hob_graph_connect(graph, time, 0, phase, 0));
    must(hob_graph_connect(graph, speed, 0, phase, 1));
    must(hob_graph_connect(graph, phase, 0, wave, 0));
    must(hob_graph_connect(graph, wave, 0, height, 0));
    must(hob_graph_connect(graph, tuning, 0, height, 1));
    must(hob_graph_connect(graph, height, 0, smoothed, 0));
    must(hob_graph_connect_feedback(graph, smoothed, 0, smoothed, 1));
    must(hob_graph_connect(graph, apply, 0, builder, 0));
    must(hob_graph_connect(graph, data, 0, builder, 1));
    must(hob_graph_set_sink(graph, smoothed, 1));
    if (hob_graph_connect(graph, height, 0, phase, 0) != HOB_RESULT_OK) printf("refused: %s\n", hob_last_error());

    set(graph, speed, 0, 0.1);
    set(graph, tuning, 0, 1);
    frame(graph, "first frame");
    for (int n = 0; n < 3; ++n) frame(graph, "later frame"); // time, phase, wave, height, smoothed
    print_reason(graph, tuning);
    print_reason(graph, data);
    printf("  height %.4f\n", get(graph, height));

    set(graph, apply, 0, 1); // now the data is wanted, but nobody has set its number of points
    frame(graph, "apply");
    print_reason(graph, builder);
    set(graph, data, 0, 1000);
    frame(graph, "1000 points");
    printf("  built from %.0f\n", get(graph, builder));
    hob_graph_destroy(graph);
    return 0;
}
