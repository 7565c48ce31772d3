//! A list of sources names sources, or says what is wrong.

pub fn run(data: &[u8]) {
    let Some(text) = crate::input::text(data) else { return };
    for source in mine::read_list(text).unwrap_or_default() {
        if let Ok(spec) = mine::Spec::parse(&source) {
            assert_eq!(spec.text(), source.trim());
        }
    }
}
