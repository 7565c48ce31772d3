//! The client of a stage: hands the job to the scheduler, says how it stands, and hands it in again where the cluster
//! lost it.

use crate::{Error, Stop, codec::Codec, losses, say, stage::StageExec, stopped, token};
use ballista_core::{
    extension::SessionConfigExt,
    serde::protobuf::{
        CancelJobParams, ExecuteQueryParams, GetJobStatusParams, KeyValuePair,
        execute_query_params::Query, execute_query_result, job_status,
        scheduler_grpc_client::SchedulerGrpcClient,
    },
    version,
};
use cluster::{Event, Job, Status};
use datafusion::prelude::SessionConfig;
use datafusion_proto::{physical_plan::AsExecutionPlan, protobuf::PhysicalPlanNode};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};
use tonic::transport::Channel;

type Scheduler = SchedulerGrpcClient<Channel>;

/// How often the job is looked at, at first; of one that takes long, as often as a person is told.
const LOOK: Duration = Duration::from_millis(200);
/// How often the scheduler is asked for its executors, and a person told.
const TELL: Duration = Duration::from_secs(1);
/// How often an object store is asked which parts it has.
const SELDOM: Duration = Duration::from_secs(2);
/// A job that came to nothing is handed in again, as long as a part was made since.
const TRIES_WITHOUT_PROGRESS: u32 = 2;
/// So long a scheduler that fell silent is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
const MESSAGE_BYTES: usize = 64 << 20;
/// Words of what no other try would change; [`crate::runner`] and [`crate::guard`] say them.
pub(crate) const REFUSED: &str = "refused: ";

/// How handing in a job ended.
enum Ended {
    /// All parts are there.
    Well,
    /// It was asked to stop.
    Stopped,
    /// It came to nothing, and why.
    Failed(String),
    /// The scheduler is gone, or knows the job no more.
    Lost(String),
}

/// What the client remembers of executors.
#[derive(Default)]
struct Seen {
    /// Those that were lost before the job began.
    before: BTreeSet<String>,
    /// Faults of each before it began.
    faults: BTreeMap<String, u64>,
    status: Status,
}

/// The parts of a job that are there.
struct Parts<'a> {
    job: &'a Job,
    /// Known to be whole: that does not change while the job goes on.
    made: BTreeSet<u32>,
    /// When an object store was asked last.
    asked: Option<Instant>,
}

impl Parts<'_> {
    /// Those that are not there; as [`dataset::stage::Shares`] finds them, at a glance.
    fn missing(&mut self) -> Result<Vec<u32>, Error> {
        let job = self.job;
        let left = |made: &BTreeSet<u32>| -> Vec<u32> {
            job.missing.iter().copied().filter(|part| !made.contains(part)).collect()
        };
        let unknown = left(&self.made);
        let made = tokio::task::block_in_place(|| job.order.made(&unknown))?;
        self.asked = Some(Instant::now());
        self.made.extend(made);
        Ok(left(&self.made))
    }

    /// How many are there; of an object store, as it said lately.
    fn count(&mut self) -> usize {
        let is_old = self.asked.is_none_or(|asked| asked.elapsed() > SELDOM);
        if is_old || !dataset::is_url(&self.job.order.parts) {
            // One that does not answer is asked again; where it matters, that is an error.
            let _ = self.missing();
        }
        self.job.order.count as usize - (self.job.missing.len() - self.made.len())
    }
}

pub(crate) async fn run(job: Job, mut stop: Stop) -> Result<(), Error> {
    let ended = drive(&job, &mut stop).await?;
    match ended {
        Ended::Well => say(&Event::Done),
        Ended::Stopped => Ok(()),
        Ended::Failed(why) | Ended::Lost(why) => say(&Event::Failed(why)),
    }
}

async fn drive(job: &Job, stop: &mut Stop) -> Result<Ended, Error> {
    let channel = token::channel(&job.address)?;
    let mut scheduler = SchedulerGrpcClient::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    let mut seen = Seen::default();
    seen.look(job).await;
    seen.begin();
    let (mut left, mut tries) = (job.missing.clone(), 0);
    let mut parts = Parts { job, made: BTreeSet::new(), asked: None };
    let mut silent: Option<Instant> = None;
    loop {
        let ended = once(&mut parts, &left, &mut scheduler, &mut seen, stop).await?;
        let still = parts.missing()?;
        if still.is_empty() {
            return Ok(Ended::Well);
        }
        let has_progressed = still.len() < left.len();
        left = still;
        match ended {
            Ended::Stopped => return Ok(Ended::Stopped),
            Ended::Failed(why) if why.contains(REFUSED) => return Ok(Ended::Failed(why)),
            Ended::Well | Ended::Failed(_) => {
                silent = None;
                tries = if has_progressed { 0 } else { tries + 1 };
                let why = match ended {
                    Ended::Failed(why) => why,
                    _ => "its parts are not there".to_owned(),
                };
                if tries >= TRIES_WITHOUT_PROGRESS {
                    return Ok(Ended::Failed(kept(&mut parts, &why)));
                }
                say(&Event::Said(format!("handing the job in again: {why}")))?;
            }
            Ended::Lost(why) => {
                let since = *silent.get_or_insert_with(Instant::now);
                if has_progressed {
                    silent = Some(Instant::now());
                }
                if since.elapsed() > PATIENCE {
                    let why = format!(
                        "no scheduler answers at {} any more ({why}); start it again, with executors",
                        job.address.url()
                    );
                    return Ok(Ended::Lost(kept(&mut parts, &why)));
                }
                let url = job.address.url();
                say(&Event::Said(format!("waiting for the scheduler at {url}: {why}")))?;
                tokio::select! {
                    () = tokio::time::sleep(TELL) => {}
                    () = stopped(stop) => return Ok(Ended::Stopped),
                }
            }
        }
    }
}

/// What went wrong, and that not all is lost.
fn kept(parts: &mut Parts<'_>, why: &str) -> String {
    let (made, order) = (parts.count(), &parts.job.order);
    if made == 0 {
        return format!("{why}; none of {} parts was made", order.count);
    }
    format!(
        "{why}; {made} of {} parts are made and kept in {}: the same command does the rest",
        order.count,
        order.parts.display()
    )
}

/// Hand the job in and follow it to its end.
async fn once(
    made: &mut Parts<'_>,
    parts: &[u32],
    scheduler: &mut Scheduler,
    seen: &mut Seen,
    stop: &mut Stop,
) -> Result<Ended, Error> {
    let job = made.job;
    let plan = StageExec::plan(job.order.clone(), parts)?;
    let mut bytes = Vec::new();
    PhysicalPlanNode::try_from_physical_plan(plan, &Codec::default())?.try_encode(&mut bytes)?;
    let settings = SessionConfig::new_with_ballista()
        .with_ballista_job_name(&format!("stampmill {}", job.order.stage))
        // What is begun again is one part, not several.
        .set_str("ballista.scheduler.max_partitions_per_task", "1");
    let settings = settings
        .options()
        .entries()
        .into_iter()
        .map(|entry| KeyValuePair { key: entry.key, value: entry.value });
    let mut request = tonic::Request::new(ExecuteQueryParams {
        query: Some(Query::PhysicalPlan(bytes)),
        settings: settings.collect(),
        session_id: uuid::Uuid::new_v4().to_string(),
        operation_id: uuid::Uuid::new_v4().to_string(),
    });
    version::insert_version_header(request.metadata_mut());
    let handed_in = match scheduler.execute_query(request).await {
        Ok(answer) => answer.into_inner().result,
        Err(status) => return Ok(lost(&status)),
    };
    let id = match handed_in {
        Some(execute_query_result::Result::Success(success)) => success.job_id,
        other => {
            return Ok(Ended::Failed(format!("the scheduler did not take the job: {other:?}")));
        }
    };
    let begun = Instant::now();
    let mut told = begun - TELL;
    loop {
        tokio::select! {
            () = tokio::time::sleep((begun.elapsed() / 50).clamp(LOOK, TELL)) => {}
            () = stopped(stop) => {
                let params = CancelJobParams { job_id: id };
                // One that does not hear it finds nobody who wants the job's parts.
                let _ = tokio::time::timeout(PATIENCE / 12, scheduler.cancel_job(params)).await;
                return Ok(Ended::Stopped);
            }
        }
        let asked = scheduler.get_job_status(GetJobStatusParams { job_id: id.clone() }).await;
        let status = match asked {
            Ok(answer) => answer.into_inner().status.and_then(|status| status.status),
            Err(status) => return Ok(lost(&status)),
        };
        if told.elapsed() >= TELL {
            told = Instant::now();
            seen.look(job).await;
        }
        say(&seen.told(made.count()))?;
        match status {
            Some(job_status::Status::Successful(_)) => return Ok(Ended::Well),
            Some(job_status::Status::Failed(failed)) => {
                return Ok(Ended::Failed(innermost(&failed.error)));
            }
            Some(_) => {}
            None => return Ok(Ended::Lost("it knows nothing of the job".to_owned())),
        }
    }
}

/// What our own code said, of an error that Ballista wrapped and printed for programmers: the text in quotes that is all
/// of the innermost one. Other errors have names in quotes.
pub(crate) fn innermost(error: &str) -> String {
    let Some((_, quoted)) = error.split_once("(\"") else { return error.to_owned() };
    let mut text = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return text,
            '\\' => match letters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => break,
            },
            other => text.push(other),
        }
    }
    error.to_owned()
}

fn lost(status: &tonic::Status) -> Ended {
    let why = format!("{}: {}", status.code(), status.message());
    match status.code() {
        tonic::Code::Unavailable
        | tonic::Code::DeadlineExceeded
        | tonic::Code::Cancelled
        | tonic::Code::NotFound
        | tonic::Code::Unknown => Ended::Lost(why),
        _ => Ended::Failed(why),
    }
}

impl Seen {
    /// Ask the scheduler for its executors.
    async fn look(&mut self, job: &Job) {
        // It is asked again soon; what it said last stays.
        if let Ok(status) = losses::status(&job.address).await {
            self.status = status;
        }
    }

    fn begin(&mut self) {
        let all = || self.status.executors.iter();
        let is_lost = |executor: &&cluster::Executor| executor.state == "lost";
        self.before = all().filter(is_lost).map(|one| one.heartbeat.id.clone()).collect();
        self.faults = all().map(|one| (one.heartbeat.id.clone(), one.heartbeat.faults)).collect();
    }

    fn told(&self, made: usize) -> Event {
        let lost = || {
            let executors = self.status.executors.iter();
            executors.filter(|one| one.state == "lost" && !self.before.contains(&one.heartbeat.id))
        };
        let faults = self.status.executors.iter().map(|one| {
            one.heartbeat.faults
                - self
                    .faults
                    .get(&one.heartbeat.id)
                    .copied()
                    .unwrap_or_default()
                    .min(one.heartbeat.faults)
        });
        let interrupted: usize = lost().map(|one| one.heartbeat.running.len()).sum();
        Event::Told {
            done: made as u64,
            running: self.status.active().map(|one| one.heartbeat.running.len() as u64).sum(),
            executors: self.status.active().count() as u64,
            lost: lost().count() as u64,
            repeated: faults.sum::<u64>() + interrupted as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::innermost;

    #[test]
    fn what_we_said_is_found_in_what_ballista_says() {
        let wrapped =
            r#"Job failed: DataFusionError(Shared(Execution("refused: \"a\" is\nnot here")))"#;
        assert_eq!(innermost(wrapped), "refused: \"a\" is\nnot here");
        assert_eq!(innermost("no executors"), "no executors");
        let named = r#"No field named no. Valid fields are v.path, v."grewe-fixed"."#;
        assert_eq!(innermost(named), named);
        assert_eq!(innermost("cut \"off"), "cut \"off");
    }
}
