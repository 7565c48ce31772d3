/// Where a long run says how far it is; called from several threads.
pub trait Progress: Sync {
    /// A piece of work called `name` begins; it has `total` units, 0 where that is not known.
    fn begin(&self, name: &str, total: u64);
    /// `units` more of it are done.
    fn advance(&self, units: u64);
    /// Something a person may want to know.
    fn message(&self, text: &str);
    /// Something that a person should still see when all is done.
    fn note(&self, _text: &str) {}
    /// All is done: nothing is to be seen of it any more.
    fn end(&self) {}
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: &str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn message(&self, _: &str) {}
}
