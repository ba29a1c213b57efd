//! Writes the libraries that stand in for NVIDIA's: one small file per name, with every symbol that somebody asks of it
//! and that the simulated device does not define itself.
//!
//! A program's libraries ask for `cudaMalloc` of version `libcudart.so.13` in a library of that name. The loader takes
//! a stand-in if it bears the name and defines the version; the symbol itself it finds anywhere, and an unversioned
//! definition satisfies a versioned reference. So the simulated device exports plain names, and each stand-in loads it,
//! defines the versions, and gives every remaining symbol the same three bytes of code: return 0.

use super::elf::{Import, Library};
use object::Endianness;
use object::elf;
use object::write::elf::{FileHeader, ProgramHeader, SectionHeader, Sym, Verdef, Writer};
use std::collections::{BTreeMap, BTreeSet};

/// A library to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stub {
    /// Symbols by version; those without one under the empty name.
    pub symbols: BTreeMap<String, BTreeSet<String>>,
}

/// NVIDIA's libraries that a program loads by name without asking for them in its files.
const ALWAYS: [&str; 2] = ["libcuda.so.1", "libnvidia-ml.so.1"];
/// How the names of NVIDIA's libraries begin.
const FAMILIES: [&str; 26] = [
    "libcuda.so",
    "libcudart",
    "libcublas",
    "libcudnn",
    "libcufft",
    "libcufile",
    "libcupti",
    "libcurand",
    "libcusolver",
    "libcusparse",
    "libcutensor",
    "libcudss",
    "libnccl",
    "libnvrtc",
    "libnvJitLink",
    "libnvToolsExt",
    "libnvidia-ml",
    "libnvshmem",
    "libnvjpeg",
    "libnvcuvid",
    "libnvidia-encode",
    "libnpp",
    "libnvperf",
    "libnvtx",
    "libnvfatbin",
    "libnvblas",
];
/// Which library an unversioned symbol belongs to, by the beginning of its name; the first that fits.
const PREFIXES: [(&str, &str); 16] = [
    ("curand", "libcurand"),
    ("nccl", "libnccl"),
    ("pnccl", "libnccl"),
    ("cuFile", "libcufile"),
    ("cusparseLt", "libcusparseLt"),
    ("nvshmem", "libnvshmem"),
    ("cupti", "libcupti"),
    ("nvtx", "libnvToolsExt"),
    ("nvml", "libnvidia-ml"),
    ("nvrtc", "libnvrtc"),
    ("cudnn", "libcudnn"),
    ("cublas", "libcublas"),
    ("cuda", "libcudart"),
    ("nvjpeg", "libnvjpeg"),
    ("npp", "libnpp"),
    ("cu", "libcuda.so"),
];

/// All functions of the driver and the runtime: extensions that are compiled while the program runs can't be read
/// beforehand, and a symbol that is missing ends the program.
const FUNCTIONS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/functions.txt.gz"));

/// Whether a library is NVIDIA's, by its name. Wheels rename what they bundle (`libcudart.faf08d9a.so.13`); the
/// beginning stays.
pub fn replaced(name: &str) -> bool {
    FAMILIES.iter().any(|family| name.starts_with(family))
}

/// The stand-ins for what these libraries ask for. `defined` are the symbols that the simulated device has.
pub fn plan<'a>(
    importers: impl IntoIterator<Item = &'a Library>,
    defined: &BTreeSet<String>,
) -> BTreeMap<String, Stub> {
    let mut stubs: BTreeMap<String, Stub> = ALWAYS.iter().map(|name| ((*name).to_owned(), Stub::default())).collect();
    let importers: Vec<&Library> = importers.into_iter().collect();
    for importer in &importers {
        for name in importer.needed.iter().filter(|name| replaced(name)) {
            stubs.entry(name.clone()).or_default();
        }
    }
    for importer in importers {
        for Import { name, version } in &importer.imports {
            match version {
                Some((version, file)) => {
                    if let Some(stub) = stubs.get_mut(file) {
                        let symbols = stub.symbols.entry(version.clone()).or_default();
                        if !defined.contains(name) {
                            symbols.insert(name.clone());
                        }
                    }
                }
                None if defined.contains(name) => {}
                None => {
                    let Some((_, family)) = PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix)) else {
                        continue;
                    };
                    let of_family = |wanted: &&String| wanted.starts_with(family);
                    // A library that bundles its own copy asks for that one by its changed name.
                    let file = importer.needed.iter().find(of_family).cloned();
                    let file = file.or_else(|| stubs.keys().find(of_family).cloned());
                    if let Some(stub) = stubs.get_mut(file.as_deref().unwrap_or("libcuda.so.1")) {
                        stub.symbols.entry(String::new()).or_default().insert(name.clone());
                    }
                }
            }
        }
    }
    let functions = crate::packed::text(FUNCTIONS);
    let (driver, runtime): (Vec<&str>, Vec<&str>) = functions
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(str::split_whitespace)
        .filter(|name| !defined.contains(*name))
        .partition(|name| !name.starts_with("cuda"));
    for (file, stub) in &mut stubs {
        let (version, names) = match file.as_str() {
            "libcuda.so.1" => (Some(String::new()), &driver),
            // Whoever asks for it says which version it has.
            _ if file.starts_with("libcudart.") => {
                (stub.symbols.keys().find(|name| !name.is_empty()).cloned(), &runtime)
            }
            _ => continue,
        };
        if let Some(version) = version {
            stub.symbols.entry(version).or_default().extend(names.iter().map(|name| (*name).to_owned()));
        }
    }
    stubs
}

const PAGE: u64 = 0x1000;
/// `xor eax, eax; ret`
const RETURN_ZERO: [u8; 3] = [0x31, 0xc0, 0xc3];

/// The bytes of a stand-in. Addresses in it equal offsets in the file.
///
/// # Errors
/// Where a table does not fit into the format, which takes more versions or symbols than any library has.
pub fn write(soname: &str, shim: &str, stub: &Stub) -> object::write::Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut buffer);
    let versions: Vec<&String> = stub.symbols.keys().filter(|version| !version.is_empty()).collect();
    let symbols: Vec<(&String, usize)> = stub
        .symbols
        .iter()
        .flat_map(|(version, names)| {
            let index = versions.iter().position(|known| *known == version);
            names.iter().map(move |name| (name, index.map_or(1, |index| index + 2)))
        })
        .collect();

    // Everything is announced first, in the order of the file, then written in the same order.
    writer.reserve_file_header();
    const SEGMENTS: u32 = 4;
    writer.reserve_program_headers(SEGMENTS);
    writer.reserve_null_section_index();
    let soname_id = writer.add_dynamic_string(soname.as_bytes());
    let shim_id = writer.add_dynamic_string(shim.as_bytes());
    let origin_id = writer.add_dynamic_string(b"$ORIGIN");
    let version_ids: Vec<_> = versions.iter().map(|version| writer.add_dynamic_string(version.as_bytes())).collect();
    let names: Vec<_> = symbols.iter().map(|(name, _)| writer.add_dynamic_string(name.as_bytes())).collect();
    writer.reserve_hash_section_index();
    writer.reserve_dynsym_section_index();
    writer.reserve_dynstr_section_index();
    if !versions.is_empty() {
        writer.reserve_gnu_versym_section_index();
        writer.reserve_gnu_verdef_section_index();
    }
    let text_name = writer.add_section_name(b".text");
    let text_index = writer.reserve_section_index();
    writer.reserve_dynamic_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_null_dynamic_symbol_index();
    for _ in &symbols {
        writer.reserve_dynamic_symbol_index();
    }
    let count = symbols.len() as u32 + 1;
    let buckets = (count / 2).max(1);
    let hash_at = writer.reserve_hash(buckets, count);
    let symbols_at = writer.reserve_dynsym();
    let strings_at = writer.reserve_dynstr()?;
    let (mut versions_at, mut definitions_at) = (0, 0);
    let definitions = versions.len() as u16 + 1;
    if !versions.is_empty() {
        versions_at = writer.reserve_gnu_versym();
        definitions_at = writer.reserve_gnu_verdef(definitions, usize::from(definitions));
    }
    let text_at = writer.reserve(RETURN_ZERO.len() as u64, 16);
    let end_of_code = writer.reserved_len();
    writer.reserve_until(end_of_code.div_ceil(PAGE) * PAGE);
    let entries = 9 + if versions.is_empty() { 0 } else { 3 };
    let dynamic_at = writer.reserve_dynamic(entries);
    let dynamic_length = writer.reserved_len() - dynamic_at;
    writer.reserve_shstrtab()?;
    writer.reserve_section_headers();

    writer.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type: elf::ET_DYN,
        e_machine: elf::EM_X86_64,
        e_entry: 0,
        e_flags: elf::FileFlags(0),
    })?;
    let mut segment = |kind, flags, at: u64, length: u64, align| {
        writer.write_program_header(&ProgramHeader {
            p_type: kind,
            p_flags: flags,
            p_offset: at,
            p_vaddr: at,
            p_paddr: at,
            p_filesz: length,
            p_memsz: length,
            p_align: align,
        });
    };
    segment(elf::PT_LOAD, elf::PF_R | elf::PF_X, 0, end_of_code, PAGE);
    // The loader writes into the dynamic section.
    segment(elf::PT_LOAD, elf::PF_R | elf::PF_W, dynamic_at, dynamic_length, PAGE);
    segment(elf::PT_DYNAMIC, elf::PF_R | elf::PF_W, dynamic_at, dynamic_length, 8);
    // Without this the loader would make the stack executable.
    segment(elf::PT_GNU_STACK, elf::PF_R | elf::PF_W, 0, 0, 16);

    let hashes: Vec<u32> = symbols.iter().map(|(name, _)| elf::hash(name.as_bytes())).collect();
    writer.write_hash(buckets, count, |index| hashes.get(index.checked_sub(1)? as usize).copied());
    writer.write_null_dynamic_symbol();
    for name in &names {
        let st_name = writer.dynamic_string_offset(Some(*name));
        writer.write_dynamic_symbol(&Sym {
            section: Some(text_index.0),
            st_name,
            st_info: elf::SymbolInfo::new(elf::STB_GLOBAL, elf::STT_FUNC),
            st_other: elf::SymbolOther(0),
            st_shndx: elf::SymbolSection(0),
            st_value: text_at,
            st_size: RETURN_ZERO.len() as u64,
        });
    }
    writer.write_dynstr();
    if !versions.is_empty() {
        writer.write_null_gnu_versym();
        for (_, version) in &symbols {
            writer.write_gnu_versym(elf::VersionIndex(*version as u16).into());
        }
        writer.write_align_gnu_verdef();
        let base = [(soname, soname_id, elf::VER_FLG_BASE)];
        let own = versions.iter().zip(&version_ids).map(|(name, id)| (name.as_str(), *id, elf::VersionFlags(0)));
        for (index, (name, id, flags)) in base.into_iter().chain(own).enumerate() {
            let name_offset = writer.dynamic_string_offset(Some(id));
            writer.write_gnu_verdef(&Verdef {
                version: elf::VER_DEF_CURRENT,
                flags,
                index: elf::VersionIndex(index as u16 + 1),
                aux_count: 1,
                name: name_offset,
                hash: elf::hash(name.as_bytes()),
            });
        }
    }
    writer.write_align(16);
    writer.write(&RETURN_ZERO);
    writer.pad_until(dynamic_at);
    writer.write_align_dynamic();
    writer.write_dynamic_string(elf::DT_NEEDED, shim_id)?;
    writer.write_dynamic_string(elf::DT_SONAME, soname_id)?;
    writer.write_dynamic_string(elf::DT_RUNPATH, origin_id)?;
    writer.write_dynamic(elf::DT_HASH, hash_at)?;
    writer.write_dynamic(elf::DT_STRTAB, strings_at)?;
    writer.write_dynamic(elf::DT_SYMTAB, symbols_at)?;
    let strings_length = writer.dynstr_len();
    writer.write_dynamic(elf::DT_STRSZ, strings_length.into())?;
    writer.write_dynamic(elf::DT_SYMENT, 24)?;
    if !versions.is_empty() {
        writer.write_dynamic(elf::DT_VERSYM, versions_at)?;
        writer.write_dynamic(elf::DT_VERDEF, definitions_at)?;
        writer.write_dynamic(elf::DT_VERDEFNUM, definitions.into())?;
    }
    writer.write_dynamic(elf::DT_NULL, 0)?;
    writer.write_shstrtab();

    writer.write_null_section_header();
    writer.write_hash_section_header(hash_at);
    writer.write_dynsym_section_header(symbols_at, 1);
    writer.write_dynstr_section_header(strings_at);
    writer.write_gnu_versym_section_header(versions_at);
    writer.write_gnu_verdef_section_header(definitions_at);
    let text_name = writer.section_name_offset(Some(text_name));
    writer.write_section_header(&SectionHeader {
        sh_name: text_name,
        sh_type: elf::SHT_PROGBITS,
        sh_flags: elf::SHF_ALLOC | elf::SHF_EXECINSTR,
        sh_addr: text_at,
        sh_offset: text_at,
        sh_size: RETURN_ZERO.len() as u64,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: 16,
        sh_entsize: 0,
    });
    writer.write_dynamic_section_header(dynamic_at);
    writer.write_shstrtab_section_header();
    Ok(buffer)
}
