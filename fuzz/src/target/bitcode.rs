//! The identification block of bitcode: its producer is short, whatever the block says.

use llvm::Identification;

pub fn run(data: &[u8]) {
    if let Some(found) = Identification::read(data) {
        assert!(Identification::is_bitcode(data));
        // A letter that is none takes three bytes.
        assert!(found.producer.len() <= 3 * data.len().max(8192), "{} bytes", found.producer.len());
    }
}
