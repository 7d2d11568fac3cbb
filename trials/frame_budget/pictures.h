// Pictures of the contest: some frames of the script by contestant, and strips. A strip shows the same part of a frame
// three times: from the lowest configuration, from the goblin and from the highest configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "contest.h"

namespace frame_budget {

class Pictures {
public:
    /// Creates `directory` if it is missing; an empty name turns all pictures off.
    Pictures(std::string directory, int frame_count);

    /// Keeps the renderer's picture if this is one of the frames to show.
    void take(Renderer& renderer, int frame, const std::string& contestant);

    /// Writes a strip of each frame that has pictures of all three contestants.
    void write_strips(const std::string& left, const std::string& middle, const std::string& right) const;

private:
    std::string directory;
    std::vector<int> frames_to_show;
    std::map<int, std::map<std::string, Image>> images; ///< By frame, by contestant.
};

} // namespace frame_budget
