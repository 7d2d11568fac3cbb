//! Experimental: Dataflow graphs, which evaluate only what changed.
//!
//! ```c
//! // hob_verdict multiply(void *user_data, hob_node_call *call) {
//! //     call->outputs[0].number = call->inputs[0].number * call->inputs[1].number;
//! //     return HOB_VERDICT_DONE;
//! // }
//! hob_graph *graph = NULL;
//! if (hob_graph_create(NULL, &graph) != HOB_RESULT_OK) fail(hob_last_error());
//!
//! hob_node_desc desc = HOB_NODE_DESC_INIT;
//! desc.node_class = HOB_NODE_CLASS_INPUT;           /* its value is set by the host */
//! desc.output_count = 1;
//! hob_node_id speed, product;
//! hob_graph_add_node(graph, &desc, &speed);
//!
//! desc.node_class = HOB_NODE_CLASS_PURE;            /* it runs only after a change of an input */
//! desc.evaluate = multiply;
//! desc.input_count = 2;
//! desc.flags = HOB_NODE_SINK;                       /* its value is wanted in every frame */
//! hob_graph_add_node(graph, &desc, &product);
//! hob_graph_connect(graph, speed, 0, product, 0);
//! hob_graph_connect(graph, speed, 0, product, 1);
//!
//! /* once a frame: */
//! hob_value value = hob_value_of_number(3);
//! hob_graph_set_input(graph, speed, 0, &value);
//! if (hob_graph_evaluate(graph, NULL, NULL, NULL) != HOB_RESULT_OK) fail(hob_last_error());
//! hob_graph_get_value(graph, product, 0, &value);   /* value.number is 9 */
//! ```
//!
//! Terms:
//! - Node: a function of the host with input and output pins. A pin is numbered from 0 on each side.
//! - Link: an output that an input reads. An output may have many links, an input has at most one.
//! - Sink: a node that is wanted in every frame. Nodes that no sink depends on do not run.
//! - Class: the causes of a change of the outputs, beside the inputs.
//! - Cut-off: the rule that decides whether an output changed. Dependants run only after a change.
//! - Lazy input: an input whose source is evaluated only if the node asks for it.
//! - Feedback link: a link that carries the value of the last frame. It may close a cycle.
//! - Frame: one complete evaluation.
//!
//! docs/graph.md has the details.

mod value;
mod node;
mod host_node;
mod create;
mod edit;
mod evaluate;
mod query;
mod statistics;
mod memory;
mod audit;
mod bake;
mod dump;
