//! A stage as a node of a plan: numbers of parts in, what became of each out.

use crate::runner::Runner;
use arrow::{
    array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array},
    datatypes::{DataType, Field, Schema, SchemaRef},
};
use cluster::Order;
use datafusion::{
    common::{internal_datafusion_err, tree_node::TreeNodeRecursion},
    datasource::memory::MemorySourceConfig,
    error::Result,
    execution::TaskContext,
    physical_expr::{EquivalenceProperties, PhysicalExpr},
    physical_plan::{
        ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning,
        PlanProperties, ReplaceChildrenOptions, SendableRecordBatchStream,
        execution_plan::{Boundedness, EmissionType},
        stream::RecordBatchStreamAdapter,
    },
};
use futures::StreamExt;
use std::{fmt, sync::Arc};

/// Makes the parts whose numbers its input holds; only executors can.
#[derive(Debug)]
pub(crate) struct StageExec {
    order: Order,
    input: Arc<dyn ExecutionPlan>,
    /// What makes them, on an executor.
    runner: Option<Arc<Runner>>,
    properties: Arc<PlanProperties>,
}

/// What became of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) part: u32,
    pub(crate) rows: u64,
    /// The data set's identity.
    pub(crate) hash: String,
    /// The executor's host.
    pub(crate) host: String,
}

impl StageExec {
    pub(crate) fn new(
        order: Order,
        input: Arc<dyn ExecutionPlan>,
        runner: Option<Arc<Runner>>,
    ) -> StageExec {
        let partitions = input.properties().output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema()),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        StageExec { order, input, runner, properties: Arc::new(properties) }
    }

    pub(crate) fn order(&self) -> &Order {
        &self.order
    }

    /// The plan that makes these parts, each a partition of its own. Their numbers stand in a source of rows, which
    /// the scheduler knows how to split by partitions; a leaf of our own it would give to every task whole.
    pub(crate) fn plan(order: Order, parts: &[u32]) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = Arc::new(Schema::new(vec![Field::new("part", DataType::UInt32, false)]));
        let partition = |part: &u32| {
            let column: ArrayRef = Arc::new(UInt32Array::from(vec![*part]));
            Ok(vec![RecordBatch::try_new(Arc::clone(&schema), vec![column])?])
        };
        let partitions: Vec<_> = parts.iter().map(partition).collect::<Result<_>>()?;
        let source = MemorySourceConfig::try_new_exec(&partitions, Arc::clone(&schema), None)?;
        Ok(Arc::new(StageExec::new(order, source, None)))
    }
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("part", DataType::UInt32, false),
        Field::new("rows", DataType::UInt64, false),
        Field::new("hash", DataType::Utf8, false),
        Field::new("host", DataType::Utf8, false),
    ]))
}

fn batch(made: &[Made]) -> Result<RecordBatch> {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(made.iter().map(|made| made.part).collect::<UInt32Array>()),
        Arc::new(made.iter().map(|made| made.rows).collect::<UInt64Array>()),
        Arc::new(made.iter().map(|made| Some(made.hash.as_str())).collect::<StringArray>()),
        Arc::new(made.iter().map(|made| Some(made.host.as_str())).collect::<StringArray>()),
    ];
    Ok(RecordBatch::try_new(schema(), columns)?)
}

impl DisplayAs for StageExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StageExec: {} in {} parts", self.order.stage, self.order.count)
    }
}

impl ExecutionPlan for StageExec {
    fn name(&self) -> &str {
        "StageExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let children_properties = ChildrenPropertiesMode::Recompute;
        self.replace_children(children, ReplaceChildrenOptions { children_properties })
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = children.pop().ok_or_else(|| internal_datafusion_err!("a child is missing"))?;
        Ok(Arc::new(StageExec::new(self.order.clone(), input, self.runner.clone())))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let runner = self.runner.clone();
        let runner = runner.ok_or_else(|| internal_datafusion_err!("this is no executor"))?;
        let job = job_of(&context.task_id().unwrap_or_default());
        let mut input = self.input.execute(partition, context)?;
        let order = self.order.clone();
        let made = async move {
            let mut made = Vec::new();
            while let Some(parts) = input.next().await {
                let parts = parts?;
                let column = parts.column(0).as_any().downcast_ref::<UInt32Array>();
                let column =
                    column.ok_or_else(|| internal_datafusion_err!("no numbers of parts"))?;
                for part in column.values() {
                    made.push(Arc::clone(&runner).make(&order, *part, &job).await?);
                }
            }
            batch(&made)
        };
        let stream = futures::stream::once(made);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema(), stream)))
    }
}

/// The job that a task is of, by its name: `TID JOB/STAGE.ATTEMPT/TASK.ATTEMPT`.
fn job_of(task: &str) -> String {
    let name = task.strip_prefix("TID ").unwrap_or(task);
    name.split('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_name_their_job() {
        assert_eq!(job_of("TID 0jx/1.0/7.0"), "0jx");
    }
}
