use object::{Object, ObjectSection, read::archive::ArchiveFile};

/// A module found inside another file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    /// The archive's member, or empty.
    pub member: String,
    /// The bitcode.
    pub bitcode: Vec<u8>,
    /// The compiler's own arguments as they were embedded beside it, or empty.
    pub command: Vec<String>,
}

/// How LLVM's bitcode begins: the magic number and the head of the identification block.
const HEAD: [u8; 8] = [b'B', b'C', 0xc0, 0xde, 0x35, 0x14, 0, 0];
const SECTIONS: [&str; 3] = [".llvmbc", "__bitcode", "__LLVM,__bitcode"];
const COMMANDS: [&str; 3] = [".llvmcmd", "__cmdline", "__LLVM,__cmdline"];
/// Members of an archive that are looked at.
const MEMBERS: usize = 100_000;

/// The modules in a file: bitcode itself, an object file with a section of it, an archive of
/// either. Empty for everything else; broken files give what could be read.
pub(crate) fn embedded(content: &[u8]) -> Vec<Embedded> {
    if llvm::Identification::is_bitcode(content) {
        return vec![Embedded { bitcode: content.to_vec(), ..Embedded::default() }];
    }
    if content.starts_with(b"!<arch>\n") || content.starts_with(b"!<thin>\n") {
        return of_archive(content);
    }
    of_object(content)
}

fn of_archive(content: &[u8]) -> Vec<Embedded> {
    let Ok(archive) = ArchiveFile::parse(content) else { return Vec::new() };
    let mut found = Vec::new();
    for member in archive.members().take(MEMBERS).flatten() {
        // A thin archive's members lie elsewhere.
        let Ok(data) = member.data(content) else { continue };
        let name = String::from_utf8_lossy(member.name()).into_owned();
        // An archive in an archive is no program of anybody's.
        if data.starts_with(b"!<arch>\n") {
            continue;
        }
        found.extend(
            embedded(data).into_iter().map(|module| Embedded { member: name.clone(), ..module }),
        );
    }
    found
}

fn of_object(content: &[u8]) -> Vec<Embedded> {
    let Ok(file) = object::File::parse(content) else { return Vec::new() };
    let section = |names: &[&str]| {
        file.sections()
            .find(|section| section.name().is_ok_and(|name| names.contains(&name)))
            .and_then(|section| section.uncompressed_data().ok())
            .unwrap_or_default()
    };
    let modules = split(&section(&SECTIONS));
    let commands = commands(&section(&COMMANDS));
    modules
        .into_iter()
        .enumerate()
        .map(|(at, bitcode)| Embedded {
            member: String::new(),
            bitcode,
            // `ld -r` joins both sections in one order.
            command: commands.get(at).cloned().unwrap_or_default(),
        })
        .collect()
}

/// A section that a linker put together holds one module after the other.
fn split(section: &[u8]) -> Vec<Vec<u8>> {
    let mut starts: Vec<usize> = (0..section.len().saturating_sub(HEAD.len() - 1))
        .step_by(4)
        .filter(|at| section[*at..].starts_with(&HEAD))
        .collect();
    if starts.is_empty() && llvm::Identification::is_bitcode(section) {
        starts.push(0);
    }
    let ends = starts.iter().copied().skip(1).chain([section.len()]);
    starts.iter().zip(ends).map(|(start, end)| section[*start..end].to_vec()).collect()
}

/// Arguments end in NUL; those of each compilation begin with `-cc1`.
fn commands(section: &[u8]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for word in section.split(|byte| *byte == 0).filter(|word| !word.is_empty()) {
        let word = String::from_utf8_lossy(word).into_owned();
        match all.last_mut() {
            Some(last) if word != "-cc1" => last.push(word),
            _ => all.push(vec![word]),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_sections_are_taken_apart() {
        let one = [&HEAD[..], b"abcd"].concat();
        let two = [&HEAD[..], b"efghijkl"].concat();
        assert_eq!(split(&[one.clone(), two.clone()].concat()), [one, two]);
        assert_eq!(split(b""), Vec::<Vec<u8>>::new());
        assert_eq!(commands(b"-cc1\0-O2\0-cc1\0-O1\0"), [["-cc1", "-O2"], ["-cc1", "-O1"]]);
    }

    #[test]
    fn what_is_no_object_holds_nothing() {
        for bytes in
            [&b""[..], b"!<arch>\n", b"\x7fELF", b"!<arch>\nnonsense that is no header", b"x"]
        {
            assert!(embedded(bytes).is_empty(), "{bytes:?}");
        }
    }
}
