//! The scheduler: Ballista's, behind a token, and what it knows of executors.

use crate::{Error, Stop, codec::Codec, say, stopped, store, token};
use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    middleware,
    routing::{get, post},
};
use ballista_core::{
    config::TaskSchedulingPolicy,
    serde::{
        BallistaCodec, BallistaLogicalExtensionCodec,
        protobuf::scheduler_grpc_server::SchedulerGrpcServer,
    },
    utils::default_session_builder,
};
use ballista_scheduler::{
    cluster::BallistaCluster,
    config::SchedulerConfig,
    metrics::default_metrics_collector,
    scheduler_server::{JobIdGenerator, SchedulerServer},
};
use cluster::{Answer, Executor, Heartbeat, Started, Status, Token};
use datafusion::{
    execution::{SessionState, SessionStateBuilder},
    prelude::SessionConfig,
};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::net::TcpListener;
use tonic::service::Routes;

type Server = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// The largest message: a plan with thousands of parts in it is far smaller.
const MESSAGE_BYTES: u32 = 64 << 20;
/// How often silent executors are looked for.
const LOOK_SECONDS: u64 = 2;
/// An executor that was not heard for so many seconds is remembered no longer.
const FORGOTTEN: Duration = Duration::from_secs(24 * 3600);

/// What is known of executors, and who asks about them.
struct Known {
    server: Server,
    silence: Duration,
    executors: Mutex<BTreeMap<String, Heard>>,
}

/// What is known of one executor.
struct Heard {
    heartbeat: Heartbeat,
    at: Instant,
    losses: u64,
}

/// Names of jobs. Ballista's own generator has a thread that wakes every millisecond, 2 % of a core.
struct Drawn;

#[async_trait::async_trait]
impl JobIdGenerator for Drawn {
    async fn next_id(&self) -> String {
        uuid::Uuid::new_v4().simple().to_string()
    }
}

pub(crate) async fn run(
    host: &str,
    port: u16,
    token: Option<Token>,
    silence: u64,
    mut stop: Stop,
) -> Result<(), Error> {
    if token.is_none() && !cluster::is_loopback(host) {
        return Err(Error::Failed(format!(
            "a scheduler that listens at {host} is reached from other machines: give it a token by --token-file"
        )));
    }
    let address = format!("{host}:{port}");
    let listen = |source| Error::Listen { address: address.clone(), source };
    let listener = TcpListener::bind(&address).await.map_err(listen)?;
    let at = listener.local_addr().map_err(listen)?;
    let config = SchedulerConfig {
        bind_host: host.to_owned(),
        external_host: host.to_owned(),
        bind_port: at.port(),
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: silence,
        expire_dead_executor_interval_seconds: LOOK_SECONDS,
        no_executors_grace_period_seconds: 2 * silence,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES,
        // A step whose input is gone fails the job, which is asked for again: see `losses`.
        stage_max_failures: 1,
        override_physical_codec: Some(Arc::new(Codec::default())),
        override_session_builder: Some(Arc::new(session)),
        override_create_grpc_client_endpoint: Some(token::on_endpoints(token.clone())),
        job_id_generator: Some(Arc::new(Drawn)),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let codec = BallistaCodec::new(
        Arc::new(BallistaLogicalExtensionCodec::default()),
        Arc::new(Codec::default()),
    );
    let endpoint = config.scheduler_endpoint();
    let mut server: Server = SchedulerServer::new(
        endpoint,
        cluster,
        codec,
        Arc::new(config),
        default_metrics_collector()?,
    );
    server.init().await?;
    let grpc = SchedulerGrpcServer::new(server.clone())
        .max_decoding_message_size(MESSAGE_BYTES as usize)
        .max_encoding_message_size(MESSAGE_BYTES as usize);
    let silence = Duration::from_secs(silence);
    let known = Arc::new(Known { server, silence, executors: Mutex::default() });
    let own = Router::new()
        .route("/stampmill/status", get(status))
        .route("/stampmill/executors", post(beat))
        .with_state(known);
    let router = Routes::new(grpc)
        .into_axum_router()
        .merge(own)
        .layer(middleware::from_fn_with_state(token, token::check))
        .into_make_service_with_connect_info::<SocketAddr>();
    say(&Started { url: format!("http://{at}"), pid: std::process::id() })?;
    tokio::select! {
        served = axum::serve(listener, router) => served.map_err(Error::Machine),
        () = stopped(&mut stop) => Ok(()),
    }
}

/// A session in which plans may name objects; the scheduler reads none.
fn session(config: SessionConfig) -> datafusion::error::Result<SessionState> {
    let state = default_session_builder(config)?;
    let builder = SessionStateBuilder::new_from_existing(state);
    Ok(builder.with_runtime_env(store::environment(store::naming())?).build())
}

async fn status(State(known): State<Arc<Known>>) -> Json<Status> {
    let (version, jobs) = (env!("CARGO_PKG_VERSION").to_owned(), known.jobs());
    Json(Status { version, executors: known.executors(), jobs })
}

async fn beat(
    State(known): State<Arc<Known>>,
    Json(heartbeat): Json<Heartbeat>,
) -> Result<Json<Answer>, (StatusCode, String)> {
    let (own, other) = (env!("CARGO_PKG_VERSION"), &heartbeat.about.version);
    if own != other {
        let why = format!(
            "the scheduler is stampmill {own}, the executor {other}: install one version on both"
        );
        return Err((StatusCode::CONFLICT, why));
    }
    known.hear(heartbeat);
    Ok(Json(Answer { jobs: known.jobs() }))
}

impl Known {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Heard>> {
        self.executors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, heartbeat: Heartbeat) {
        let mut executors = self.lock();
        let before = executors.get(&heartbeat.id);
        let losses = before.map_or(0, |one| {
            // Ballista counts the silence by itself, in whole seconds.
            let may_be_lost = one.at.elapsed() > self.silence.mul_f64(0.75);
            one.losses + u64::from(may_be_lost)
        });
        let id = heartbeat.id.clone();
        executors.insert(id, Heard { heartbeat, at: Instant::now(), losses });
    }

    fn jobs(&self) -> Vec<String> {
        let running = self.server.state.task_manager.get_running_job_cache();
        running.keys().map(ToString::to_string).collect()
    }

    fn executors(&self) -> Vec<Executor> {
        let mut executors = self.lock();
        executors.retain(|_, one| one.at.elapsed() < FORGOTTEN);
        let of = |one: &Heard| {
            let silent = one.at.elapsed();
            let state = match (&one.heartbeat.leaving, silent > self.silence) {
                (Some(_), _) => "left",
                (None, true) => "lost",
                (None, false) => "active",
            };
            Executor {
                heartbeat: one.heartbeat.clone(),
                state: state.to_owned(),
                silent_seconds: silent.as_secs_f64(),
                losses: one.losses,
            }
        };
        executors.values().map(of).collect()
    }
}
