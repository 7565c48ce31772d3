//! Modules in bitcode: whatever they hold, their reader says so or gives arrays whose places are all there.

use bitcode::{Body, Fate, Operand, Reader};

pub fn run(data: &[u8]) {
    let Ok(mut reader) = Reader::open(data) else { return };
    for function in reader.reserved().collect::<Vec<u32>>() {
        let signature = reader.flat().functions[function as usize].ty;
        let _ = reader.flat().types.print(signature);
        // All that becomes of calls becomes of some.
        let fates = [Fate::Stays, Fate::Goes, Fate::Lifetime, Fate::Without(1), Fate::Unknown];
        reader.decide(function, fates[function as usize % fates.len()]);
    }
    let mut body = Body::default();
    while let Ok(true) = reader.body(&mut body) {
        let flat = reader.flat();
        let locals = flat.arguments(body.function).len() + body.instructions.len();
        for operand in &body.operands {
            match operand {
                Operand::Value(id) => assert!((*id as usize) < flat.values.len()),
                Operand::Local(local) => assert!((*local as usize) < locals),
                Operand::Block(block) => assert!((*block as usize) < body.blocks.len()),
                Operand::Metadata(ty) => assert!((*ty as usize) < flat.types.len()),
            }
        }
        assert_eq!(body.blocks.last().copied(), Some(body.instructions.len() as u32));
        // Memory goes with the bytes.
        assert!(flat.values.len() + flat.parts.len() + body.operands.len() <= 64 * data.len());
        assert!(flat.text.len() <= 64 * data.len());
    }
}
