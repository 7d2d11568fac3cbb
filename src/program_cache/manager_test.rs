//! The manager with a driver that writes down what is asked of it, and the protocol against poisoned programs.

use std::collections::HashMap;
use std::sync::Mutex;

use super::manager::{Binary, Driver, Failure, Keys, Linked, Manager, Shader, ShaderState};
use super::tests::{CountingDisk, cached, conforming, key, with_disk};
use super::*;

/// Keys that are good enough to tell the texts of these tests apart.
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

/// A driver to which a source with "bad" in it does not compile, and which writes down what happened.
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

/// A host whose program objects come and go while the cache stays.
struct Host {
    cache: ProgramCache,
    disk: Arc<CountingDisk>,
}

type Outcome<T> = std::result::Result<T, Failure<String>>;

impl Host {
    fn new() -> Self {
        let (cache, disk) = with_disk(Options { limit_bytes: 1 << 20, ..conforming() });
        Self { cache, disk }
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

    /// The same on a new driver that works; what it was asked for, in order.
    fn asked(&self, sources: &[&str], extra: &[u8]) -> Vec<String> {
        let mut driver = FakeDriver::default();
        if let Linked::Loaded(_, token) = self.run(&mut driver, sources, extra).unwrap() {
            self.cache.use_end(token, Verdict::Accepted).unwrap();
        }
        driver.log
    }

    fn saves(&self) -> u64 {
        self.disk.told()[0]
    }
}

const BUILD: [&str; 3] = ["compile vs", "compile fs", "link"];

#[test]
fn a_good_compile_is_recorded_and_a_failed_one_is_not() {
    let host = Host::new();
    let mut driver = FakeDriver::default();
    let good = host.shader(&mut driver, 0, "vs").unwrap();
    assert_eq!((good.state(), host.cache.compile_status(good.key())), (ShaderState::Compiled, Status::Succeeded));
    let failure = host.shader(&mut driver, 0, "bad vs").err().unwrap();
    assert!(matches!(failure, Failure::Compile(0, text) if text == "bad vs does not compile"));
    assert_eq!(host.cache.compile_status(&PlainKeys.shader(0, b"bad vs")), Status::Unknown);
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
fn a_program_miss_compiles_only_what_was_put_off() {
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
    assert_eq!(host.disk.told(), [2, 1, 1, 0], "saved once more, and the rejected one removed");
    assert_eq!(host.cache.statistics().unwrap().left(Reason::Rejected), 1);
    assert_eq!((host.cache.open_uses(), host.asked(&["vs", "fs"], b"")), (0, vec!["load vs+fs".to_string()]));
}

#[test]
fn when_the_link_after_a_rejected_load_fails_the_host_gets_that_error_and_nothing_is_saved() {
    let host = Host::new();
    host.asked(&["vs", "fs"], b"");
    let mut driver = FakeDriver { refuses_binaries: true, refuses_links: true, ..FakeDriver::default() };
    let failure = host.run(&mut driver, &["vs", "fs"], b"").unwrap_err();
    assert!(matches!(failure, Failure::Link(text) if text == "does not link"));
    assert_eq!((host.saves(), host.cache.statistics().unwrap().entries), (1, 0));
}

#[test]
fn when_a_compile_after_a_rejected_load_fails_the_host_gets_that_error_and_nothing_is_saved() {
    let host = Host::new();
    // Cached by a driver that took what this one does not.
    let shaders = [PlainKeys.shader(0, b"vs"), PlainKeys.shader(1, b"bad fs")];
    let program = Program { data: b"old", stages: &shaders, ..Program::default() };
    host.cache.load(&program_key(&shaders, b""), &program, Wanted::Now).unwrap();
    let mut driver = FakeDriver { refuses_binaries: true, ..FakeDriver::default() };
    let failure = host.run(&mut driver, &["vs", "bad fs"], b"").unwrap_err();
    assert!(matches!(failure, Failure::Compile(1, text) if text == "bad fs does not compile"));
    assert_eq!(driver.log, ["load old", "compile vs", "compile bad fs"]);
    assert_eq!((host.saves(), host.cache.statistics().unwrap().entries), (0, 0));
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
fn a_driver_without_binaries_still_links() {
    let host = Host::new();
    let mut driver = FakeDriver { has_no_binaries: true, ..FakeDriver::default() };
    assert!(matches!(host.run(&mut driver, &["vs", "fs"], b""), Ok(Linked::Built(_, None))));
    assert_eq!((host.saves(), host.cache.statistics().unwrap().puts), (0, 0));
}

#[test]
fn hits_misses_and_statuses_are_timed_and_the_build_cost_is_kept() {
    let host = Host::new();
    host.asked(&["vs", "fs"], b"");
    host.asked(&["vs", "fs"], b"");
    host.asked(&["vs", "fs"], b"other");
    let statistics = host.cache.statistics().unwrap();
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

/// Writes down what it is told, and bans what a test says.
#[derive(Default)]
struct FakeQuarantine {
    log: Mutex<Vec<(&'static str, Key)>>,
    banned: Mutex<Vec<Key>>,
}

impl FakeQuarantine {
    fn note(&self, what: &'static str, key: &Key) {
        self.log.lock().unwrap().push((what, *key));
    }

    fn log(&self) -> Vec<&'static str> {
        self.log.lock().unwrap().iter().map(|(what, _)| *what).collect()
    }
}

impl Quarantine for FakeQuarantine {
    fn begin(&self, key: &Key) -> Result<()> {
        self.note("begin", key);
        Ok(())
    }
    fn end(&self, key: &Key, verdict: Verdict) {
        let what = match verdict {
            Verdict::Accepted => "accepted",
            Verdict::Rejected => "rejected",
            Verdict::Unused => "unused",
        };
        self.note(what, key);
    }
    fn is_banned(&self, key: &Key) -> bool {
        self.banned.lock().unwrap().contains(key)
    }
    fn forgive(&self, key: &Key) -> bool {
        let mut banned = self.banned.lock().unwrap();
        let before = banned.len();
        banned.retain(|other| other != key);
        banned.len() < before
    }
}

fn quarantined() -> (ProgramCache, Arc<FakeQuarantine>) {
    let quarantine = Arc::new(FakeQuarantine::default());
    let partners = Partners { disk: None, quarantine: Some(quarantine.clone()) };
    (ProgramCache::new(conforming(), partners).unwrap(), quarantine)
}

#[test]
fn a_use_is_noted_before_the_driver_sees_it_and_ends_once() {
    let (cache, quarantine) = quarantined();
    super::tests::put(&cache, 1, 10);
    let token = cache.use_begin(&key(1)).unwrap().unwrap();
    assert_eq!((quarantine.log(), cache.open_uses()), (vec!["begin"], 1));
    cache.use_end(token, Verdict::Accepted).unwrap();
    assert_eq!((quarantine.log(), cache.open_uses()), (vec!["begin", "accepted"], 0));
    let again = cache.use_end(token, Verdict::Rejected).unwrap_err();
    assert_eq!((again.code(), cached(&cache, [1])), (crate::base::Code::NotFound, vec![1]));
    assert!(cache.use_end(UseToken::default(), Verdict::Rejected).is_err());
}

#[test]
fn two_uses_of_one_key_at_once_are_one_to_the_quarantine() {
    let (cache, quarantine) = quarantined();
    let (one, other) = (cache.use_begin(&key(1)).unwrap().unwrap(), cache.use_begin(&key(1)).unwrap().unwrap());
    cache.use_end(one, Verdict::Accepted).unwrap();
    assert_eq!(quarantine.log(), ["begin"], "the driver still has it");
    cache.use_end(other, Verdict::Accepted).unwrap();
    assert_eq!(quarantine.log(), ["begin", "accepted"]);
}

#[test]
fn a_rejected_program_is_removed_unless_it_was_put_again_since() {
    let (cache, _) = quarantined();
    super::tests::put(&cache, 1, 10);
    let token = cache.use_begin(&key(1)).unwrap().unwrap();
    cache.use_end(token, Verdict::Rejected).unwrap();
    assert!(cached(&cache, [1]).is_empty());
    super::tests::put(&cache, 1, 10);
    let token = cache.use_begin(&key(1)).unwrap().unwrap();
    super::tests::put(&cache, 1, 20);
    cache.use_end(token, Verdict::Rejected).unwrap();
    assert_eq!(cache.get(&key(1)).unwrap().data().len(), 20);
}

#[test]
fn what_was_not_used_stays_and_proves_nothing_beside_a_use_that_went_well() {
    let (cache, quarantine) = quarantined();
    super::tests::put(&cache, 1, 10);
    let begin = || cache.use_begin(&key(1)).unwrap().unwrap();
    cache.use_end(begin(), Verdict::Unused).unwrap();
    assert_eq!((quarantine.log(), cached(&cache, [1])), (vec!["begin", "unused"], vec![1]));
    let (one, other) = (begin(), begin());
    cache.use_end(one, Verdict::Accepted).unwrap();
    cache.use_end(other, Verdict::Unused).unwrap();
    assert_eq!(quarantine.log()[2..], ["begin", "accepted"]);
}

#[test]
fn a_use_of_another_cache_is_none_of_this_one() {
    let (one, other) = (quarantined(), quarantined());
    let begin = |cache: &ProgramCache| cache.use_begin(&key(1)).unwrap().unwrap();
    for _ in 0..100 {
        let (of_one, of_other) = (begin(&one.0), begin(&other.0));
        let why = one.0.use_end(of_other, Verdict::Rejected).unwrap_err();
        assert_eq!((why.code(), one.0.open_uses()), (crate::base::Code::NotFound, 1));
        assert_eq!(other.0.use_end(of_one, Verdict::Accepted).unwrap_err().code(), crate::base::Code::NotFound);
        one.0.use_end(of_one, Verdict::Accepted).unwrap();
        other.0.use_end(of_other, Verdict::Accepted).unwrap();
    }
}

#[test]
fn a_banned_key_is_built_from_source_and_not_stored_until_it_is_forgiven() {
    let (cache, quarantine) = quarantined();
    let shaders = [PlainKeys.shader(0, b"vs")];
    let program = program_key(&shaders, b"");
    cache.put(&program, &Program { data: b"deadly", stages: &shaders, ..Program::default() }).unwrap();
    quarantine.banned.lock().unwrap().push(program);
    assert!(cache.use_begin(&program).unwrap().is_none());
    let mut driver = FakeDriver::default();
    let mut shader = Shader::new(0, 100);
    shader.set_source(b"vs").unwrap();
    let manager = Manager::new(&cache, &PlainKeys);
    manager.compile(&mut driver, &mut shader).unwrap();
    let linked = manager.link(&mut driver, &mut [&mut shader], b"", 0).unwrap();
    assert!(matches!(linked, Linked::Built(_, Some(Ok(Put::Refused(Refusal::Banned))))));
    assert_eq!(driver.log, ["compile vs", "link"]);
    assert_eq!((quarantine.log(), cache.statistics().unwrap().banned), (vec![], 2));
    assert_eq!((cache.forgive(&program), cache.forgive(&program)), (true, false));
    assert!(matches!(manager.link(&mut driver, &mut [&mut shader], b"", 0), Ok(Linked::Loaded(..))));
}

#[test]
fn a_miss_of_a_banned_key_is_told_by_the_ban_and_one_of_another_environment_is_not() {
    let quarantine = Arc::new(FakeQuarantine::default());
    let partners = Partners { disk: None, quarantine: Some(quarantine.clone()) };
    let cache = ProgramCache::new(Options { described_keys: 4, ..conforming() }, partners).unwrap();
    let mut material = Material::default();
    material.push("stage 0", b"vs").unwrap();
    let whereabouts = || cache.why_missed(&material).unwrap().unwrap().whereabouts;
    cache.recall(9, &key(1), material.clone()).unwrap();
    quarantine.banned.lock().unwrap().push(key(1));
    assert_eq!(whereabouts(), Whereabouts::OtherEnvironment);
    cache.describe(&key(1), &material).unwrap();
    assert_eq!(whereabouts(), Whereabouts::Banned);
    assert!(cache.why_missed(&material).unwrap().unwrap().to_string().contains("it is banned"));
    cache.forgive(&key(1));
    assert_eq!(whereabouts(), Whereabouts::Elsewhere);
    super::tests::put(&cache, 1, 10);
    quarantine.banned.lock().unwrap().push(key(1));
    assert_eq!(whereabouts(), Whereabouts::InMemory, "nobody missed it yet");
    cache.remove(&key(1));
    assert_eq!(whereabouts(), Whereabouts::Banned);
}

#[test]
fn a_program_that_was_built_is_described() {
    let (cache, _) = with_disk(Options { limit_bytes: 1 << 20, described_keys: 4, ..conforming() });
    let host = Host { cache, disk: Arc::default() };
    host.asked(&["vs", "fs"], b"a");
    let mut material = Material::default();
    for (label, value) in [("stage 0", "vs"), ("stage 1", "fs"), ("extra", "b")] {
        material.push(label, value.as_bytes()).unwrap();
    }
    let why = host.cache.why_missed(&material).unwrap().unwrap();
    let nearest = program_key(&[PlainKeys.shader(0, b"vs"), PlainKeys.shader(1, b"fs")], b"a");
    assert_eq!((why.nearest, why.whereabouts, why.differences.len()), (nearest, Whereabouts::InMemory, 1));
}
