//! Names of the kernels of published suites.

/// `SUITE KERNEL` lines: names that published data of the suites give.
const LINES: &str = include_str!("suites.txt");

/// The suite of a target whose name begins with that of one, as `npb-3.3/BT/blts.cl:blts`.
#[must_use]
pub fn suite_of(target: &str) -> Option<&'static str> {
    let mut suites = LINES.lines().filter_map(|line| line.split_once(' ')).map(|(suite, _)| suite);
    let is_its = |suite: &&str| {
        let rest = target.strip_prefix(suite).unwrap_or("x");
        rest.starts_with('-') && rest[1..].starts_with(|c: char| c.is_ascii_digit())
            || rest.starts_with('/')
    };
    suites.find(is_its)
}

/// The names of a suite's kernels; none of a suite that is not known.
pub fn suite_kernels(suite: &str) -> impl Iterator<Item = &'static str> {
    let pairs = LINES.lines().filter_map(|line| line.split_once(' '));
    pairs.filter(move |(known, _)| *known == suite).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_known_by_their_suite() {
        assert_eq!(suite_of("npb-3.3/BT/blts.cl:blts"), Some("npb"));
        assert_eq!(suite_of("amd-app-sdk-3.0/samples/x.cl:k"), Some("amd-app-sdk"));
        assert_eq!(suite_of("rodinia/bfs/Kernels.cl:BFS_1"), Some("rodinia"));
        assert_eq!(suite_of("npbx-3/x"), None);
        assert_eq!(suite_of("npb-x/BT"), None);
        assert_eq!(suite_of("npb3/BT"), None);
        assert_eq!(suite_of("npb"), None);
        assert_eq!(suite_of("Load=12,FMul=8"), None);
        assert!(suite_kernels("npb").count() > 100);
        assert!(suite_kernels("rodinia").any(|name| name == "BFS_1"));
        assert_eq!(suite_kernels("none").count(), 0);
    }
}
