//! For `fuzz/` alone: a server without sockets and without a model that draws.

use crate::{Limits, api::Api, connection, error::Error, gate::Gate, routes};
use axum::Router;
use lm::causal::Causal;
use std::{path::Path, sync::Arc};
use tokio::{runtime::Runtime, sync::mpsc};

/// A server whose answers are all refused, for want of a model, once they have been understood.
#[derive(Debug)]
pub struct Subject {
    runtime: Runtime,
    router: Router,
    limits: Limits,
}

impl Subject {
    /// Of a checkpoint, whose tokenizer is used. It is called `mine`.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub fn load(checkpoint: &Path) -> Result<Subject, Error> {
        let api = Api::new("mine".to_owned(), Arc::new(Causal::load(checkpoint)?), 1 << 18);
        let limits = Limits::default();
        let (jobs, _) = mpsc::channel(1);
        let router = routes::router(Arc::new(routes::Service::new(
            api,
            Arc::new(Gate::new(limits, None)),
            jobs,
        )));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .enable_all()
            .build()
            .map_err(Error::Start)?;
        Ok(Subject { runtime, router, limits })
    }

    /// What is answered to these bytes, on a connection of their own.
    #[must_use]
    pub fn answer(&self, asked: &[u8]) -> Vec<u8> {
        self.runtime.block_on(connection::answered(&self.router, self.limits, asked))
    }
}
