//! What is said between us and the launcher, over the socket that is its standard input. It is closed
//! with us, and the launcher ends what it started then.

use crate::{Held, Profile, read_frame, write_frame};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{
    ffi::OsString,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::PathBuf,
};

/// Standard input, output and error of the program, and its channel to us where it has one.
pub(crate) const MOST_DESCRIPTORS: usize = 4;

/// What the launcher is to start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) command: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) profile: Profile,
    /// Whether it may be run again when it has ended, by [`again`].
    pub(crate) repeats: bool,
    /// Whether the program enters the profile's limits by itself ([`crate::enter()`]): a worker.
    pub(crate) enters_itself: bool,
    /// Whether a missing protection is accepted.
    pub(crate) weak: bool,
}

/// What the launcher answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The program is started, and this holds.
    Started(Held),
    /// It is not, for a reason that has nothing to do with it.
    Failed(String),
    /// It ended, and with namespaces of its own everything that it started.
    Ended(Ending),
}

/// How it ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ending {
    /// As `wait` reports it.
    pub(crate) status: i32,
    pub(crate) user_seconds: f64,
    pub(crate) system_seconds: f64,
    pub(crate) peak_bytes: u64,
}

/// Send the order with the program's descriptors.
pub(crate) fn order(
    socket: &UnixStream,
    order: &Order,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    again(socket, descriptors)?;
    let message = postcard::to_stdvec(order).map_err(io::Error::other)?;
    write_frame(&mut &*socket, &message)
}

/// The launcher's side of [`order`]; `None` where the other side is gone.
pub(crate) fn read_order(socket: &UnixStream) -> io::Result<Option<(Order, Vec<OwnedFd>)>> {
    let Some(descriptors) = read_again(socket)? else { return Ok(None) };
    let order = receive(&mut &*socket)?;
    Ok(order.map(|order| (order, descriptors)))
}

/// Have the program run once more, with these descriptors.
pub(crate) fn again(socket: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one program"));
    }
    sendmsg(socket, &[IoSlice::new(b"o")], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The launcher's side of [`again`]; `None` where the other side is gone.
pub(crate) fn read_again(socket: &UnixStream) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let got = recvmsg(
        socket.as_fd(),
        &mut [IoSliceMut::new(&mut byte)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    if got.bytes == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(some) = message {
            descriptors.extend(some);
        }
    }
    Ok(Some(descriptors))
}

/// Say something of the launcher's.
pub(crate) fn say(socket: &UnixStream, event: &Event) -> io::Result<()> {
    let message = postcard::to_stdvec(event).map_err(io::Error::other)?;
    write_frame(&mut &*socket, &message)
}

/// The next message; `None` where the other side is gone.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl io::Read) -> io::Result<Option<T>> {
    const MOST: u64 = 64 << 20;
    match read_frame(from, MOST)? {
        None => Ok(None),
        Some(message) => postcard::from_bytes(&message).map(Some).map_err(io::Error::other),
    }
}
