//! Opening a library, and the caches that ship with a game. Waits for files.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;

use super::coverage::Counters;
use super::known::{Known, Origin};
use super::saving::Saving;
use super::work::Workers;
use super::{CacheEntry, Core, Options};
use crate::base::{Code, Level, Result, Text, error, host_log, try_path_join, try_string};
use crate::pipeline::precompile::Precompiler;
use crate::pipeline::recording::{Recorder, RunInfo};
use crate::pipeline::{
    DimensionNames, Loaded, Owner, Shipped, ShippedScan, UserCache, check_dimensions, check_mask, copy_dimensions,
};
use crate::quarantine::{self, Quarantine};
use crate::store::io::SharedIo;
use crate::store::io_error;

/// Longest version of a game, in bytes.
const MAX_VERSION: usize = 1024;

impl Core {
    /// Reads the user's cache and the files of bans.
    pub(super) fn open(options: Options) -> Result<(Self, Loaded)> {
        let Options { identity, version, environment, precompile, io, directory, store, keeps_user_cache, .. } =
            options;
        let dimensions = options.dimensions;
        check_dimensions(&dimensions)?;
        check_mask(&precompile.masks.regular, &dimensions)?;
        check_mask(&precompile.masks.precompile, &dimensions)?;
        if version.len() > MAX_VERSION {
            let size = version.len();
            return Err(error!(LimitExceeded, "the version of the game has {size} bytes: pass at most {MAX_VERSION}"));
        }
        let mask = precompile.masks.regular.0.map(AtomicU64::new);
        let precompiler = Precompiler::new(precompile)?;
        let (mut quarantine, mut cache, mut unusable) = (None, None, None);
        let mut why_not_kept = None;
        let is_read_only = store.read_only;
        if let Some(directory) = directory {
            let bans = quarantine::Options {
                ban_at: options.ban_at,
                read_only: store.read_only,
                secret: store.secret,
                ..quarantine::Options::at((store.now)())
            };
            quarantine = Some(Quarantine::open_on(io.clone(), &try_path_join(&directory, "quarantine")?, bans)?);
            if keeps_user_cache && !is_read_only {
                let made = io.create_directory(&directory).map_err(|why| io_error("create", &directory, &why));
                why_not_kept = made.err();
            }
            if keeps_user_cache {
                let owner = Owner {
                    identity: identity.try_clone()?,
                    version: try_string(&version)?,
                    dimensions: copy_dimensions(&dimensions)?,
                };
                cache = match UserCache::open(io.clone(), &directory, owner, store) {
                    Ok(opened) => Some(opened),
                    // The game runs without its files.
                    Err(why) if why.code() == Code::Io => {
                        host_log(Level::Warning, format_args!("{why}"));
                        unusable = Some(Text::format(format_args!("{why}")));
                        None
                    }
                    Err(why) => return Err(why),
                };
            }
        }
        let run = match options.recording {
            None => None,
            Some(path) => {
                let run = RunInfo {
                    identity: identity.try_clone()?,
                    version: try_string(&version)?,
                    run: run_id(&io),
                    started: (store.now)(),
                    dimensions: copy_dimensions(&dimensions)?,
                    ..RunInfo::default()
                };
                Some((path, run))
            }
        };
        let mut core = Self {
            identity,
            dimensions,
            environment,
            precompiler,
            known: Known::default(),
            io,
            saving: Saving::new(cache, is_read_only, why_not_kept)?,
            unusable,
            refusal: None,
            quarantine,
            compiler: options.compiler,
            workers: Workers::new(options.executor),
            counters: Counters::default(),
            frame: AtomicU32::new(0),
            mask,
        };
        let loaded = core.load_user_cache()?;
        // Last, so that no failure leaves a file that would refuse the next try.
        if let Some((path, run)) = run {
            core.saving.record(|| Recorder::create(&core.io, &path, &run))?;
        }
        Ok((core, loaded))
    }

    fn load_user_cache(&mut self) -> Result<Loaded> {
        let mut refusal = None;
        let loaded = self.saving.with_cache(|cache| {
            refusal = cache.refusal()?;
            if let Some(refusal) = &refusal {
                host_log(Level::Warning, format_args!("{refusal}"));
            }
            let loaded = cache.load(|key, entry| {
                let (first_frame, build_us) = (Some(entry.first_frame.into()), entry.build_us.into());
                let times_used = 1;
                let entry = CacheEntry {
                    key: *key,
                    description: entry.description,
                    masks: entry.masks,
                    first_frame,
                    times_used,
                    build_us,
                    sightings: &[],
                };
                self.add_entry(&entry, Origin::User).map(drop)
            })?;
            Ok(loaded)
        });
        self.refusal = refusal;
        loaded
    }

    /// [`Library::open_cache`] without the background.
    pub(super) fn add_shipped(&self, shipped: &Shipped) -> Result<ShippedScan> {
        let (sightings, mut found) = (shipped.sightings()?, Vec::new());
        let scan = shipped.for_each(|pipeline| {
            sightings.of(&pipeline.key, &mut found)?;
            let entry = CacheEntry {
                key: pipeline.key,
                description: pipeline.description,
                masks: pipeline.uses.masks.as_slice(),
                first_frame: (pipeline.uses.runs > 0).then(|| pipeline.uses.mean_first_frame()),
                times_used: pipeline.uses.times,
                build_us: pipeline.uses.mean_build_us(),
                sightings: &found,
            };
            self.add_entry(&entry, Origin::Shipped).map(drop)
        })?;
        let (path, guid) = (shipped.path().display(), u128::from_be_bytes(shipped.info().guid));
        let (entries, written) = (scan.entries, shipped.info().total());
        host_log(Level::Info, format_args!("opened '{path}' {guid:032x} with {entries} pipelines"));
        if scan.missing > 0 {
            let missing = scan.missing;
            host_log(
                Level::Warning,
                format_args!(
                    "'{path}' is damaged: {missing} of {written} pipelines are missing; install the game again"
                ),
            );
        }
        let queued = self.precompiler.counts().remaining();
        host_log(Level::Info, format_args!("{queued} of {} pipelines are queued", self.precompiler.len()));
        Ok(scan)
    }

    /// The masks of a cache have a meaning only with its dimensions.
    pub(super) fn check_dimensions_of(&self, shipped: &Shipped) -> Result<()> {
        let (own, theirs, path) = (&self.dimensions, &shipped.info().dimensions, shipped.path().display());
        match (own.is_empty(), theirs.is_empty()) {
            _ if own == theirs => Ok(()),
            // Also a cache of compute pipelines only has none.
            (false, true) => {
                host_log(
                    Level::Info,
                    format_args!("'{path}' has no mask dimensions: its masks count as masks of these dimensions"),
                );
                Ok(())
            }
            _ => Err(error!(
                Unsupported,
                "'{path}' has the mask dimensions {}, and not {}",
                DimensionNames(theirs),
                DimensionNames(own)
            )),
        }
    }
}

/// A number that no other run has.
fn run_id(io: &SharedIo) -> [u8; 16] {
    let words = [io.nonce(), io.nonce()].map(u64::to_le_bytes);
    let mut id = [0; 16];
    id.copy_from_slice(words.as_flattened());
    id
}
