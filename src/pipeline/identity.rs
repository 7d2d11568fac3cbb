//! The game, the shader format and the graphics API that pipelines belong to.

use crate::base::{Result, error, try_string};
use crate::fingerprint::Builder;
use crate::pipeline::Dimension;

const CONTEXT: &str = "hobgoblin pipelines 1";
/// Most bytes of a name.
pub const MAX_NAME: usize = 128;

/// Names the owner of pipelines. A file of another owner is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The game.
    pub project: String,
    /// The format of its shaders, such as `spirv` or `sm6`.
    pub format: String,
    /// The graphics API: a `hob_graphics_api`, or the host's own number.
    pub api: u32,
}

impl Identity {
    /// An identity of names that may stand in a file's name.
    pub fn new(project: &str, format: &str, api: u32) -> Result<Self> {
        for (what, name) in [("project", project), ("shader format", format)] {
            check_name(what, name)?;
        }
        Ok(Self { project: try_string(project)?, format: try_string(format)?, api })
    }

    /// A copy.
    pub fn try_clone(&self) -> Result<Self> {
        Self::new(&self.project, &self.format, self.api)
    }

    /// An error that names both sides, if `other` is not this identity. `what` has the other one.
    pub fn check(&self, other: &Self, what: &str) -> Result<()> {
        let names = [("project", &self.project, &other.project), ("shader format", &self.format, &other.format)];
        for (field, own, theirs) in names {
            if own != theirs {
                return Err(error!(Unsupported, "{what} is for the {field} '{theirs}', and not for '{own}'"));
            }
        }
        if self.api != other.api {
            let (own, theirs) = (self.api, other.api);
            return Err(error!(Unsupported, "{what} is for the graphics API {theirs}, and not for {own}"));
        }
        Ok(())
    }

    /// The id of the pipelines of a version of the game. Masks of other dimensions have another meaning.
    pub fn environment(&self, version: &str, dimensions: &[Dimension]) -> u64 {
        const DIMENSION: u32 = 5;
        let mut name = Builder::new(CONTEXT);
        let parts = [self.project.as_bytes(), self.format.as_bytes(), &self.api.to_le_bytes(), version.as_bytes()];
        for (kind, bytes) in (1..DIMENSION).zip(parts) {
            name.part(kind, 0, bytes);
        }
        for Dimension { name: text, width } in dimensions {
            name.part(DIMENSION, *width, text.as_bytes());
        }
        u64::from_le_bytes(name.finish().short())
    }
}

/// A name must be short, and may stand in the name of a file on every system.
pub fn check_name(what: &str, name: &str) -> Result<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '+');
    if name.is_empty() || name.len() > MAX_NAME || name.starts_with('.') || !name.chars().all(is_plain) {
        let name = name.escape_debug();
        return Err(error!(
            InvalidArgument,
            "invalid name of the {what} '{name}': use 1 to {MAX_NAME} ASCII letters, digits, and - _ . + without a dot first"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Code;

    #[test]
    fn refusal_names_both_sides() {
        let own = Identity::new("game", "spirv", 3).expect("valid");
        let others = [("other", "spirv", 3, "'other'"), ("game", "sm6", 3, "'sm6'"), ("game", "spirv", 5, " 5,")];
        for (project, format, api, shown) in others {
            let why = own.check(&Identity::new(project, format, api).expect("valid"), "'x'").expect_err("another");
            assert_eq!(why.code(), Code::Unsupported);
            assert!(why.sentence().contains(shown), "{why}");
        }
        assert!(own.check(&own, "'x'").is_ok());
    }

    #[test]
    fn names_that_no_file_may_have_are_refused() {
        for name in ["", "a/b", "..", ".hidden", "a b", "ä", &"a".repeat(MAX_NAME + 1)] {
            assert!(Identity::new(name, "spirv", 3).is_err(), "{name}");
        }
        assert!(Identity::new("Game_2.1+x", "spirv-1.6", 0).is_ok());
    }

    #[test]
    fn every_part_changes_the_environment() {
        let id = |project: &str, format: &str, api, version| {
            Identity::new(project, format, api).expect("valid").environment(version, &[])
        };
        let with = |name: &str, width| {
            let dimensions = [Dimension { name: name.into(), width }];
            Identity::new("a", "b", 1).expect("valid").environment("c", &dimensions)
        };
        let ids = [
            id("a", "b", 1, "c"),
            id("b", "b", 1, "c"),
            id("a", "c", 1, "c"),
            id("a", "b", 2, "c"),
            id("a", "b", 1, "d"),
            with("quality", 3),
            with("quality", 4),
            with("level", 3),
        ];
        let distinct: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
    }
}
