//! What an executor does of what it is sent: stages that it knows, and queries over files in its folder.

use ballista_core::JobId;
use ballista_executor::execution_engine::{
    DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor,
};
use datafusion::{
    common::tree_node::{TreeNode, TreeNodeRecursion},
    datasource::{
        memory::MemorySourceConfig, physical_plan::FileScanConfig, source::DataSourceExec,
    },
    error::{DataFusionError, Result},
    physical_plan::ExecutionPlan,
    prelude::SessionConfig,
};
use dataset::Url;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Nodes that read and write nothing but what their inputs give, and Ballista's own, whose files are in its folder.
const HARMLESS: [&str; 34] = [
    "AggregateExec",
    "BoundedWindowAggExec",
    "BufferExec",
    "CoalesceBatchesExec",
    "CoalescePartitionsExec",
    "CooperativeExec",
    "CrossJoinExec",
    "EmptyExec",
    "FamilyExec",
    "FilterExec",
    "GlobalLimitExec",
    "HashJoinExec",
    "InterleaveExec",
    "LocalLimitExec",
    "NestedLoopJoinExec",
    "OrderedRangeRepartitionExec",
    "PartialSortExec",
    "PlaceholderRowExec",
    "ProjectionExec",
    "RangeFilterExec",
    "RangeShuffleReaderExec",
    "RangeShuffleWriterExec",
    "RepartitionExec",
    "ShuffleReaderExec",
    "ShuffleWriterExec",
    "SortExec",
    "SortMergeJoinExec",
    "SortPreservingMergeExec",
    "SortShuffleWriterExec",
    "StageExec", // its runner checks it
    "UnionExec",
    "UnnestExec",
    "UnorderedRangeRepartitionExec",
    "WindowAggExec",
];

/// Looks at each plan before it is run.
pub(crate) struct Guard {
    inner: DefaultExecutionEngine,
    /// Folders of this machine, and URLs of object stores.
    roots: Vec<PathBuf>,
}

impl Guard {
    pub(crate) fn new(roots: Vec<PathBuf>) -> Guard {
        Guard { inner: DefaultExecutionEngine::new(), roots }
    }
}

impl ExecutionEngine for Guard {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        check(&plan, &self.roots)?;
        self.inner
            .create_query_stage_exec(job_id, stage_id, task_id, partitions, plan, work_dir, config)
    }
}

fn refusal(why: &str) -> DataFusionError {
    DataFusionError::Execution(format!("refused: {why}"))
}

/// Refuse a plan that does anything but what is listed, or reads a file outside of all of `roots`.
pub(crate) fn check(plan: &Arc<dyn ExecutionPlan>, roots: &[PathBuf]) -> Result<()> {
    plan.apply(|node| {
        match node.downcast_ref::<DataSourceExec>() {
            Some(source) => check_source(source, roots)?,
            None if HARMLESS.contains(&node.name()) => {}
            None => return Err(refusal(&format!("an executor does not do {}", node.name()))),
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .map(drop)
}

fn check_source(source: &DataSourceExec, roots: &[PathBuf]) -> Result<()> {
    let source = source.data_source();
    if source.downcast_ref::<MemorySourceConfig>().is_some() {
        return Ok(());
    }
    let Some(scan) = source.downcast_ref::<FileScanConfig>() else {
        return Err(refusal("a source of rows that is neither files nor in the plan itself"));
    };
    let store = scan.object_store_url.as_str();
    let outside = |path: &Path| {
        let roots: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
        let (path, roots) = (path.display(), roots.join(", "));
        refusal(&format!("{path} is not in {roots}, the executor's only folder"))
    };
    for file in scan.file_groups.iter().flat_map(|group| group.files()) {
        let location = file.object_meta.location.as_ref();
        if store != "file:///" {
            let path = PathBuf::from(format!("{store}{location}"));
            let url = Url::of(&path).map_err(|error| refusal(&error.to_string()))?;
            let url =
                url.ok_or_else(|| refusal(&format!("an executor reads no files of {store}")))?;
            let is_in =
                |root: &PathBuf| matches!(Url::of(root), Ok(Some(root)) if url.is_in(&root));
            if !roots.iter().any(is_in) {
                return Err(outside(&path));
            }
            continue;
        }
        let path = Path::new("/").join(location);
        let found = path.canonicalize().map_err(DataFusionError::IoError)?;
        if !roots.iter().any(|root| found.starts_with(root)) {
            return Err(outside(&path));
        }
    }
    Ok(())
}
