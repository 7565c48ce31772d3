//! What was found out in a weak sandbox is not trusted by a run that does not accept one.

use stampmill_edits::Store;

#[test]
fn results_of_a_weak_sandbox_are_kept_apart_and_answers_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::at(folder.path());
    sandbox::allow_weak(true);
    store.put("trials", "abcd", b"passed");
    store.put("answers", "abcd", b"faster");
    assert!(store.get("trials", "abcd").is_some());
    sandbox::allow_weak(false);
    assert_eq!(store.get("trials", "abcd"), None);
    assert_eq!(store.get("answers", "abcd").expect("is kept"), b"faster");
}
