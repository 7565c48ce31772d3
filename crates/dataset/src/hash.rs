/// Identity of a text or file: the first 128 bits of its BLAKE3 hash, in hexadecimal.
#[must_use]
pub fn content_hash(content: &[u8]) -> String {
    shorten(blake3::hash(content))
}

/// Length and [`content_hash`] of a file, read in pieces.
///
/// # Errors
/// When it cannot be read.
pub fn content_hash_of_file(path: &std::path::Path) -> std::io::Result<(u64, String)> {
    let mut hasher = blake3::Hasher::new();
    let bytes = std::io::copy(&mut std::fs::File::open(path)?, &mut hasher)?;
    Ok((bytes, shorten(hasher.finalize())))
}

/// Identity of several pieces in order; no two different sequences share one by their seams.
#[must_use]
pub fn content_hash_of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(&(piece.len() as u64).to_le_bytes());
        hasher.update(piece);
    }
    shorten(hasher.finalize())
}

fn shorten(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}
