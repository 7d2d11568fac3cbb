typedef struct @_row {
    hob_verdict (*evaluate)(void *user_data, hob_node_call *call); /* 0: its inputs are set by the host */
    uint32_t first_pin, first_output, first_batch, flags;
    uint64_t lazy; /* bit i: input i */
} @_row;

typedef struct @_pin {
    uint32_t source1; /* number of the source + 1; 0: it has a value of its own */
    uint32_t value, flags;
} @_pin;

typedef struct @_cutoff {
    uint32_t rule;
    uint64_t epsilon; /* the bits of a double */
} @_cutoff;

typedef struct @_link {
    uint32_t reader1, pin_value, output;
} @_link;

typedef struct @_start {
    uint32_t value1;
    uint64_t words[2];
} @_start;

/* Flags of rows, of pins, and of the state of nodes. */
enum { @_WANTED = 1, @_VOLATILE = 2, @_STARTS_WITH_VALUE = 4 };
enum { @_HOLD = 1, @_FEEDBACK = 2 };
enum { @_DIRTY = 1, @_FAILED = 2, @_POISONED = 4, @_BROKEN = 6, @_HAS_VALUE = 8 };

@tables@
static int @_is_same(const hob_value *old_value, const hob_value *new_value) {
    return old_value->words[0] == new_value->words[0] && old_value->words[1] == new_value->words[1];
}

static int @_is_near(const hob_value *old_value, const hob_value *new_value, uint64_t epsilon_bits) {
    const uint64_t infinity = (uint64_t)0x7ff << 53;
    double difference, epsilon;
    if (old_value->words[1] != new_value->words[1]) return 0;
    if (old_value->words[0] == new_value->words[0]) return 1;
    if (old_value->words[0] << 1 > infinity || new_value->words[0] << 1 > infinity) /* not a number */
        return old_value->words[0] << 1 > infinity && new_value->words[0] << 1 > infinity;
    difference = old_value->number - new_value->number;
    memcpy(&epsilon, &epsilon_bits, sizeof epsilon);
    return (difference < 0 ? -difference : difference) <= epsilon;
}

/* Whether an output is unchanged, by its cut-off. */
static int @_is_equal(uint32_t output, const hob_value *old_value, const hob_value *new_value) {
    switch (@_cutoffs[output].rule) {
    case HOB_CUTOFF_NEVER: return 0;
    case HOB_CUTOFF_GENERATION: return old_value->words[1] == new_value->words[1];
    case HOB_CUTOFF_EPSILON: return @_is_near(old_value, new_value, @_cutoffs[output].epsilon);
    default: return @_is_same(old_value, new_value);
    }
}

static void @_forget_message(@ *self, uint32_t node) {
    self->message_used[self->message_of[node]] = 0;
    self->message_of[node] = 0;
}

static void @_keep_message(@ *self, uint32_t node, const char *message) {
    uint32_t at = self->message_of[node];
    for (uint32_t other = 1; at == 0 && other < @_message_room; ++other)
        if (!self->message_used[other]) at = other;
    if (at == 0) return;
    memcpy(self->messages[at], message, sizeof self->messages[at]);
    self->message_used[at] = 1;
    self->message_of[node] = (uint8_t)at;
}

/* A node has failed, or cannot run. Its outputs keep their values. */
static void @_break(@ *self, uint32_t node, uint32_t how) {
    if (!(self->state[node] & @_BROKEN)) {
        self->broken += 1;
        for (uint32_t output = @_rows[node].first_output; output < @_rows[node + 1].first_output; ++output) {
            self->changed[output] = self->frame;
            if (!(self->state[node] & @_HAS_VALUE)) self->value_changed[output] = self->frame;
        }
    }
    if (how == @_POISONED) @_forget_message(self, node);
    self->state[node] = (self->state[node] & @_HAS_VALUE) | how;
}

static void @_store(@ *self, uint32_t node, const hob_value *outputs) {
    const uint32_t state = self->state[node];
    const uint32_t first = @_rows[node].first_output, end = @_rows[node + 1].first_output;
    for (uint32_t output = first; output < end; ++output, ++outputs) {
        if ((state & @_HAS_VALUE) && @_is_equal(output, &self->values[output], outputs)) continue;
        self->values[output] = *outputs;
        self->changed[output] = self->value_changed[output] = self->frame;
    }
    if (state & @_BROKEN) {
        /* Readers run again, but for those that hold. */
        for (uint32_t output = first; output < end; ++output) self->changed[output] = self->frame;
        self->broken -= 1;
        @_forget_message(self, node);
    }
    self->state[node] = @_HAS_VALUE;
}

static int @_is_lazy(const @_row *row, uint32_t input) {
    return input < 64 && (row->lazy >> input & 1);
}

/* The number + 1 of the source of an input, if the source is not up to date yet. Otherwise 0. */
static uint32_t @_stale_source(const @ *self, const @_row *row, uint32_t input) {
    const uint32_t source1 = @_pins[row->first_pin + input].source1;
    return source1 != 0 && self->visited[source1 - 1] != self->frame ? source1 : 0;
}

static int @_has_changed(const @ *self, uint32_t node, uint32_t input) {
    const @_pin *pin = &@_pins[@_rows[node].first_pin + input];
    const uint64_t *changed = pin->flags & @_HOLD ? self->value_changed : self->changed;
    return pin->source1 != 0 && changed[pin->value] > self->checked[node];
}

/* Whether a node must run: 0, UINT32_MAX, or the number + 1 of a node that must be up to date first. */
static uint32_t @_must_run(const @ *self, uint32_t node) {
    const @_row *row = &@_rows[node];
    const uint32_t count = row[1].first_pin - row->first_pin;
    if ((self->state[node] & @_DIRTY) || (row->flags & @_VOLATILE)) return UINT32_MAX;
    for (uint32_t input = 0; input < count; ++input)
        if (!@_is_lazy(row, input) && @_has_changed(self, node, input)) return UINT32_MAX;
    /* Then the lazy inputs of the last run, in the order in which it asked for them. */
    for (uint32_t batch = 0; batch < self->batch_count[node]; ++batch) {
        const uint64_t mask = self->batches[row->first_batch + batch];
        for (uint32_t input = 0; input < 64; ++input) {
            if (!(mask >> input & 1)) continue;
            if (@_stale_source(self, row, input)) return @_stale_source(self, row, input);
            if (@_has_changed(self, node, input)) return UINT32_MAX;
        }
    }
    return 0;
}

/* Whether a source that is read has failed, and has no last good value to hold. */
static int @_is_poisoned(const @ *self, const @_row *row, uint64_t available) {
    const uint32_t count = row[1].first_pin - row->first_pin;
    for (uint32_t input = 0; self->broken > 0 && input < count; ++input) {
        const @_pin *pin = &@_pins[row->first_pin + input];
        if (pin->source1 == 0 || (@_is_lazy(row, input) && !(available >> input & 1))) continue;
        const uint32_t state = self->state[pin->source1 - 1];
        if ((state & @_BROKEN) && !((pin->flags & @_HOLD) && (state & @_HAS_VALUE))) return 1;
    }
    return 0;
}

/* Runs a node. Returns 0, or the number + 1 of a node that must be up to date first. */
static uint32_t @_run(@ *self, uint32_t node) {
    const @_row *row = &@_rows[node];
    const uint32_t input_count = row[1].first_pin - row->first_pin;
    const uint32_t output_count = row[1].first_output - row->first_output;
    for (;;) {
        uint64_t available = 0;
        for (uint32_t batch = 0; batch < self->batch_count[node]; ++batch)
            available |= self->batches[row->first_batch + batch];
        for (uint32_t input = 0; available != 0 && input < 64; ++input)
            if ((available >> input & 1) && @_stale_source(self, row, input)) return @_stale_source(self, row, input);
        self->checked[node] = self->frame;
        if (@_is_poisoned(self, row, available)) {
            @_break(self, node, @_POISONED);
            return 0;
        }
        for (uint32_t input = 0; input < input_count; ++input)
            self->inputs[input] = self->values[@_pins[row->first_pin + input].value];
        if (row->evaluate == 0) {
            self->runs += 1;
            @_store(self, node, self->inputs);
            return 0;
        }
        /* The node writes to a copy: a failure changes nothing. */
        for (uint32_t output = 0; output < output_count; ++output)
            self->outputs[output] = self->values[row->first_output + output];
        char message[sizeof self->messages[0]];
        hob_node_call call;
        memset(&call, 0, sizeof call);
        call.struct_size = sizeof call;
        call.input_count = input_count;
        call.inputs = self->inputs;
        call.outputs = self->outputs;
        call.output_count = output_count;
        call.message_capacity = sizeof message - 1;
        call.available = available;
        call.message = message;
        message[0] = 0;
        const hob_verdict verdict = row->evaluate(self->user_data[node], &call);
        const uint64_t need = call.need & row->lazy & ~available;
        if (verdict == HOB_VERDICT_NEED && need != 0) {
            self->requests += 1;
            self->batches[row->first_batch + self->batch_count[node]++] = need;
            continue;
        }
        self->runs += 1;
        if (verdict == HOB_VERDICT_DONE) {
            @_store(self, node, self->outputs);
            return 0;
        }
        if (verdict == HOB_VERDICT_NEED) {
            strcpy(message, "it asked for inputs that are not lazy, or that it has");
        } else if (verdict != HOB_VERDICT_FAILED) {
            strcpy(message, "evaluate returned a number that is not a hob_verdict");
        }
        message[sizeof message - 1] = 0;
        @_break(self, node, @_FAILED);
        @_keep_message(self, node, message);
        return 0;
    }
}

/* Goes on with a node. Returns 0 if it is up to date, or the number + 1 of a node that must be so first. */
static uint32_t @_visit(@ *self, uint32_t node, uint32_t *next) {
    const @_row *row = &@_rows[node];
    const uint32_t count = row[1].first_pin - row->first_pin;
    for (; *next < count; ++*next)
        if (!@_is_lazy(row, *next) && @_stale_source(self, row, *next)) return @_stale_source(self, row, *next);
    if (*next == count) {
        const uint32_t must_run = @_must_run(self, node);
        if (must_run != 0 && must_run != UINT32_MAX) return must_run;
        if (must_run != 0) {
            self->batch_count[node] = 0;
            *next = count + 1;
        }
    }
    if (*next > count) {
        const uint32_t source1 = @_run(self, node);
        if (source1 != 0) return source1;
    }
    self->visited[node] = self->frame;
    return 0;
}

/* Brings a node up to date. */
static void @_bring(@ *self, uint32_t root) {
    uint32_t depth = 1;
    self->path[0].node = root;
    self->path[0].next = 0;
    while (depth > 0) {
        const uint32_t source1 = @_visit(self, self->path[depth - 1].node, &self->path[depth - 1].next);
        if (source1 == 0) {
            depth -= 1;
            continue;
        }
        self->path[depth].node = source1 - 1;
        self->path[depth].next = 0;
        depth += 1;
    }
}

static int @_is_node(uint32_t node) {
    return (uint64_t)node + 1 < sizeof @_rows / sizeof @_rows[0];
}

void @_init(@ *self) {
    memset(self, 0, sizeof *self);
    for (const @_start *start = @_starts; start->value1 != 0; ++start) {
        self->values[start->value1 - 1].words[0] = start->words[0];
        self->values[start->value1 - 1].words[1] = start->words[1];
    }
    for (uint32_t node = 0; @_is_node(node); ++node)
        self->state[node] = @_DIRTY | (@_rows[node].flags & @_STARTS_WITH_VALUE ? @_HAS_VALUE : 0);
}

uint32_t @_evaluate(@ *self) {
    self->frame += 1;
    self->runs = self->requests = 0;
    for (const @_link *link = @_feedback; link->reader1 != 0; ++link) {
        if (@_is_same(&self->values[link->pin_value], &self->values[link->output])) continue;
        self->values[link->pin_value] = self->values[link->output];
        self->state[link->reader1 - 1] |= @_DIRTY;
    }
    for (uint32_t node = 0; @_is_node(node); ++node)
        if ((@_rows[node].flags & @_WANTED) && self->visited[node] != self->frame) @_bring(self, node);
    return self->broken;
}

hob_result @_set_input(@ *self, uint32_t node, uint32_t input, const hob_value *value) {
    if (!@_is_node(node)) return HOB_RESULT_NOT_FOUND;
    if (value == 0 || input >= @_rows[node + 1].first_pin - @_rows[node].first_pin)
        return HOB_RESULT_INVALID_ARGUMENT;
    const @_pin *pin = &@_pins[@_rows[node].first_pin + input];
    if (pin->source1 != 0 || (pin->flags & @_FEEDBACK)) return HOB_RESULT_INVALID_ARGUMENT;
    if (!@_is_same(&self->values[pin->value], value)) {
        self->values[pin->value] = *value;
        self->state[node] |= @_DIRTY;
    }
    return HOB_RESULT_OK;
}

hob_result @_invalidate(@ *self, uint32_t node) {
    if (!@_is_node(node)) return HOB_RESULT_NOT_FOUND;
    self->state[node] |= @_DIRTY;
    return HOB_RESULT_OK;
}

hob_result @_get_value(const @ *self, uint32_t node, uint32_t output, hob_value *out_value) {
    if (!@_is_node(node)) return HOB_RESULT_NOT_FOUND;
    if (out_value == 0 || output >= @_rows[node + 1].first_output - @_rows[node].first_output)
        return HOB_RESULT_INVALID_ARGUMENT;
    *out_value = self->values[@_rows[node].first_output + output];
    return HOB_RESULT_OK;
}

uint32_t @_is_good(const @ *self, uint32_t node) {
    return @_is_node(node) && !(self->state[node] & @_BROKEN);
}

const char *@_message(const @ *self, uint32_t node) {
    return @_is_node(node) ? self->messages[self->message_of[node]] : "";
}
