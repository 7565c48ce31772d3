use crate::{Held, Profile, enter, limits, read_frame, write_frame};
use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::AsFd,
};

/// The variable by which a worker learns whether a missing protection is accepted.
pub(crate) const STRICTNESS: &str = "STAMPMILL_SANDBOX";

/// A worker's side of the pipe: enter `profile`, say which restrictions hold, then answer messages
/// from standard input on standard output until it closes.
///
/// Every request gets the profile's processor time anew.
///
/// # Errors
/// When the limits cannot be entered or the pipe breaks.
pub fn serve(profile: &Profile, answer: impl FnMut(&[u8]) -> Vec<u8>) -> io::Result<()> {
    // Not through `Stdout`: it looks for ends of lines and sends what follows the last by itself.
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    serve_over(profile, io::stdin().lock(), output, answer)
}

/// [`serve`] over streams of the worker's choice: for workers whose libraries may print, which move
/// standard output aside first.
///
/// # Errors
/// As for [`serve`].
pub fn serve_over(
    profile: &Profile,
    mut input: impl Read,
    mut output: impl Write,
    mut answer: impl FnMut(&[u8]) -> Vec<u8>,
) -> io::Result<()> {
    let weak = std::env::var_os(STRICTNESS).is_some_and(|value| value == "weak");
    let held = enter(profile, weak);
    let said: Result<Held, String> = held.as_ref().map(|held| *held).map_err(ToString::to_string);
    let hello = postcard::to_stdvec(&said).map_err(io::Error::other)?;
    write_frame(&mut output, &hello)?;
    held?;
    while let Some(request) = read_frame(&mut input, u64::MAX)? {
        limits::allow_processor_seconds(profile.processor.as_secs().max(1))?;
        write_frame(&mut output, &answer(&request))?;
    }
    Ok(())
}
