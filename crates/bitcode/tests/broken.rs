//! Modules that fuzzing found.

use stampmill_bitcode::{Body, Fate, Reader};
use std::fs;

#[test]
fn a_call_with_fewer_arguments_than_it_is_to_lose_is_broken() {
    let bytes = fs::read("../../fuzz/seeds/module/short-call.bc").expect("a seed of `module`");
    let mut reader = Reader::open(&bytes).expect("its functions can be read");
    let fates = [Fate::Stays, Fate::Goes, Fate::Lifetime, Fate::Without(1), Fate::Unknown];
    for function in reader.reserved().collect::<Vec<u32>>() {
        reader.decide(function, fates[function as usize % fates.len()]);
    }
    let mut body = Body::default();
    let end = loop {
        match reader.body(&mut body) {
            Ok(true) => {}
            end => break end,
        }
    };
    assert!(end.is_err(), "{end:?}");
}
