use std::io::{self, Read, Write};

/// Messages up to this size are sent together with their length.
const TOGETHER: usize = 64 << 10;

/// Write one message: its length as four little-endian bytes, then its bytes.
///
/// # Errors
/// Those of the writer, and `InvalidInput` for a message of 4 GiB or more.
pub fn write_frame(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "message of 4 GiB or more"))?;
    if message.len() <= TOGETHER {
        // A reader that the length alone wakes up would have to go back to sleep.
        to.write_all(&[&length.to_le_bytes(), message].concat())?;
    } else {
        to.write_all(&length.to_le_bytes())?;
        to.write_all(message)?;
    }
    to.flush()
}

/// Read one message; `None` at the end of the stream.
///
/// # Errors
/// Those of the reader; `InvalidData` for a message longer than `limit` bytes.
pub fn read_frame(from: &mut impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if u64::from(length) > limit {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a message of {length} bytes, over the limit of {limit}"),
        ));
    }
    let mut message = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut message)?;
    if message.len() as u64 != u64::from(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(message))
}
