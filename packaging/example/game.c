// A frame loop that keeps the quality of shadows within 16.6 ms.
#include <hobgoblin/hobgoblin.h>
#include <stdio.h>

static double draw(uint32_t shadows) { return 4.0 + 3.0 * shadows; }

int main(void) {
    if (hob_abi_version() != HOB_ABI_VERSION) return 1;
    hob_goblin_desc desc = HOB_GOBLIN_DESC_INIT;
    desc.lanes[HOB_LANE_GPU].limit = 16.6;
    hob_goblin *goblin = NULL;
    if (hob_goblin_create(&desc, &goblin) != HOB_RESULT_OK) return 1;
    const double values[] = {0, 4, 6, 7};
    hob_setting_id shadows = {0, 0};
    if (hob_goblin_add_array(goblin, HOB_STR("shadows"), values, 4, &shadows) != HOB_RESULT_OK) return 1;
    for (int frame = 0; frame < 300; ++frame) {
        hob_decision decision = HOB_DECISION_INIT;
        if (hob_goblin_update(goblin, &decision) != HOB_RESULT_OK) return 1;
        double ms = draw(hob_goblin_choice(goblin, shadows));
        if (hob_goblin_measure(goblin, decision.id, shadows, HOB_LANE_GPU, ms, HOB_SAMPLE_QUALITY_OK)) return 1;
    }
    printf("C, shadows %u\n", hob_goblin_choice(goblin, shadows));
    hob_goblin_destroy(goblin);
    return 0;
}
