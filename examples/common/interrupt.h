// Ctrl-C as a question that a loop asks.
#pragma once

namespace example {

/// From here on the first Ctrl-C is only noted; a second one ends the program at once.
void watch_for_interrupt();
bool interrupted();

} // namespace example
