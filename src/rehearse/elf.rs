//! What a shared library asks of others: the names and versions that the dynamic loader would look for.
//!
//! Only headers and tables are read, never the contents: PyTorch's libraries are close to a gigabyte.

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, Sym};
use object::read::{ReadCache, ReadRef};
use object::{Endianness, SymbolIndex};
use std::fs::File;
use std::io;
use std::path::Path;

/// A symbol that a library expects of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    pub name: String,
    /// The version asked for and the library that must define it; `None` for a symbol that any library may define.
    pub version: Option<(String, String)>,
}

/// The dynamic section of a shared library. Without an entry in the file, the entry here is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Library {
    /// The name under which others ask for it.
    pub soname: Option<String>,
    /// The names that it asks for, in order.
    pub needed: Vec<String>,
    /// Folders that it is searched in first (`DT_RPATH`, before `LD_LIBRARY_PATH`).
    pub rpath: Option<String>,
    /// Folders that are searched after `LD_LIBRARY_PATH`.
    pub runpath: Option<String>,
    pub imports: Vec<Import>,
    /// Names that it defines for others.
    pub exports: Vec<String>,
}

/// What of the symbols is wanted: reading all names of a large library takes longer than everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbols {
    None,
    Imports,
    Exports,
}

/// Reads a 64-bit little-endian library.
///
/// # Errors
/// Where the file can't be read; `InvalidData` where it is not such a library.
pub fn read(path: &Path, symbols: Symbols) -> io::Result<Library> {
    let cache = ReadCache::new(File::open(path)?);
    parse(&cache, symbols).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The same from memory.
///
/// # Errors
/// Where the bytes are not such a library.
pub fn parse_bytes(bytes: &[u8], symbols: Symbols) -> object::read::Result<Library> {
    parse(bytes, symbols)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn parse<'data, R: ReadRef<'data>>(data: R, symbols: Symbols) -> object::read::Result<Library> {
    let header = FileHeader64::<Endianness>::parse(data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, data)?;
    let mut library = Library::default();
    let dynamic = sections.dynamic_table(endian, data)?;
    for entry in dynamic.dynamics() {
        let tag = entry.d_tag(endian);
        if tag == elf::DT_NULL {
            break;
        }
        if ![elf::DT_NEEDED, elf::DT_SONAME, elf::DT_RPATH, elf::DT_RUNPATH].contains(&tag) {
            continue;
        }
        let Ok(offset) = u32::try_from(entry.d_val(endian)) else { continue };
        let Ok(bytes) = dynamic.strings().get(offset) else { continue };
        let value = text(bytes);
        match tag {
            elf::DT_NEEDED => library.needed.push(value),
            elf::DT_SONAME => library.soname = Some(value),
            elf::DT_RPATH => library.rpath = Some(value),
            _ => library.runpath = Some(value),
        }
    }
    if symbols == Symbols::None {
        return Ok(library);
    }
    let table = sections.symbols(endian, data, elf::SHT_DYNSYM)?;
    let versions = sections.versions(endian, data)?;
    for (index, symbol) in table.iter().enumerate().skip(1) {
        let wanted = match symbols {
            Symbols::Imports => symbol.is_undefined(endian),
            _ => !symbol.is_undefined(endian) && symbol.st_bind() != elf::STB_LOCAL,
        };
        if !wanted {
            continue;
        }
        let name = text(symbol.name(endian, table.strings())?);
        if symbols == Symbols::Exports {
            library.exports.push(name);
            continue;
        }
        let version = versions.as_ref().and_then(|versions| {
            let version = versions.version(versions.version_index(endian, SymbolIndex(index)).index()).ok()??;
            Some((text(version.name()), text(version.file()?)))
        });
        library.imports.push(Import { name, version });
    }
    Ok(library)
}
