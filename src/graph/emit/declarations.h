/* The values of a graph. Its place is the host's; it holds no other memory. */
typedef struct @ {
    void *user_data[@_node_room];      /* by node: the host's, the first argument of its function */
    hob_value values[@_value_room];    /* the outputs by number of their node, then the values that pins have themselves */
    uint64_t frame;                    /* number of calls of @_evaluate */
    uint64_t runs, requests;           /* of the last frame, as in hob_evaluation_summary */
    uint32_t broken;                   /* nodes that have failed, or cannot run */
    /* The rest is private. */
    uint32_t state[@_node_room];
    uint64_t visited[@_node_room], checked[@_node_room], batches[@_batch_room];
    uint64_t changed[@_output_room], value_changed[@_output_room]; /* the latter without failures and recoveries */
    uint8_t batch_count[@_node_room], message_of[@_node_room], message_used[@_message_room];
    char messages[@_message_room][161];
    struct { uint32_t node, next; } path[@_node_room];
    hob_value inputs[@_most_inputs], outputs[@_most_outputs];
} @;

#ifdef __cplusplus
extern "C" {
#endif
/* Sets all values as they were in the graph. All nodes run in the first frame. `user_data` is the host's to set after it. */
void @_init(@ *self);
/* One frame. Returns the number of nodes that have failed, or cannot run because of one that has. */
uint32_t @_evaluate(@ *self);
/* As the functions hob_graph_... of these names. Nodes are given by number. */
hob_result @_set_input(@ *self, uint32_t node, uint32_t input, const hob_value *value);
hob_result @_invalidate(@ *self, uint32_t node);
hob_result @_get_value(const @ *self, uint32_t node, uint32_t output, hob_value *out_value);
/* 0: the node has failed, or cannot run. */
uint32_t @_is_good(const @ *self, uint32_t node);
/* The reason of a node that failed. Empty if it has not, or if more than 63 nodes have. */
const char *@_message(const @ *self, uint32_t node);
#ifdef __cplusplus
}
#endif
