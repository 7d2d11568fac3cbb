// Ctrl-C as a flag that a loop polls.
#pragma once

namespace trials {

/// From here on the first Ctrl-C only sets a flag; a second one ends the program at once.
void watch_for_interrupt();
bool interrupted();

} // namespace trials
