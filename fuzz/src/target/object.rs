//! Modules embedded in objects and archives are no larger than what holds them.

pub fn run(data: &[u8]) {
    let found = ir::fuzz::embedded(data);
    let bytes: usize = found.iter().map(|module| module.bitcode.len()).sum();
    assert!(bytes <= data.len(), "{bytes} bytes of modules in {}", data.len());
}
