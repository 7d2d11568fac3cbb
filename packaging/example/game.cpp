// A frame loop that keeps the quality of shadows within 16.6 ms.
#include <hobgoblin/hobgoblin.hpp>
#include <iostream>

int main() {
    hob::GoblinOptions options;
    options.gpu_ms = 16.6;
    hob::Goblin goblin{options};
    hob::Setting shadows = goblin.add("shadows", {0, 4, 6, 7});
    for (int frame = 0; frame < 300; ++frame) {
        const hob::Decision decision = goblin.update();
        const double ms = 4.0 + 3.0 * shadows.choice();
        goblin.measure(decision.id, shadows, hob::Lane::gpu, ms);
    }
    std::cout << "C++, shadows " << shadows.choice() << '\n';
}
