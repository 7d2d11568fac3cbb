//! The manager with a driver that logs its calls, and uses with their strikes.

use std::collections::HashMap;

use super::{cached, conforming, desc, disk_with_ban, key, load, with_disk};
use crate::base::{Code, Result};
use crate::program_cache::manager::{Binary, Driver, Failure, Keys, Linked, Manager, Shader, ShaderState};
use crate::program_cache::*;
use crate::store::fault_io::FaultDisk;

/// Keys that distinguish the texts of these tests.
struct PlainKeys;

fn digest(parts: &[&[u8]]) -> Key {
    let mut key = [0; 32];
    let mut sum = 0xCBF2_9CE4_8422_2325_u64;
    for part in parts {
        let framed = (part.len() as u64).to_le_bytes();
        for byte in framed.iter().chain(*part) {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
    key[..8].copy_from_slice(&sum.to_le_bytes());
    key
}

impl Keys for PlainKeys {
    type Extra = [u8];

    fn shader(&self, stage: u32, source: &[u8]) -> Key {
        digest(&[&stage.to_le_bytes(), source])
    }

    fn program(&self, shaders: &[&mut Shader], extra: &[u8]) -> Result<Key> {
        let keys: Vec<Key> = shaders.iter().map(|shader| *shader.key()).collect();
        Ok(program_key(&keys, extra))
    }

    fn material(&self, shaders: &[&mut Shader], extra: &[u8]) -> Result<Option<Material>> {
        let mut material = Material::default();
        for shader in shaders {
            material.push(&format!("stage {}", shader.stage()), shader.compiled_source())?;
        }
        material.push("extra", extra)?;
        Ok(Some(material))
    }
}

fn program_key(shaders: &[Key], extra: &[u8]) -> Key {
    digest(&[shaders.as_flattened(), extra])
}

/// A driver that logs its calls, and fails to compile a source with "bad" in it.
#[derive(Default)]
struct FakeDriver {
    log: Vec<String>,
    compiled: HashMap<u32, String>,
    linked: String,
    refuses_binaries: bool,
    refuses_links: bool,
    has_no_binaries: bool,
    now_us: u64,
}

impl Driver for FakeDriver {
    type Error = String;

    fn compile(&mut self, shader: &Shader) -> std::result::Result<(), String> {
        let (stage, source) = (shader.stage(), String::from_utf8(shader.compiled_source().to_vec()).unwrap());
        assert_eq!(shader.object(), stage as usize + 100);
        self.log.push(format!("compile {source}"));
        self.now_us += 100;
        if source.contains("bad") {
            return Err(format!("{source} does not compile"));
        }
        self.compiled.insert(stage, source);
        Ok(())
    }

    fn link(&mut self) -> std::result::Result<(), String> {
        self.log.push("link".into());
        self.now_us += 1000;
        if self.refuses_links { Err("does not link".into()) } else { Ok(()) }
    }

    fn load(&mut self, cached: &Blob) -> bool {
        self.log.push(format!("load {}", String::from_utf8_lossy(cached.data())));
        self.now_us += 10;
        !self.refuses_binaries
    }

    fn binary(&mut self) -> Option<Binary<'_>> {
        let mut stages: Vec<_> = self.compiled.iter().collect();
        stages.sort();
        self.linked = stages.into_iter().map(|(_, source)| source.as_str()).collect::<Vec<_>>().join("+");
        let binary = Binary { format: 1, data: self.linked.as_bytes(), reflection: b"map" };
        (!self.has_no_binaries).then_some(binary)
    }

    fn now_us(&mut self) -> Option<u64> {
        Some(self.now_us)
    }
}

/// A host whose program objects live shorter than the cache.
struct Host {
    cache: OpenCache,
}

type Outcome<T> = std::result::Result<T, Failure<String>>;

impl Host {
    fn new() -> Self {
        Self { cache: with_disk(Options { limit_bytes: 1 << 20, ..conforming() }) }
    }

    fn manager(&self) -> Manager<'_, PlainKeys> {
        Manager::new(&self.cache, &PlainKeys)
    }

    fn shader(&self, driver: &mut FakeDriver, stage: u32, source: &str) -> Outcome<Shader> {
        let mut shader = Shader::new(stage, stage as usize + 100);
        shader.set_source(source.as_bytes()).unwrap();
        self.manager().compile(driver, &mut shader).map(|_| shader)
    }

    /// Compile sources, in order of their stages, and link them.
    fn run(&self, driver: &mut FakeDriver, sources: &[&str], extra: &[u8]) -> Outcome<Linked> {
        let compiled = sources.iter().zip(0..).map(|(source, stage)| self.shader(driver, stage, source));
        let mut shaders = compiled.collect::<Outcome<Vec<_>>>()?;
        self.manager().link(driver, &mut shaders.iter_mut().collect::<Vec<_>>(), extra, 0)
    }

    /// [`run`](Self::run) on a new driver that works. Returns the calls of the driver in order.
    fn asked(&self, sources: &[&str], extra: &[u8]) -> Vec<String> {
        let mut driver = FakeDriver::default();
        if let Linked::Loaded(_, token) = self.run(&mut driver, sources, extra).unwrap() {
            self.cache.end_use(token, Verdict::Accepted).unwrap();
        }
        driver.log
    }

    fn saves(&self) -> u64 {
        self.cache.disk().requested()[0]
    }
}

const BUILD: [&str; 3] = ["compile vs", "compile fs", "link"];

#[test]
fn a_good_compile_is_recorded_and_a_failed_one_is_not() {
    let host = Host::new();
    let mut driver = FakeDriver::default();
    let good = host.shader(&mut driver, 0, "vs").unwrap();
    assert_eq!(
        (good.state(), host.cache.memory().compile_status(good.key())),
        (ShaderState::Compiled, Status::Succeeded)
    );
    let failure = host.shader(&mut driver, 0, "bad vs").err().unwrap();
    assert!(matches!(failure, Failure::Compile(0, text) if text == "bad vs does not compile"));
    assert_eq!(host.cache.memory().compile_status(&PlainKeys.shader(0, b"bad vs")), Status::Unknown);
}

#[test]
fn a_shader_whose_status_is_cached_is_not_compiled() {
    let host = Host::new();
    host.shader(&mut FakeDriver::default(), 0, "vs").unwrap();
    let mut driver = FakeDriver::default();
    let again = host.shader(&mut driver, 0, "vs").unwrap();
    assert_eq!((again.state(), driver.log.len()), (ShaderState::Deferred, 0));
}

#[test]
fn a_cached_program_is_loaded_without_any_compile_or_link_and_not_saved_again() {
    let host = Host::new();
    assert_eq!(host.asked(&["vs", "fs"], b""), BUILD);
    assert_eq!(host.asked(&["vs", "fs"], b""), ["load vs+fs"]);
    assert_eq!(host.saves(), 1);
}

#[test]
fn program_miss_compiles_only_deferred_shaders() {
    let host = Host::new();
    host.asked(&["vs", "fs"], b"");
    assert_eq!(host.asked(&["vs", "other fs"], b""), ["compile other fs", "compile vs", "link"]);
    assert_eq!(host.asked(&["vs", "fs"], b"other attributes"), BUILD);
    assert_eq!(host.saves(), 3);
}

#[test]
fn a_load_that_the_driver_rejects_compiles_all_links_and_saves_once() {
    let host = Host::new();
    host.asked(&["vs", "fs"], b"");
    let mut driver = FakeDriver { refuses_binaries: true, ..FakeDriver::default() };
    assert!(matches!(host.run(&mut driver, &["vs", "fs"], b""), Ok(Linked::Built(_, Some(Ok(Put::Stored))))));
    assert_eq!(driver.log, ["load vs+fs", "compile vs", "compile fs", "link"]);
    assert_eq!(host.cache.disk().requested(), [2, 1, 1, 0], "saved once more, and the rejected one removed");
    assert_eq!(host.cache.memory().statistics().unwrap().left(Reason::Rejected), 1);
    assert_eq!(
        (host.cache.statistics().unwrap().uses_open, host.asked(&["vs", "fs"], b"")),
        (0, vec!["load vs+fs".to_string()])
    );
}

#[test]
fn when_the_link_after_a_rejected_load_fails_the_host_gets_that_error_and_nothing_is_saved() {
    let host = Host::new();
    host.asked(&["vs", "fs"], b"");
    let mut driver = FakeDriver { refuses_binaries: true, refuses_links: true, ..FakeDriver::default() };
    let failure = host.run(&mut driver, &["vs", "fs"], b"").unwrap_err();
    assert!(matches!(failure, Failure::Link(text) if text == "does not link"));
    assert_eq!((host.saves(), host.cache.memory().statistics().unwrap().entries), (1, 0));
}

#[test]
fn when_a_compile_after_a_rejected_load_fails_the_host_gets_that_error_and_nothing_is_saved() {
    let host = Host::new();
    // Cached by a driver that took what this one does not.
    let shaders = [PlainKeys.shader(0, b"vs"), PlainKeys.shader(1, b"bad fs")];
    let program = Program { data: b"old", stages: &shaders, ..Program::default() };
    load(&host.cache, &program_key(&shaders, b""), &program, Wanted::Now);
    let mut driver = FakeDriver { refuses_binaries: true, ..FakeDriver::default() };
    let failure = host.run(&mut driver, &["vs", "bad fs"], b"").unwrap_err();
    assert!(matches!(failure, Failure::Compile(1, text) if text == "bad fs does not compile"));
    assert_eq!(driver.log, ["load old", "compile vs", "compile bad fs"]);
    assert_eq!((host.saves(), host.cache.memory().statistics().unwrap().entries), (0, 0));
}

#[test]
fn another_source_other_attributes_or_another_stage_is_another_program() {
    let host = Host::new();
    host.asked(&["vs", "fs"], b"test:512");
    for extra in [&b"different!:59"[..], b""] {
        assert_eq!(host.asked(&["vs", "fs"], extra).last().unwrap(), "link");
    }
    assert_eq!(host.asked(&["vs", "fs"], b"test:512"), ["load vs+fs"]);
    assert_eq!(host.asked(&["other vs", "fs"], b"test:512").last().unwrap(), "link");
    assert_eq!(host.asked(&["fs", "vs"], b"test:512").last().unwrap(), "link");
}

#[test]
fn the_source_at_the_time_of_the_compile_counts_even_if_it_was_replaced_after() {
    let host = Host::new();
    host.asked(&["vs", "fs"], b"");
    let mut driver = FakeDriver::default();
    let mut vertex = host.shader(&mut driver, 0, "vs").unwrap();
    let mut fragment = host.shader(&mut driver, 1, "fs").unwrap();
    vertex.set_source(b"vs that was never compiled").unwrap();
    let mut link = |extra: &[u8], driver: &mut FakeDriver| {
        host.manager().link(driver, &mut [&mut vertex, &mut fragment], extra, 0).unwrap()
    };
    assert!(matches!(link(b"", &mut driver), Linked::Loaded(..)));
    link(b"missed", &mut driver);
    assert_eq!(driver.log, ["load vs+fs", "compile vs", "compile fs", "link"]);
    host.manager().compile(&mut driver, &mut vertex).unwrap();
    assert_eq!(driver.log.last().unwrap(), "compile vs that was never compiled");
}

#[test]
fn a_shader_that_was_not_compiled_is_named() {
    let host = Host::new();
    let mut driver = FakeDriver::default();
    let (mut vertex, mut fragment) = (host.shader(&mut driver, 0, "vs").unwrap(), Shader::new(1, 101));
    let failure = host.manager().link(&mut driver, &mut [&mut vertex, &mut fragment], b"", 0).unwrap_err();
    assert!(matches!(failure, Failure::NotCompiled(1)));
    assert_eq!(driver.log, ["compile vs"]);
}

#[test]
fn one_stage_or_five_make_a_program_as_two_do() {
    let host = Host::new();
    for sources in [&["cs"][..], &["vs", "tcs", "tes", "gs", "fs"]] {
        assert_eq!(host.asked(sources, b"").len(), sources.len() + 1);
        assert_eq!(host.asked(sources, b""), [format!("load {}", sources.join("+"))]);
    }
}

#[test]
fn link_of_a_cached_program_moves_it_to_the_link_s_group() {
    let options = Options { policy: Policy::Groups, counted: Counted::Data, limit_bytes: 20, ..Options::default() };
    let host = Host { cache: super::cache(options) };
    let link = |source: &str, group| {
        let mut driver = FakeDriver::default();
        let mut shader = host.shader(&mut driver, 0, source).unwrap();
        host.manager().link(&mut driver, &mut [&mut shader], b"", group).unwrap()
    };
    // Programs of 5 bytes: four fit.
    for (source, group) in [("aaaaa", 1), ("bbbbb", 1), ("ccccc", 2), ("ddddd", 2)] {
        assert!(matches!(link(source, group), Linked::Built(..)));
    }
    assert!(matches!(link("aaaaa", 3), Linked::Loaded(..)));
    assert!(matches!(link("eeeee", 3), Linked::Built(..)));
    assert!(matches!(link("bbbbb", 1), Linked::Built(..)), "it was alone in the oldest group");
    assert!(matches!(link("aaaaa", 3), Linked::Loaded(..)));
}

#[test]
fn a_driver_without_binaries_still_links() {
    let host = Host::new();
    let mut driver = FakeDriver { has_no_binaries: true, ..FakeDriver::default() };
    assert!(matches!(host.run(&mut driver, &["vs", "fs"], b""), Ok(Linked::Built(_, None))));
    assert_eq!((host.saves(), host.cache.memory().statistics().unwrap().puts), (0, 0));
}

#[test]
fn hits_misses_and_statuses_are_timed_and_the_build_cost_is_kept() {
    let host = Host::new();
    host.asked(&["vs", "fs"], b"");
    host.asked(&["vs", "fs"], b"");
    host.asked(&["vs", "fs"], b"other");
    let statistics = host.cache.memory().statistics().unwrap();
    let times = |measure| {
        let histogram = statistics.histogram(measure);
        (histogram.count(), histogram.sum())
    };
    assert_eq!(times(Measure::StatusMissMicros), (2, 200));
    assert_eq!(times(Measure::StatusHitMicros), (4, 0));
    assert_eq!(times(Measure::HitMicros), (1, 10));
    assert_eq!(times(Measure::MissMicros), (2, 1000 + 1200));
    let shaders = [PlainKeys.shader(0, b"vs"), PlainKeys.shader(1, b"fs")];
    for extra in [&b""[..], b"other"] {
        let cached = host.cache.get(&program_key(&shaders, extra)).unwrap();
        assert_eq!((cached.cost_us(), cached.stages()), (1200, &shaders[..]), "two compiles and a link");
    }
}

/// The strikes' statistics: uses in flight, and uses noted so far.
fn noted(cache: &Cache) -> (u32, u64) {
    let found = cache.statistics().unwrap().quarantine;
    (found.in_flight, found.noted)
}

fn begin(cache: &Cache, number: u64) -> UseToken {
    cache.begin_use(&key(number)).unwrap().unwrap()
}

fn uses_open(cache: &Cache) -> u32 {
    cache.statistics().unwrap().uses_open
}

#[test]
fn use_is_noted_before_the_driver_sees_it_and_ends_once() {
    let cache = with_disk(conforming());
    super::put(&cache, 1, 10);
    let token = begin(&cache, 1);
    assert_eq!((noted(&cache), uses_open(&cache)), ((1, 1), 1));
    cache.end_use(token, Verdict::Accepted).unwrap();
    assert_eq!((noted(&cache), uses_open(&cache)), ((0, 1), 0));
    let again = cache.end_use(token, Verdict::Rejected).unwrap_err();
    assert_eq!((again.code(), cached(&cache, [1])), (Code::NotFound, vec![1]));
    assert!(cache.end_use(UseToken::default(), Verdict::Rejected).is_err());
}

#[test]
fn key_stays_noted_until_the_last_of_its_uses_ends() {
    let disk = FaultDisk::default();
    let io = disk.process();
    let cache = Cache::open(desc(Some(io.clone()), conforming())).unwrap();
    let (one, _other) = (begin(&cache, 1), begin(&cache, 1));
    cache.end_use(one, Verdict::Accepted).unwrap();
    assert_eq!(noted(&cache).0, 1);
    io.kill();
    let next = Cache::open(desc(Some(disk.process()), conforming())).unwrap();
    assert_eq!(next.strikes(&key(1)), (1, false), "the driver still had it");
}

#[test]
fn rejected_program_is_removed_unless_it_was_put_again() {
    let cache = with_disk(conforming());
    super::put(&cache, 1, 10);
    cache.end_use(begin(&cache, 1), Verdict::Rejected).unwrap();
    assert!(cached(&cache, [1]).is_empty());
    super::put(&cache, 1, 10);
    let token = begin(&cache, 1);
    super::put(&cache, 1, 20);
    cache.end_use(token, Verdict::Rejected).unwrap();
    assert_eq!(cache.get(&key(1)).unwrap().data().len(), 20);
}

#[test]
fn accepted_use_takes_a_strike_back_and_an_unused_one_does_not() {
    let disk = FaultDisk::default();
    let io = disk.process();
    let crashed = Cache::open(desc(Some(io.clone()), conforming())).unwrap();
    let _open = begin(&crashed, 1);
    io.kill();
    let cache = Cache::open(desc(Some(disk.process()), conforming())).unwrap();
    super::put(&cache, 1, 10);
    cache.end_use(begin(&cache, 1), Verdict::Unused).unwrap();
    assert_eq!((cache.strikes(&key(1)).0, cached(&cache, [1])), (1, vec![1]));
    cache.end_use(begin(&cache, 1), Verdict::Accepted).unwrap();
    assert_eq!((cache.strikes(&key(1)).0, cached(&cache, [1])), (0, vec![1]));
}

#[test]
fn use_of_another_cache_is_unknown() {
    let (one, other) = (with_disk(conforming()), with_disk(conforming()));
    for _ in 0..100 {
        let (of_one, of_other) = (begin(&one, 1), begin(&other, 1));
        let why = one.end_use(of_other, Verdict::Rejected).unwrap_err();
        assert_eq!((why.code(), uses_open(&one)), (Code::NotFound, 1));
        assert_eq!(other.end_use(of_one, Verdict::Accepted).unwrap_err().code(), Code::NotFound);
        one.end_use(of_one, Verdict::Accepted).unwrap();
        other.end_use(of_other, Verdict::Accepted).unwrap();
    }
}

#[test]
fn banned_key_is_built_from_source_and_not_stored_until_it_is_forgiven() {
    let shaders = [PlainKeys.shader(0, b"vs")];
    let program = program_key(&shaders, b"");
    let cache = Cache::open(desc(Some(disk_with_ban(&program).process()), conforming())).unwrap();
    assert!(cache.begin_use(&program).unwrap().is_none());
    let mut driver = FakeDriver::default();
    let mut shader = Shader::new(0, 100);
    shader.set_source(b"vs").unwrap();
    let manager = Manager::new(&cache, &PlainKeys);
    manager.compile(&mut driver, &mut shader).unwrap();
    let mut link = || manager.link(&mut driver, &mut [&mut shader], b"", 0).unwrap();
    assert!(matches!(link(), Linked::Built(_, Some(Ok(Put::Refused(Refusal::Banned))))));
    assert_eq!((noted(&cache), cache.memory().statistics().unwrap().banned), ((0, 0), 1));
    assert_eq!(cache.strikes(&program), (2, true));
    cache.forgive(Some(&program)).unwrap();
    assert_eq!(cache.strikes(&program), (0, false));
    assert!(matches!(link(), Linked::Built(_, Some(Ok(Put::Stored)))));
    assert!(matches!(link(), Linked::Loaded(..)));
    assert_eq!(driver.log, ["compile vs", "link", "link", "load vs"]);
}

#[test]
fn banned_program_on_disk_is_not_loaded() {
    let disk = FaultDisk::default();
    let before = Cache::open(desc(Some(disk.process()), conforming())).unwrap();
    super::put(&before, 1, 10);
    drop(before);
    for expected in [Some(10), Some(10), None] {
        let io = disk.process();
        let cache = Cache::open(desc(Some(io.clone()), conforming())).unwrap();
        let found = cache.get_wait(&key(1), std::time::Duration::MAX).unwrap();
        assert_eq!(found.map(|blob| blob.data().len()), expected);
        let _ = cache.begin_use(&key(1)).unwrap();
        io.kill();
    }
}

#[test]
fn explanation_of_a_miss_names_the_ban_in_its_own_environment_only() {
    let disk = disk_with_ban(&key(1));
    let cache = Cache::open(desc(Some(disk.process()), Options { described_keys: 4, ..conforming() })).unwrap();
    let mut material = Material::default();
    material.push("stage 0", b"vs").unwrap();
    let whereabouts = || cache.why_missed(&material).unwrap().unwrap().whereabouts;
    cache.memory().recall(9, &key(1), material.clone()).unwrap();
    assert_eq!(whereabouts(), Whereabouts::OtherEnvironment);
    cache.describe(&key(1), &material).unwrap();
    assert_eq!(whereabouts(), Whereabouts::Banned);
    assert!(cache.why_missed(&material).unwrap().unwrap().to_string().contains("it is banned"));
    load(&cache, &key(1), &Program::default(), Wanted::Now);
    assert_eq!(whereabouts(), Whereabouts::InMemory, "it was not missed yet");
    cache.remove(&key(1)).unwrap();
    assert_eq!(whereabouts(), Whereabouts::Banned);
    cache.forgive(Some(&key(1))).unwrap();
    assert_eq!(whereabouts(), Whereabouts::Left(Reason::Removed));
}

#[test]
fn built_program_is_described() {
    let host = Host { cache: with_disk(Options { limit_bytes: 1 << 20, described_keys: 4, ..conforming() }) };
    host.asked(&["vs", "fs"], b"a");
    let mut material = Material::default();
    for (label, value) in [("stage 0", "vs"), ("stage 1", "fs"), ("extra", "b")] {
        material.push(label, value.as_bytes()).unwrap();
    }
    let why = host.cache.why_missed(&material).unwrap().unwrap();
    let nearest = program_key(&[PlainKeys.shader(0, b"vs"), PlainKeys.shader(1, b"fs")], b"a");
    assert_eq!((why.nearest, why.whereabouts, why.differences.len()), (nearest, Whereabouts::InMemory, 1));
}
