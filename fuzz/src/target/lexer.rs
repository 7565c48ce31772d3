//! Text of any kind is cut into tokens that follow each other; a word or number alone is one.

use lexer::{Dialect, Kind};

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    for dialect in [Dialect::OPENCL, Dialect::CPP, Dialect::HOST, Dialect::FLAT] {
        let mut last = 0;
        for token in dialect.tokens(text) {
            assert!(token.begin >= last && !token.text.is_empty());
            assert_eq!(&text[token.begin..token.end()], token.text);
            last = token.end();
            if matches!(token.kind, Kind::Word | Kind::Number) {
                let alone: Vec<_> = dialect.tokens(token.text).collect();
                assert!(alone.len() == 1 && alone[0].kind == token.kind, "{alone:?}");
            }
        }
        assert!(last <= text.len());
    }
    let coarse: usize = lexer::coarse(text).map(str::len).sum();
    assert!(coarse <= text.len());
    let names = lexer::kernel_names(text);
    let signatures = lexer::kernel_signatures(text);
    assert_eq!(names, signatures.iter().map(|one| one.name).collect::<Vec<_>>());
}
