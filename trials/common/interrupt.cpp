#include "interrupt.h"

#include <csignal>

namespace trials {

namespace {

volatile std::sig_atomic_t was_interrupted = 0;

extern "C" void note_interrupt(int) {
    was_interrupted = 1;
    std::signal(SIGINT, SIG_DFL);
}

} // namespace

void watch_for_interrupt() { std::signal(SIGINT, note_interrupt); }
bool interrupted() { return was_interrupted != 0; }

} // namespace trials
