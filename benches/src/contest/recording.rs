//! Reads a recording of `frame_budget --record-costs`. `docs/formats.md` describes the file.

use std::fmt::Display;
use std::iter::Peekable;
use std::str::{FromStr, Lines};

/// The work that the time of a pass depends on, beside its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing.
    None,
    /// All objects of the scene.
    All,
    /// The objects in view.
    View,
    /// The steps of the mist's march; no mist: no time.
    Mist,
}

/// A pass of the renderer.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Its name.
    pub name: String,
    /// The kind of its work.
    pub work: Work,
    /// Settings that its time depends on. The first is charged with it; none: a fixed burden.
    pub settings: Vec<usize>,
    /// Milliseconds by work level, then by the options of `settings`; the last setting changes fastest.
    pub ms: Vec<f64>,
}

/// A setting with the value of each option.
#[derive(Clone, Debug)]
pub struct RecordedSetting {
    /// Its name.
    pub name: String,
    /// The value of each option.
    pub values: Vec<f64>,
    /// Milliseconds that a change takes.
    pub change_ms: f64,
}

/// Work of a moment of a script: all objects, objects in view, steps of the mist.
pub type Moment = [f64; 3];

/// A recording.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The renderer and the size of its picture.
    pub renderer: String,
    /// The load of the machine before the costs, before and after the noise.
    pub load: String,
    /// All settings.
    pub settings: Vec<RecordedSetting>,
    /// Work levels at which passes were measured: all objects and objects in view.
    pub levels: Vec<(f64, f64)>,
    /// Steps of the mist at which its pass was measured.
    pub mist: Vec<f64>,
    /// All passes.
    pub passes: Vec<Pass>,
    /// Scripts by name.
    pub scripts: Vec<(String, Vec<Moment>)>,
    /// By frame and pass: the logarithm of time divided by median.
    pub noise: Vec<Vec<f64>>,
}

struct Reader<'a> {
    lines: Peekable<Lines<'a>>,
    number: usize,
}

impl<'a> Reader<'a> {
    fn wrong(&self, what: impl Display) -> String {
        format!("line {}: {what}: record it again with frame_budget --record-costs", self.number)
    }

    /// The words of the next line.
    fn words(&mut self) -> Result<Vec<&'a str>, String> {
        self.number += 1;
        Ok(self.lines.next().ok_or_else(|| self.wrong("the recording ends early"))?.split(' ').collect())
    }

    /// The words after `keyword` of the next line.
    fn after(&mut self, keyword: &str) -> Result<Vec<&'a str>, String> {
        let words = self.words()?;
        if words[0] == keyword { Ok(words[1..].to_vec()) } else { Err(self.wrong(format!("expected \"{keyword}\""))) }
    }

    fn is_next(&mut self, keyword: &str) -> bool {
        self.lines.peek().is_some_and(|line| line.split(' ').next() == Some(keyword))
    }

    fn number<T: FromStr>(&self, word: &str) -> Result<T, String> {
        word.parse().map_err(|_| self.wrong(format!("\"{word}\" is not a number")))
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<f64>, String> {
        let words = self.words()?;
        if words.len() != count {
            return Err(self.wrong(format!("expected {count} numbers")));
        }
        words.iter().map(|word| self.number(word)).collect()
    }
}

impl Recording {
    /// Reads the text of a recording. An error is a sentence with the number of the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { lines: text.lines().peekable(), number: 0 };
        if reader.words()? != ["hobgoblin", "frame", "costs", "1"] {
            return Err(reader.wrong("not a recording of frame costs, version 1"));
        }
        let renderer = reader.after("renderer")?.join(" ");
        reader.after("clock")?;
        let load = reader.after("load")?.join(" ");
        let mut settings = Vec::new();
        while reader.is_next("setting") {
            settings.push(read_setting(&mut reader)?);
        }
        let levels = reader.after("work")?;
        let levels = levels.iter().map(|word| {
            let (all, view) = word.split_once('/').ok_or_else(|| reader.wrong("expected all/view"))?;
            Ok((reader.number(all)?, reader.number(view)?))
        });
        let levels: Vec<_> = levels.collect::<Result<_, String>>()?;
        let mist = reader.after("mist")?;
        let mist: Vec<_> = mist.iter().map(|word| reader.number(word)).collect::<Result<_, _>>()?;
        let mut recording =
            Self { renderer, load, settings, levels, mist, passes: Vec::new(), scripts: Vec::new(), noise: Vec::new() };
        while reader.is_next("pass") {
            let pass = recording.read_pass(&mut reader)?;
            recording.passes.push(pass);
        }
        while reader.is_next("change") {
            let words = reader.after("change")?;
            let setting = recording.setting(words[0]).ok_or_else(|| reader.wrong("no such setting"))?;
            recording.settings[setting].change_ms = reader.number(words.get(1).unwrap_or(&""))?;
        }
        while reader.is_next("script") {
            let words = reader.after("script")?;
            let count = reader.number(words.get(1).unwrap_or(&""))?;
            let moments = (0..count).map(|_| reader.numbers(3).map(|m| [m[0], m[1], m[2]]));
            recording.scripts.push((words[0].to_owned(), moments.collect::<Result<_, _>>()?));
        }
        recording.read_noise(&mut reader)?;
        if recording.scripts.is_empty() || recording.scripts.iter().any(|(_, moments)| moments.is_empty()) {
            return Err(reader.wrong("no script"));
        }
        Ok(recording)
    }

    /// The index of a setting.
    pub fn setting(&self, name: &str) -> Option<usize> {
        self.settings.iter().position(|setting| setting.name == name)
    }

    fn read_pass(&self, reader: &mut Reader<'_>) -> Result<Pass, String> {
        let words = reader.after("pass")?;
        let work = match words.get(1) {
            Some(&"none") => Work::None,
            Some(&"all") => Work::All,
            Some(&"view") => Work::View,
            Some(&"mist") => Work::Mist,
            _ => return Err(reader.wrong("expected none, all, view or mist")),
        };
        let settings = words[2..].iter().map(|name| self.setting(name).ok_or_else(|| reader.wrong("no such setting")));
        let settings: Vec<usize> = settings.collect::<Result<_, _>>()?;
        let rows = match work {
            Work::None => 1,
            Work::Mist => self.mist.len(),
            Work::All | Work::View => self.levels.len(),
        };
        let count = settings.iter().map(|&setting| self.settings[setting].values.len()).product::<usize>() * rows;
        let ms = (0..count).map(|_| reader.numbers(1).map(|numbers| numbers[0])).collect::<Result<_, _>>()?;
        Ok(Pass { name: words[0].to_owned(), work, settings, ms })
    }

    fn read_noise(&mut self, reader: &mut Reader<'_>) -> Result<(), String> {
        let words = reader.after("noise")?;
        let count: usize = reader.number(words[0])?;
        let names: Vec<_> = self.passes.iter().map(|pass| pass.name.as_str()).collect();
        if words[1..] != names || count == 0 {
            return Err(reader.wrong("expected a column of noise for each pass"));
        }
        for _ in 0..count {
            let frame = reader.numbers(names.len())?;
            self.noise.push(frame.iter().map(|thousandths| thousandths / 1000.0).collect());
        }
        Ok(())
    }
}

fn read_setting(reader: &mut Reader<'_>) -> Result<RecordedSetting, String> {
    let words = reader.after("setting")?;
    let values = words[1..].iter().map(|word| {
        let (_, value) = word.split_once('=').ok_or_else(|| reader.wrong("expected option=value"))?;
        reader.number(value)
    });
    let values: Vec<f64> = values.collect::<Result<_, _>>()?;
    if values.is_empty() {
        return Err(reader.wrong("a setting without options"));
    }
    Ok(RecordedSetting { name: words[0].to_owned(), values, change_ms: 0.0 })
}

/// A recording for tests.
#[cfg(test)]
pub const SMALL: &str = "hobgoblin frame costs 1
renderer test
clock test
load 0.0
setting resolution 50%=0 100%=10
setting antialiasing off=0 4x=4
setting shadows off=0 on=5
work 100/50 200/150
mist 6 12
pass shadow all shadows
0
1
0
2
pass ground none resolution antialiasing
1
2
3
6
pass mist mist
0.5
1
pass rest none
0.25
change shadows 0.5
script short 2
100 50 0
200 150 12
noise 2 shadow ground mist rest
0 0 0 0
100 -100 0 0
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recording_is_read() {
        let recording = Recording::parse(SMALL).expect("a recording");
        assert_eq!(recording.settings[2].change_ms, 0.5);
        assert_eq!(recording.passes[1].settings, [0, 1]);
        assert_eq!(recording.passes[1].ms, [1.0, 2.0, 3.0, 6.0]);
        assert_eq!(recording.noise[1], [0.1, -0.1, 0.0, 0.0]);
    }

    #[test]
    fn every_cut_off_or_damaged_recording_is_refused_with_its_line() {
        let lines: Vec<_> = SMALL.lines().collect();
        for kept in 0..lines.len() {
            let error = Recording::parse(&lines[..kept].join("\n")).expect_err("cut off");
            assert!(error.starts_with("line "), "{error}");
        }
        for line in 0..lines.len() {
            let mut damaged = lines.clone();
            damaged[line] = "x";
            if !["renderer", "clock", "load"].iter().any(|word| lines[line].starts_with(word)) {
                assert!(Recording::parse(&damaged.join("\n")).is_err(), "line {line}");
            }
        }
    }
}
