//! Archives, read into memory: nothing in them can write anywhere.

use crate::{
    sink::{About, Link, Sink},
    tree::{READ_LIMIT, Tree, normal, too_much_read},
};
use dataset::{Verdict, bytes_text};
use rows::ContentVerdict;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

/// Files of an archive.
const ENTRIES_LIMIT: u64 = 4 << 20;

/// Bytes of the files of [`files_of`], their names among them.
const FILES_LIMIT: u64 = 1 << 30;

/// What an archive is packed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Zip,
    Tar,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Lzma,
}

/// The format of the archive that begins at the start of `file`, which is there again afterwards.
fn format_of(file: &mut File) -> io::Result<Option<Format>> {
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
    Ok(match head {
        [b'P', b'K', ..] => Some(Format::Zip),
        [0x1f, 0x8b, ..] => Some(Format::Gzip),
        [b'B', b'Z', b'h', ..] => Some(Format::Bzip2),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Format::Xz),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Format::Zstd),
        [0x5d, 0, 0, ..] => Some(Format::Lzma),
        _ if head.get(257..262) == Some(&b"ustar"[..]) => Some(Format::Tar),
        _ => None,
    })
}

/// What to say of a file that is none.
pub(crate) const NO_ARCHIVE: &str = "no archive (tar, tar.gz, tar.bz2, tar.xz, tar.zst or zip)";

/// Whether a file begins as an archive that can be read.
///
/// # Errors
/// When it cannot be opened or read.
pub fn is_archive(path: &Path) -> io::Result<bool> {
    Ok(format_of(&mut File::open(path)?)?.is_some())
}

/// Read the archive at `path` into a tree, whatever its compression.
///
/// # Errors
/// As [`into`].
pub(crate) fn archive(path: &Path) -> io::Result<Tree> {
    let mut tree = Tree::default();
    into(path, &mut tree)?;
    Ok(tree)
}

/// Give all that is in the archive at `path` to a sink. An archive that breaks off gives what came before, and the news
/// of it.
///
/// # Errors
/// When it is no archive that is known.
pub(crate) fn into(path: &Path, sink: &mut dyn Sink) -> io::Result<()> {
    let mut file = File::open(path)?;
    let format = format_of(&mut file)?;
    let format = format.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, NO_ARCHIVE))?;
    let file = BufReader::with_capacity(1 << 20, file);
    let reader: Box<dyn Read> = match format {
        Format::Zip => return zip(file, sink),
        Format::Tar => Box::new(file),
        Format::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Format::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(file)),
        Format::Xz => Box::new(liblzma::read::XzDecoder::new_multi_decoder(file)),
        Format::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
        Format::Lzma => {
            let stream =
                liblzma::stream::Stream::new_lzma_decoder(u64::MAX).map_err(io::Error::other)?;
            Box::new(liblzma::read::XzDecoder::new_stream(file, stream))
        }
    };
    if let Err(error) = tar(Bounded { reader, left: READ_LIMIT }, sink) {
        let verdict = match error.get_ref().is_some_and(|inner| inner.is::<TooMuch>()) {
            true => too_much_read(),
            false => Verdict::new(ContentVerdict::BrokenArchive, error.to_string()),
        };
        sink.tell("", verdict);
    }
    Ok(())
}

/// The files of the archive at `path` whose paths `wants` takes, by their paths in one spelling; 1 GiB of them at most. Nothing is
/// written anywhere. Links are left out.
///
/// # Errors
/// When it is no archive, breaks off, holds more than that, or has a path that leads out of it.
pub fn files_of(
    path: &Path,
    wants: &dyn Fn(&str) -> bool,
) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut wanted = Wanted { wants, files: BTreeMap::new(), left: FILES_LIMIT, wrong: None };
    into(path, &mut wanted)?;
    let Some((at, verdict)) = wanted.wrong else { return Ok(wanted.files) };
    let why = match at.as_str() {
        "" => verdict.to_string(),
        at => format!("{at}: {verdict}"),
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Files that are wanted, up to the first thing that is wrong.
struct Wanted<'a> {
    wants: &'a dyn Fn(&str) -> bool,
    files: BTreeMap<String, Vec<u8>>,
    left: u64,
    wrong: Option<(String, Verdict)>,
}

impl Sink for Wanted<'_> {
    fn wants(&self, path: &str) -> bool {
        (self.wants)(path)
    }

    fn file(&mut self, path: &str, _: About, content: &mut dyn Read) -> io::Result<bool> {
        let Some(clean) = normal(path) else {
            self.tell(path, Verdict::new(ContentVerdict::UnsafePath, "leads out of its folder"));
            return Ok(false);
        };
        if !self.wants(&clean) {
            return Ok(true);
        }
        let mut bytes = Vec::new();
        content.take(self.left + 1).read_to_end(&mut bytes)?;
        let Some(left) = self.left.checked_sub((bytes.len() + clean.len()) as u64) else {
            let limit = format!("more than {} GiB to keep", FILES_LIMIT >> 30);
            self.tell("", Verdict::new(ContentVerdict::PackageTooLarge, limit));
            return Ok(false);
        };
        self.left = left;
        self.files.insert(clean, bytes);
        Ok(true)
    }

    fn link(&mut self, _: &str, _: &str, _: Link) {}

    fn tell(&mut self, path: &str, verdict: Verdict) {
        self.wrong.get_or_insert_with(|| (path.to_owned(), verdict));
    }
}

/// Gives so many bytes and then an error, so that a bomb is not taken for an archive that ends.
struct Bounded<R> {
    reader: R,
    left: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("it unpacks to more than is read of one package")]
struct TooMuch;

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| io::Error::other(TooMuch))?;
        Ok(count)
    }
}

fn tar(reader: impl Read, sink: &mut dyn Sink) -> io::Result<()> {
    let mut archive = tar::Archive::new(reader);
    for (count, entry) in (0..).zip(archive.entries()?) {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        let link = match kind {
            _ if kind.is_symlink() => Some(Link::Symbolic),
            _ if kind.is_hard_link() => Some(Link::Hard),
            _ => None,
        };
        if let (Some(link), Some(target)) = (link, entry.link_name_bytes()) {
            sink.link(&bytes_text(&entry.path_bytes()), &bytes_text(&target), link);
        }
        // Devices and sockets are nothing to read.
        if !kind.is_file() && !kind.is_contiguous() {
            continue;
        }
        if count >= ENTRIES_LIMIT {
            sink.tell(
                "",
                Verdict::new(
                    ContentVerdict::PackageTooLarge,
                    format!("more than {ENTRIES_LIMIT} files"),
                ),
            );
            break;
        }
        let path = bytes_text(&entry.path_bytes());
        let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
        let about = About { size: Some(entry.size()), executable };
        if !sink.file(&path, about, &mut entry)? {
            break;
        }
    }
    Ok(())
}

fn zip(reader: impl Read + Seek, sink: &mut dyn Sink) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(reader).map_err(io::Error::other)?;
    let mut taken = Taken::default();
    for at in 0..archive.len() {
        let mut entry = match archive.by_index(at) {
            Ok(entry) => entry,
            Err(error) => {
                sink.tell("", Verdict::new(ContentVerdict::BrokenArchive, error.to_string()));
                continue;
            }
        };
        if !entry.is_file() && !entry.is_symlink() {
            continue;
        }
        let path = match entry.name() {
            Ok(name) => name.replace('\\', "/"),
            Err(_) => bytes_text(entry.name_raw()),
        };
        if entry.data_start().is_some_and(|start| !taken.take(start, entry.compressed_size())) {
            let why = "its bytes are another entry's, too";
            sink.tell(&path, Verdict::new(ContentVerdict::BrokenArchive, why));
            continue;
        }
        // The size in the folder of a zip is the maker's word: what is read decides.
        let executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        let taken = match entry.is_symlink() {
            true => target_of(&mut entry).map(|target| {
                sink.link(&path, &target, Link::Symbolic);
                true
            }),
            false => sink.file(&path, About { size: None, executable }, &mut entry),
        };
        match taken {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                sink.tell(&path, Verdict::new(ContentVerdict::BrokenArchive, error.to_string()))
            }
        }
    }
    Ok(())
}

/// A path is no longer than this.
const PATH_LIMIT: u64 = 4096;

/// What a link of a zip leads to, which is its content.
fn target_of(entry: &mut dyn Read) -> io::Result<String> {
    let mut target = Vec::new();
    entry.take(PATH_LIMIT).read_to_end(&mut target)?;
    Ok(bytes_text(&target))
}

/// The ranges of a zip whose bytes some entry has: a bomb has them in many.
#[derive(Default)]
struct Taken {
    /// Ends by starts.
    ranges: BTreeMap<u64, u64>,
}

impl Taken {
    /// Take a range, if none of it is taken.
    fn take(&mut self, start: u64, length: u64) -> bool {
        let end = start.saturating_add(length);
        let before = self.ranges.range(..end).next_back();
        if length > 0 && before.is_some_and(|(_, taken)| *taken > start) {
            return false;
        }
        if length > 0 {
            self.ranges.insert(start, end);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_is_taken_twice() {
        let mut taken = Taken::default();
        assert!(taken.take(10, 10) && taken.take(20, 5) && taken.take(0, 10));
        for (start, length) in [(10, 10), (15, 1), (0, 100), (24, 3), (9, 2)] {
            assert!(!taken.take(start, length), "{start} {length}");
        }
        assert!(taken.take(12, 0) && taken.take(25, 5));
    }

    /// A tar archive with these files.
    fn packed(files: &[(&str, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, text) in files {
            let mut header = tar::Header::new_ustar();
            // `set_path` would refuse what leads out.
            header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append(&header, text.as_bytes()).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn files_that_are_wanted_come_whole_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("tests.tar");
        let files = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            files_of(&path, &|path| path.ends_with(".txt"))
        };
        let whole = packed(&[("./a/1.txt", "one"), ("b.c", "no"), ("a/2.txt", "two")]);
        let found = files(&whole).unwrap();
        let due =
            [("a/1.txt".to_owned(), b"one".to_vec()), ("a/2.txt".to_owned(), b"two".to_vec())];
        assert_eq!(found, BTreeMap::from(due));
        let why = |bytes: &[u8]| files(bytes).unwrap_err().to_string();
        assert!(why(&whole[..700]).contains("broken-archive"), "{}", why(&whole[..700]));
        let out = packed(&[("../1.txt", "one")]);
        assert!(why(&out).contains("../1.txt: unsafe-path"), "{}", why(&out));
        assert!(why(b"text").contains("no archive"), "{}", why(b"text"));
    }

    #[test]
    fn what_unpacks_without_end_ends_with_a_word() {
        let mut read = Vec::new();
        let error =
            Bounded { reader: io::repeat(0), left: 1000 }.read_to_end(&mut read).unwrap_err();
        assert!(error.get_ref().is_some_and(|inner| inner.is::<TooMuch>()), "{error}");
        read.clear();
        Bounded { reader: io::repeat(0).take(1000), left: 1000 }.read_to_end(&mut read).unwrap();
        assert_eq!(read.len(), 1000);
    }
}
