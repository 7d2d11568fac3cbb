//! Totals and samples of a decision may come in any order.

use crate::base::Id;
use crate::goblin::*;

const GPU: usize = 0;

fn goblin() -> Goblin {
    let mut config = Config::default();
    config.limits[GPU] = 100.0;
    Goblin::new(&config).unwrap()
}

fn add(goblin: &mut Goblin, id: &str) -> Id {
    goblin.add_setting(&SettingDesc::new(id, &[OptionDesc::worth(0.0)])).unwrap()
}

fn sample(decision: u64, burden: f64) -> Sample {
    Sample { decision, lane: GPU as u32, burden, good: true }
}

#[test]
fn the_residual_is_the_same_whether_the_total_or_the_samples_come_first() {
    for is_total_first in [true, false] {
        let mut goblin = goblin();
        let (a, b) = (add(&mut goblin, "a"), add(&mut goblin, "b"));
        for frame in 0..100 {
            let decision = goblin.update().unwrap().id;
            let total = |goblin: &mut Goblin| goblin.measure_total(&sample(decision, 9.0)).unwrap();
            if is_total_first {
                total(&mut goblin);
            }
            goblin.measure(a, &sample(decision, 2.0)).unwrap();
            goblin.measure(b, &sample(decision, 3.0)).unwrap();
            if !is_total_first {
                total(&mut goblin);
            }
            let residual = goblin.residual(GPU);
            assert!(residual == 4.0 || (residual == 0.0 && frame < 10), "{residual} in frame {frame}");
        }
    }
}

#[test]
fn the_residual_includes_a_setting_that_is_never_measured() {
    let mut goblin = goblin();
    let a = add(&mut goblin, "a");
    add(&mut goblin, "never measured");
    for _ in 0..100 {
        goblin.update().unwrap();
        goblin.measure_total(&sample(0, 9.0)).unwrap();
        goblin.measure(a, &sample(0, 2.0)).unwrap();
    }
    assert_eq!(goblin.residual(GPU), 7.0);
}
