//! The frames between `hob` and a builder. `docs/replay.md` has the protocol.

use hobgoblin::pipeline::{Cursor, DescriptionRef, Identity, PipelineKey, put_description, put_text};

use crate::failure::Result;

const MAGIC: &[u8; 8] = b"HOBBUILD";
const VERSION: u32 = 1;
/// Most bytes of a frame from a builder.
pub const MOST_ANSWER: usize = 4096;
/// Most characters of a builder's text that are kept.
const MOST_TEXT: usize = 300;

/// Types of frames.
mod kind {
    pub const HELLO: u8 = 1;
    pub const PIPELINE: u8 = 2;
    pub const RESULT: u8 = 2;
    pub const REFUSAL: u8 = 3;
}

/// A frame: the length of the rest, the type, the payload.
fn frame(kind: u8, fill: impl FnOnce(&mut Vec<u8>) -> hobgoblin::base::Result<()>) -> Result<Vec<u8>> {
    let mut bytes = vec![0, 0, 0, 0, kind];
    fill(&mut bytes)?;
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

/// The first frame to a builder.
pub fn hello(identity: &Identity) -> Result<Vec<u8>> {
    frame(kind::HELLO, |out| {
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&identity.api.to_le_bytes());
        put_text(out, &identity.project)?;
        put_text(out, &identity.format)
    })
}

/// The frame of a pipeline.
pub fn pipeline(key: &PipelineKey, description: &DescriptionRef<'_>) -> Result<Vec<u8>> {
    frame(kind::PIPELINE, |out| {
        out.extend_from_slice(&key.0);
        put_description(out, description)
    })
}

/// A builder's first frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The environment that bans belong to. 0: unknown.
    pub environment: u64,
    /// The driver and device, for people.
    pub driver: String,
}

/// The result of a compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub is_ready: bool,
    pub build_us: u64,
    /// Why the driver refused it.
    pub message: String,
}

/// Why a frame cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The builder cannot serve this cache.
    Refused(String),
    /// The bytes break the protocol.
    Rubbish(String),
}

fn rubbish(why: &str) -> Invalid {
    Invalid::Rubbish(format!("it answered rubbish: {why}"))
}

/// A text at the end of a frame.
fn last_text(mut cursor: Cursor<'_>, of: &str) -> std::result::Result<String, Invalid> {
    let bytes = cursor.u16().and_then(|length| cursor.take(length.into())).filter(|_| cursor.is_at_end());
    let bytes = bytes.ok_or_else(|| rubbish(&format!("{of} has a wrong length")))?;
    let text = str::from_utf8(bytes).map_err(|_| rubbish(&format!("the text of {of} is not UTF-8")))?;
    Ok(printable(text))
}

/// A reason that may be empty.
fn reason(text: String) -> String {
    if text.is_empty() { "the builder gave no reason".into() } else { text }
}

/// A text without control characters, for a terminal.
pub fn printable(text: &str) -> String {
    let shown = text.trim().chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    shown.take(MOST_TEXT).collect()
}

/// The first frame of a builder, without its length.
pub fn read_hello(bytes: &[u8]) -> std::result::Result<Hello, Invalid> {
    let mut cursor = Cursor(bytes);
    match cursor.u8() {
        Some(kind::HELLO) => {}
        Some(kind::REFUSAL) => return Err(Invalid::Refused(reason(last_text(cursor, "its refusal")?))),
        _ => return Err(rubbish("its first frame is no hello")),
    }
    if cursor.take(MAGIC.len()) != Some(MAGIC) {
        return Err(rubbish("its hello does not begin with HOBBUILD"));
    }
    match cursor.u32() {
        Some(VERSION) => {}
        Some(version) => {
            let why = format!("it speaks version {version} of the protocol, and hob version {VERSION}");
            return Err(Invalid::Refused(why));
        }
        None => return Err(rubbish("its hello is too short")),
    }
    let environment = cursor.u64().ok_or_else(|| rubbish("its hello is too short"))?;
    Ok(Hello { environment, driver: last_text(cursor, "its hello")? })
}

/// The result of a pipeline, without the length of the frame.
pub fn read_answer(bytes: &[u8], key: &PipelineKey) -> std::result::Result<Answer, Invalid> {
    let mut cursor = Cursor(bytes);
    if cursor.u8() != Some(kind::RESULT) {
        return Err(rubbish("the frame is no result"));
    }
    if cursor.take(key.0.len()) != Some(&key.0) {
        return Err(rubbish("the result is for another pipeline"));
    }
    let is_ready = match cursor.u8() {
        Some(0) => true,
        Some(1) => false,
        _ => return Err(rubbish("the result is neither ready (0) nor failed (1)")),
    };
    let build_us = cursor.u64().ok_or_else(|| rubbish("the result is too short"))?;
    let message = last_text(cursor, "the result")?;
    Ok(Answer { is_ready, build_us, message: if is_ready { message } else { reason(message) } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(kind: u8, payload: &[u8]) -> Vec<u8> {
        [&[kind], payload].concat()
    }

    #[test]
    fn hello_names_environment_and_driver_and_is_checked() {
        let good = [MAGIC, &1_u32.to_le_bytes()[..], &7_u64.to_le_bytes(), &[2, 0], b"gl"].concat();
        let hello = Hello { environment: 7, driver: "gl".into() };
        assert_eq!(read_hello(&framed(kind::HELLO, &good)), Ok(hello));
        for length in 0..good.len() {
            assert!(read_hello(&framed(kind::HELLO, &good[..length])).is_err(), "{length}");
        }
        let newer = [MAGIC, &2_u32.to_le_bytes()[..]].concat();
        assert!(
            matches!(read_hello(&framed(kind::HELLO, &newer)), Err(Invalid::Refused(why)) if why.contains("version 2"))
        );
        let refusal = framed(kind::REFUSAL, b"\x05\x00other");
        assert_eq!(read_hello(&refusal), Err(Invalid::Refused("other".into())));
        let silent = framed(kind::REFUSAL, b"\0\0");
        assert_eq!(read_hello(&silent), Err(Invalid::Refused("the builder gave no reason".into())));
        let foreign = [&good[..good.len() - 2], b"\xffl"].concat();
        let why = "it answered rubbish: the text of its hello is not UTF-8".to_owned();
        assert_eq!(read_hello(&framed(kind::HELLO, &foreign)), Err(Invalid::Rubbish(why)));
    }

    #[test]
    fn result_must_be_whole_and_of_its_pipeline() {
        let key = hobgoblin::fingerprint::Fingerprint([3; 32]);
        let good = [&key.0[..], &[1], &9_u64.to_le_bytes(), &[3, 0], b"a\nb"].concat();
        let answer = Answer { is_ready: false, build_us: 9, message: "a b".into() };
        assert_eq!(read_answer(&framed(kind::RESULT, &good), &key), Ok(answer));
        let silent = [&key.0[..], &[1], &9_u64.to_le_bytes(), &[0, 0]].concat();
        let message = read_answer(&framed(kind::RESULT, &silent), &key).map(|answer| answer.message);
        assert_eq!(message, Ok("the builder gave no reason".into()));
        for length in 0..good.len() {
            assert!(read_answer(&framed(kind::RESULT, &good[..length]), &key).is_err(), "{length}");
        }
        for at in 0..=32 {
            let mut wrong = good.clone();
            wrong[at] ^= 4;
            assert!(read_answer(&framed(kind::RESULT, &wrong), &key).is_err(), "{at}");
        }
    }
}
