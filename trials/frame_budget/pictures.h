// Pictures of the run: some frames as a player drew them, and strips. A strip shows the same part of a frame three times:
// from the lowest configuration, from the player and from the highest configuration.
#pragma once

#include <string>

#include "renderer.h"

namespace frame_budget {

class Pictures {
public:
    /// Creates `directory` if it is missing; an empty name turns all pictures off.
    explicit Pictures(std::string directory);

    /// Writes the pictures if the next one is due at `part_done` of the run. `frame` was drawn just now.
    void take(Renderer& renderer, const SceneFrame& frame, double part_done);

private:
    std::string directory;
    std::size_t next = 0;
};

} // namespace frame_budget
