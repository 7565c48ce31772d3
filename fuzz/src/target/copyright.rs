//! What texts say about licenses (`debian/copyright`, metadata, headers): an expression in SPDX's spelling is read as
//! itself.

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    for expression in mine::fuzz::licenses(text, "src/a.c") {
        assert_eq!(mine::fuzz::expression(&expression), expression, "of {text:?}");
    }
}
