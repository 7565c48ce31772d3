//! An executor: asks the scheduler for tasks and does them.

use crate::{
    Error, Stop, codec::Codec, guard::Guard, runner::Runner, say, scratch, stopped, store, token,
};
use arrow_flight::flight_service_server::FlightServiceServer;
use axum::middleware;
use ballista_core::{
    BALLISTA_PROTOCOL_VERSION, RuntimeProducer,
    extension::ballista_scalar_functions,
    registry::BallistaFunctionRegistry,
    serde::{
        BallistaCodec, BallistaLogicalExtensionCodec,
        protobuf::{
            ExecutorOperatingSystemSpecification, ExecutorRegistration, ExecutorResource,
            ExecutorSpecification, ExecutorStoppedParams, executor_resource::Resource,
            scheduler_grpc_client::SchedulerGrpcClient,
        },
    },
};
use ballista_executor::{
    execution_loop, executor::Executor, flight_service::BallistaFlightService,
    health::ExecutorHealth, metrics::LoggingMetricsCollector,
};
use cluster::{ExecutorSettings, Started};
use datafusion::execution::{memory_pool::FairSpillPool, runtime_env::RuntimeEnvBuilder};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};
use tokio::net::TcpListener;
use tonic::service::Routes;

/// How often the scheduler hears of it.
const BEAT: Duration = Duration::from_secs(1);
/// The program that does a task.
const PROGRAM: &str = "stampmill";
const MESSAGE_BYTES: usize = 64 << 20;

pub(crate) async fn run(mut settings: ExecutorSettings, mut stop: Stop) -> Result<(), Error> {
    if settings.address.token.is_none() && !cluster::is_loopback(&settings.host) {
        return Err(Error::Failed(format!(
            "an executor that listens at {} is reached from other machines: give it the scheduler's token by --token-file",
            settings.host
        )));
    }
    let wrong = |root: &PathBuf, error: String| {
        Error::Failed(format!("cannot read --root {}: {error}", root.display()))
    };
    for root in &mut settings.roots {
        let url = dataset::Url::of(root).map_err(|error| Error::Failed(error.to_string()))?;
        if let Some(url) = url {
            *root = url.path();
            continue;
        }
        *root = root.canonicalize().map_err(|error| wrong(root, error.to_string()))?;
    }
    let program: PathBuf = host::installed(PROGRAM).ok_or_else(|| {
        Error::Failed(format!(
            "no {PROGRAM} beside stampmill-cluster: `make cluster` puts them together"
        ))
    })?;
    let id = uuid::Uuid::new_v4().simple().to_string();
    let work = scratch::new().map_err(Error::Machine)?;
    let tries = work.path().join("tries");
    std::fs::create_dir(&tries).map_err(Error::Machine)?;
    let runner = Arc::new(Runner::new(settings.clone(), id.clone(), program, tries));

    let address = format!("{}:0", settings.host);
    let listen = |source| Error::Listen { address: address.clone(), source };
    let listener = TcpListener::bind(&address).await.map_err(listen)?;
    let port = listener.local_addr().map_err(listen)?.port();
    // The scheduler is there, and takes it, before it works.
    beat(&settings, &runner, port).await?;

    let work_folder = work.path().display().to_string();
    let token = settings.address.token.clone();
    // One for all tasks: together they take no more.
    let memory = usize::try_from(settings.memory).unwrap_or(usize::MAX);
    let environment = RuntimeEnvBuilder::new()
        .with_object_store_registry(store::reading())
        .with_temp_file_path(work_folder.clone())
        .with_memory_pool(Arc::new(FairSpillPool::new(memory)))
        .build_arc()?;
    let runtime: RuntimeProducer = Arc::new(move |_| Ok(Arc::clone(&environment)));
    let of_session = token.clone();
    let vcores = u32::try_from(settings.tasks).unwrap_or(u32::MAX);
    let metadata = ExecutorRegistration {
        id: id.clone(),
        host: Some(settings.host.clone()),
        port: u32::from(port),
        grpc_port: 0,
        specification: Some(ExecutorSpecification {
            resources: vec![ExecutorResource { resource: Some(Resource::Vcores(vcores)) }],
        }),
        os_info: Some(ExecutorOperatingSystemSpecification::default()),
        ballista_protocol_version: BALLISTA_PROTOCOL_VERSION,
    };
    let executor = Executor::new(
        metadata,
        &work_folder,
        runtime,
        Arc::new(move || token::session(of_session.clone())),
        Arc::new(functions()),
        Arc::new(LoggingMetricsCollector::default()),
        settings.tasks,
        Arc::new(Guard::new(settings.roots.clone())),
    );
    let codec: BallistaCodec<LogicalPlanNode, PhysicalPlanNode> = BallistaCodec::new(
        Arc::new(BallistaLogicalExtensionCodec::default()),
        Arc::new(Codec::on_executor(Arc::clone(&runner))),
    );
    let channel = token::channel(&settings.address)?;
    let mut scheduler = SchedulerGrpcClient::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    let polls = execution_loop::poll_loop(
        scheduler.clone(),
        Arc::new(executor),
        codec,
        None,
        None,
        ExecutorHealth::new(),
    );
    let flight = FlightServiceServer::new(BallistaFlightService::new(work_folder))
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    let router = Routes::new(flight)
        .into_axum_router()
        .layer(middleware::from_fn_with_state(token, token::check))
        .into_make_service_with_connect_info::<SocketAddr>();
    let name = format!("{}:{port}", settings.host);
    say(&Started { url: name.clone(), pid: std::process::id() })?;
    let beats = async {
        let mut was_heard = true;
        loop {
            tokio::time::sleep(BEAT).await;
            let heard = beat(&settings, &runner, port).await;
            match &heard {
                Err(error) if was_heard => eprintln!("executor {name}: {error}; trying on"),
                Ok(()) if !was_heard => eprintln!("executor {name}: the scheduler is back"),
                _ => {}
            }
            was_heard = heard.is_ok();
        }
    };
    let ended = tokio::select! {
        polled = polls => polled.map_err(Error::Ballista),
        served = async { axum::serve(listener, router).await } => served.map_err(Error::Machine),
        () = beats => Ok(()),
        () = runner.leaves.notified() => Err(Error::Failed(format!(
            "executor {name} leaves: {}", runner.leaving().unwrap_or_default()
        ))),
        () = stopped(&mut stop) => {
            runner.leave("it was stopped".to_owned());
            Ok(())
        }
    };
    let ending = Arc::clone(&runner);
    // What it was at is done by others.
    let _ = tokio::task::spawn_blocking(move || ending.end()).await;
    let reason = runner.leaving().unwrap_or_default();
    // Where the scheduler is gone, it need not know.
    let _ = beat(&settings, &runner, port).await;
    let _ = scheduler.executor_stopped(ExecutorStoppedParams { executor_id: id, reason }).await;
    ended
}

/// The functions of queries. Ballista's own list leaves out those of lists and structs.
fn functions() -> BallistaFunctionRegistry {
    let mut functions = BallistaFunctionRegistry::default();
    let scalar = ballista_scalar_functions().into_iter();
    functions.scalar_functions.extend(scalar.map(|one| (one.name().to_owned(), one)));
    functions
}

/// Tell the scheduler how it stands, and end what is not wanted any more.
async fn beat(settings: &ExecutorSettings, runner: &Arc<Runner>, port: u16) -> Result<(), Error> {
    let (address, heartbeat) = (settings.address.clone(), runner.heartbeat(port));
    let answer = tokio::task::spawn_blocking(move || cluster::beat(&address, &heartbeat)).await;
    let answer = answer.map_err(|error| Error::Failed(error.to_string()))??;
    runner.keep(answer.jobs);
    Ok(())
}
