//! Archives, read into memory: nothing in them can write anywhere.

use crate::tree::Tree;
use dataset::Verdict;
use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

/// Bytes of an archive after decompression.
const BYTES_LIMIT: u64 = 32 << 30;
/// Files of an archive.
const ENTRIES_LIMIT: u64 = 4 << 20;

/// Read the archive at `path` into a tree, whatever its compression. An archive that breaks off
/// gives what came before, and the news of it.
///
/// # Errors
/// When it is no archive that is known.
pub(crate) fn archive(path: &Path) -> io::Result<Tree> {
    let mut file = File::open(path)?;
    let mut head = [0; 262];
    let mut length = 0;
    while length < head.len() {
        match file.read(&mut head[length..])? {
            0 => break,
            count => length += count,
        }
    }
    file.seek(SeekFrom::Start(0))?;
    let head = &head[..length];
    let file = BufReader::with_capacity(1 << 20, file);
    let mut tree = Tree::default();
    if head.starts_with(b"PK") {
        zip(file, &mut tree)?;
        return Ok(tree);
    }
    let reader: Box<dyn Read> = match head {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(file)),
        [b'B', b'Z', b'h', ..] => Box::new(bzip2::read::MultiBzDecoder::new(file)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            Box::new(liblzma::read::XzDecoder::new_multi_decoder(file))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(zstd::Decoder::with_buffer(file)?),
        [0x5d, 0, 0, ..] => {
            let stream =
                liblzma::stream::Stream::new_lzma_decoder(u64::MAX).map_err(io::Error::other)?;
            Box::new(liblzma::read::XzDecoder::new_stream(file, stream))
        }
        _ if head.get(257..262) == Some(&b"ustar"[..]) => Box::new(file),
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "no archive (tar, tar.gz, tar.bz2, tar.xz, tar.zst or zip)",
            ));
        }
    };
    if let Err(error) = tar(reader, &mut tree) {
        tree.tell("", Verdict::new("broken-archive", error.to_string()));
    }
    Ok(tree)
}

fn tar(reader: impl Read, tree: &mut Tree) -> io::Result<()> {
    let mut archive = tar::Archive::new(reader.take(BYTES_LIMIT));
    for (count, entry) in (0..).zip(archive.entries()?) {
        let mut entry = entry?;
        // Links, devices and sockets are nothing to read.
        if !entry.header().entry_type().is_file() && !entry.header().entry_type().is_contiguous() {
            continue;
        }
        if count >= ENTRIES_LIMIT {
            tree.tell(
                "",
                Verdict::new("package-too-large", format!("more than {ENTRIES_LIMIT} files")),
            );
            break;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let size = entry.size();
        if !tree.offer(&path, Some(size), &mut entry)? {
            break;
        }
    }
    Ok(())
}

fn zip(reader: impl Read + Seek, tree: &mut Tree) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(reader).map_err(io::Error::other)?;
    for at in 0..archive.len() {
        let mut entry = match archive.by_index(at) {
            Ok(entry) => entry,
            Err(error) => {
                tree.tell("", Verdict::new("broken-archive", error.to_string()));
                continue;
            }
        };
        if !entry.is_file() {
            continue;
        }
        // The size in the folder of a zip is the maker's word: what is read decides.
        let Ok(path) = entry.name().map(|name| name.replace('\\', "/")) else {
            tree.tell("", Verdict::new("unsafe-path", "a name that is no text"));
            continue;
        };
        match tree.offer(&path, None, &mut entry) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => tree.tell(&path, Verdict::new("broken-archive", error.to_string())),
        }
    }
    Ok(())
}
