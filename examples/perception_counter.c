// Vision over frames: reads a counter from frames that this program draws, and looks only at what changed. Most of a
// frame moves, and the counter changes in every tenth one, so that it is read about once in ten frames.
//
//     cargo build --release
//     cc -Iinclude examples/perception_counter.c -o counter -Ltarget/release -lhobgoblin -lm -Wl,-rpath,target/release

#include <hobgoblin/perception.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 320,
    HEIGHT = 180,
    DOT = 4,               // pixels of a dot of a digit, in both directions
    DIGIT_WIDTH = 4 * DOT, // 3 dots and a gap
    DIGIT_HEIGHT = 5 * DOT,
    DIGITS = 4,
    COUNTER_X = 240,
    COUNTER_Y = 12,
    FRAMES = 300
};

/// Blue, green, red, and a byte that is ignored.
typedef struct picture {
    unsigned char pixels[HEIGHT][WIDTH][4];
} picture;

/// 5 rows of 3 dots for each digit, as octal digits.
static const unsigned digit_dots[10] = {075557, 026227, 071747, 071717, 055711, 074717, 074757, 071222, 075757, 075717};

static void check(hob_result result, const char *call) {
    if (result == HOB_RESULT_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, hob_result_name(result), hob_last_error());
    exit(1);
}
#define CHECK(call) check((call), #call)

static void draw_box(picture *to, int x, int y, int width, int height, int blue, int green, int red) {
    for (int row = y; row < y + height; ++row)
        for (int column = x; column < x + width; ++column) {
            unsigned char *const pixel = to->pixels[row][column];
            pixel[0] = (unsigned char)blue, pixel[1] = (unsigned char)green, pixel[2] = (unsigned char)red;
        }
}

static void draw_digit(picture *to, int x, int y, int digit) {
    draw_box(to, x, y, DIGIT_WIDTH, DIGIT_HEIGHT, 30, 30, 30);
    for (int dot = 0; dot < 15; ++dot)
        if ((digit_dots[digit] >> (14 - dot) & 1) != 0)
            draw_box(to, x + dot % 3 * DOT, y + dot / 3 * DOT, DOT, DOT, 60, 200, 250);
}

/// A landscape that scrolls, and a number that ends at the right edge of its place.
static void draw_frame(picture *to, int frame, int number) {
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < WIDTH; ++x) draw_box(to, x, y, 1, 1, y, (x + 3 * frame) % 256, 90);
    draw_box(to, COUNTER_X, COUNTER_Y, DIGITS * DIGIT_WIDTH, DIGIT_HEIGHT, 30, 30, 30);
    int x = COUNTER_X + DIGITS * DIGIT_WIDTH;
    do {
        draw_digit(to, x -= DIGIT_WIDTH, COUNTER_Y, number % 10);
        number /= 10;
    } while (number > 0);
}

/// Adds the built-in cognition that reads a number. Its glyphs are copied.
static hob_cognition_id add_reader(hob_perception *eye) {
    static picture font;
    hob_image images[10];
    hob_glyph glyphs[10] = {0};
    for (int digit = 0; digit < 10; ++digit) {
        draw_digit(&font, digit * DIGIT_WIDTH, 0, digit);
        images[digit] = HOB_IMAGE_INIT;
        images[digit].pixels = font.pixels[0][digit * DIGIT_WIDTH];
        images[digit].width = DIGIT_WIDTH, images[digit].height = DIGIT_HEIGHT;
        images[digit].stride = sizeof font.pixels[0];
        glyphs[digit].digit = (unsigned)digit;
        glyphs[digit].image = &images[digit];
    }
    hob_operator_desc desc = HOB_OPERATOR_DESC_INIT;
    desc.kind = HOB_OPERATOR_GLYPHS;
    desc.flags = HOB_OPERATOR_COLOR | HOB_OPERATOR_RIGHT;
    desc.glyphs = glyphs;
    desc.glyph_count = 10;
    desc.max_digits = DIGITS;
    hob_cognition_id reader;
    CHECK(hob_perception_add_operator(eye, &desc, &reader));
    return reader;
}

/// A cognition of this program: the mean brightness of its region.
static hob_result see_brightness(void *runs, hob_cognition_call *call) {
    const hob_cognition_input *const input = &call->inputs[0];
    double sum = 0;
    for (unsigned y = 0; y < input->height; ++y) {
        const unsigned char *const row = (const unsigned char *)input->pixels + y * input->stride;
        for (unsigned x = 0; x < input->width; ++x) sum += row[4 * x] + row[4 * x + 1] + row[4 * x + 2];
    }
    call->value.number = sum / (3.0 * input->width * input->height);
    ++*(int *)runs;
    return HOB_RESULT_OK;
}

static hob_perception_pipeline_id add_pipeline(hob_perception *eye, hob_str name, hob_cognition_id cognition,
                                               hob_rect region) {
    hob_perception_step step = {cognition, region, NULL, 0, 0, 0};
    hob_perception_pipeline_desc desc = HOB_PERCEPTION_PIPELINE_DESC_INIT;
    desc.name = name;
    desc.state = HOB_STR("play");
    desc.steps = &step;
    desc.step_count = 1;
    hob_perception_pipeline_id pipeline;
    CHECK(hob_perception_add_pipeline(eye, &desc, &pipeline));
    return pipeline;
}

int main(void) {
    hob_perception_desc eye_desc = HOB_PERCEPTION_DESC_INIT;
    // Without these two lines the choice depends on measured times, and the counts below on the machine.
    eye_desc.graft = HOB_PERCEPTION_CHOICE_ALWAYS;
    eye_desc.prefetch = HOB_PERCEPTION_CHOICE_NEVER;
    hob_perception *eye = NULL;
    CHECK(hob_perception_create(&eye_desc, &eye));

    int brightness_runs = 0;
    hob_cognition_desc brightness_desc = HOB_COGNITION_DESC_INIT;
    brightness_desc.name = HOB_STR("brightness");
    brightness_desc.flags = HOB_COGNITION_PURE; // it depends on nothing but the pixels
    brightness_desc.perceive = see_brightness;
    brightness_desc.user_data = &brightness_runs;
    hob_cognition_id brightness;
    CHECK(hob_perception_add_cognition(eye, &brightness_desc, &brightness));

    const hob_rect place = {COUNTER_X, COUNTER_Y, DIGITS * DIGIT_WIDTH, DIGIT_HEIGHT};
    const hob_perception_pipeline_id counter = add_pipeline(eye, HOB_STR("counter"), add_reader(eye), place);
    const hob_rect sky = {0, 0, 64, 32};
    const hob_perception_pipeline_id light = add_pipeline(eye, HOB_STR("light"), brightness, sky);

    static picture canvas;
    int right = 0, agreed = 0;
    hob_value value;
    for (int frame = 0; frame < FRAMES; ++frame) {
        const int number = 7 + 13 * (frame / 10);
        draw_frame(&canvas, frame, number);
        hob_frame view = HOB_FRAME_INIT;
        view.pixels = canvas.pixels, view.width = WIDTH, view.height = HEIGHT;
        CHECK(hob_perception_begin_frame(eye, &view, NULL));
        CHECK(hob_perception_query(eye, light, 1, &value));
        CHECK(hob_perception_query(eye, counter, 1, &value));
        right += value.integer == number;
        // The last three frames must agree.
        const hob_result result = hob_perception_query(eye, counter, 3, &value);
        agreed += result == HOB_RESULT_OK && value.integer == number;
        if (result != HOB_RESULT_NO_CONSENSUS) check(result, "hob_perception_query");
    }

    hob_perception_statistics all = HOB_PERCEPTION_STATISTICS_INIT;
    CHECK(hob_perception_get_statistics(eye, &all));
    printf("%d frames: the counter was right in %d, and three frames agreed in %d\n", FRAMES, right, agreed);
    printf("ran: the counter %d times, the brightness %d times\n", (int)all.runs - brightness_runs, brightness_runs);
    printf("taken over from the last frame: %d results\n", (int)all.grafts);

    // A debugging view: outlines of the regions, and counts.
    hob_image picture_of = HOB_IMAGE_INIT;
    picture_of.pixels = canvas.pixels, picture_of.width = WIDTH, picture_of.height = HEIGHT;
    CHECK(hob_perception_draw_overlay(eye, &picture_of));
    const unsigned char *const corner = canvas.pixels[COUNTER_Y][COUNTER_X];
    printf("the counter's outline is %s\n", corner[1] > corner[2] ? "green: it did not change" : "red: it changed");
    hob_perception_destroy(eye);
    return 0;
}
