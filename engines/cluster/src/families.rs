//! Families of near-duplicates as a plan: which programs are near to each other, of those that are equal in a band of
//! their signatures.
//!
//! ```text
//! edges        of programs that are equal in a band, those that are one family: [`dataset::Alike`]
//!   by band and its values
//!     join by place
//!       open     programs that are equal to another in a band and not known to be of its family
//!         by band and its values
//!           bands    a row for each band of each program
//!             join by place
//!               signatures
//!               what is known of families
//!       signatures
//! ```
//!
//! So a signature is sent around for each band in which its program may be near to another, and for no other.

use crate::Error;
use arrow::{
    array::{Array, ArrayRef, BinaryArray, RecordBatch, UInt32Array, UInt64Array},
    compute::SortOptions,
    datatypes::{DataType, Field, Schema, SchemaRef},
};
use datafusion::{
    common::{
        JoinType, NullEquality, exec_datafusion_err, internal_datafusion_err,
        tree_node::TreeNodeRecursion,
    },
    error::{DataFusionError, Result},
    execution::TaskContext,
    physical_expr::{
        Distribution, EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr,
        PhysicalSortExpr, expressions::Column,
    },
    physical_plan::{
        ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan,
        InputDistributionRequirements, Partitioning, PlanProperties, ReplaceChildrenOptions,
        SendableRecordBatchStream,
        execution_plan::{Boundedness, EmissionType},
        joins::SortMergeJoinExec,
        repartition::RepartitionExec,
        sorts::sort::SortExec,
        stream::RecordBatchStreamAdapter,
    },
    prelude::{ParquetReadOptions, SessionContext},
};
use dataset::{Alike, BANDS, Signature};
use futures::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use std::{fmt, ops::Range, path::PathBuf, sync::Arc};

/// Columns that tell a band, and values in it.
const KEY: [&str; 3] = ["band", "high", "low"];
const PLACE: &str = "place";

/// The plan, over files of signatures and of what is known of families.
pub(crate) async fn plan(
    context: &SessionContext,
    signatures: &[PathBuf],
    roots: &[PathBuf],
    bands: Range<usize>,
) -> std::result::Result<Arc<dyn ExecutionPlan>, Error> {
    let signed = scan(context, signatures).await?;
    let known = match roots {
        [] => signed,
        roots => joined(context, signed, scan(context, roots).await?)?,
    };
    let bands = FamilyExec::over(Step::Bands(bands), known);
    let open = FamilyExec::over(Step::Open, by(context, bands, &KEY)?);
    // A scan is read once, wherever it stands: another one.
    let members = joined(context, open, scan(context, signatures).await?)?;
    Ok(FamilyExec::over(Step::Edges, by(context, members, &KEY)?))
}

async fn scan(context: &SessionContext, files: &[PathBuf]) -> Result<Arc<dyn ExecutionPlan>> {
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let frame = context.read_parquet(files, ParquetReadOptions::default()).await?;
    frame.create_physical_plan().await
}

fn column(name: &str, schema: &Schema) -> Result<Arc<dyn PhysicalExpr>> {
    Ok(Arc::new(Column::new_with_schema(name, schema)?))
}

/// Rows with equal values in these columns together, in their order and that of places.
fn by(
    context: &SessionContext,
    plan: Arc<dyn ExecutionPlan>,
    columns: &[&str],
) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = plan.schema();
    let keys = columns.iter().map(|name| column(name, &schema)).collect::<Result<_>>()?;
    let partitions = context.copied_config().target_partitions();
    let plan = RepartitionExec::try_new(plan, Partitioning::Hash(keys, partitions))?;
    let ordering = ordering(columns, &schema)?;
    Ok(Arc::new(SortExec::new(ordering, Arc::new(plan)).with_preserve_partitioning(true)))
}

fn ordering(columns: &[&str], schema: &Schema) -> Result<LexOrdering> {
    let columns = columns.iter().chain([&PLACE]);
    let each = columns.map(|name| Ok(PhysicalSortExpr::new(column(name, schema)?, SORT)));
    LexOrdering::new(each.collect::<Result<Vec<_>>>()?)
        .ok_or_else(|| internal_datafusion_err!("no columns"))
}

const SORT: SortOptions = SortOptions { descending: false, nulls_first: true };

/// Rows of two plans with equal places.
fn joined(
    context: &SessionContext,
    left: Arc<dyn ExecutionPlan>,
    right: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let on = vec![(column(PLACE, &left.schema())?, column(PLACE, &right.schema())?)];
    let (left, right) = (by(context, left, &[PLACE])?, by(context, right, &[PLACE])?);
    let (inner, equality) = (JoinType::Inner, NullEquality::NullEqualsNothing);
    let join = SortMergeJoinExec::try_new(left, right, on, None, inner, vec![SORT], equality)?;
    Ok(Arc::new(join))
}

/// What is done with rows of programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    /// Signatures in, rows of these bands out.
    Bands(Range<usize>),
    /// Of the rows with equal values in a band those that are not all known to be one family.
    Open,
    /// Pairs that are found to be one family.
    Edges,
}

/// Does a step with what its input holds.
#[derive(Debug)]
pub(crate) struct FamilyExec {
    step: Step,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl FamilyExec {
    pub(crate) fn over(step: Step, input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        let partitions = input.properties().output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(step.schema()),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Arc::new(FamilyExec { step, input, properties: Arc::new(properties) })
    }

    pub(crate) fn step(&self) -> &Step {
        &self.step
    }
}

impl Step {
    fn schema(&self) -> SchemaRef {
        let number = |name: &str| Field::new(name, DataType::UInt64, false);
        let fields = match self {
            Step::Edges => vec![number("one"), number("other")],
            Step::Bands(_) | Step::Open => vec![
                Field::new("band", DataType::UInt32, false),
                number("high"),
                number("low"),
                number(PLACE),
                number("root"),
            ],
        };
        Arc::new(Schema::new(fields))
    }

    /// Refuse what no client of ours asks for.
    pub(crate) fn check(self) -> Result<Step> {
        match &self {
            Step::Bands(bands) if bands.end > BANDS => {
                Err(exec_datafusion_err!("refused: a signature has {BANDS} bands"))
            }
            _ => Ok(self),
        }
    }
}

impl DisplayAs for FamilyExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FamilyExec: {:?}", self.step)
    }
}

impl ExecutionPlan for FamilyExec {
    fn name(&self) -> &str {
        "FamilyExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        let schema = self.input.schema();
        let keys = KEY.iter().map(|name| column(name, &schema)).collect::<Result<_>>();
        InputDistributionRequirements::new(vec![match (&self.step, keys) {
            (Step::Open | Step::Edges, Ok(keys)) => Distribution::KeyPartitioned(keys),
            _ => Distribution::UnspecifiedDistribution,
        }])
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![match self.step {
            Step::Bands(_) => None,
            Step::Open | Step::Edges => {
                ordering(&KEY, &self.input.schema()).ok().map(OrderingRequirements::from)
            }
        }]
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
        Ok(FamilyExec::over(self.step.clone(), input))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let worker = match &self.step {
            Step::Bands(bands) => Worker::Bands(bands.clone()),
            Step::Open => Worker::Open(Open::default()),
            Step::Edges => Worker::Edges(None, Alike::default()),
        };
        let rows = stream::unfold((input, Some(worker)), |(mut input, worker)| async move {
            let mut worker = worker?;
            match input.next().await {
                Some(batch) => {
                    let rows = batch.and_then(|batch| worker.take(&batch));
                    Some((rows, (input, Some(worker))))
                }
                None => Some((worker.end(), (input, None))),
            }
        });
        let schema = self.step.schema();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// A band and the values in it.
type Key = (u32, u64, u64);

/// A step that is being done.
enum Worker {
    Bands(Range<usize>),
    Open(Open),
    Edges(Option<Key>, Alike),
}

impl Worker {
    fn take(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let places = numbers(batch, PLACE)?;
        match self {
            Worker::Bands(bands) => {
                let signatures = signatures(batch)?;
                // Where nothing is known, each is a family of its own.
                let roots = numbers(batch, "root").unwrap_or(places);
                let mut out = Rows::default();
                for row in 0..batch.num_rows() {
                    let signature = signature(signatures.value(row))?;
                    for band in bands.clone() {
                        let [a, b, c, d] = signature.band(band).map(u64::from);
                        let key = (band as u32, a << 32 | b, c << 32 | d);
                        out.push(key, places.value(row), roots.value(row));
                    }
                }
                out.batch()
            }
            Worker::Open(open) => {
                let (keys, roots) = (keys(batch)?, numbers(batch, "root")?);
                let mut out = Rows::default();
                for row in 0..batch.num_rows() {
                    open.meet(keys(row), places.value(row), roots.value(row), &mut out);
                }
                out.batch()
            }
            Worker::Edges(last, alike) => {
                let (keys, roots) = (keys(batch)?, numbers(batch, "root")?);
                let signatures = signatures(batch)?;
                let mut edges = Vec::new();
                for row in 0..batch.num_rows() {
                    if last.replace(keys(row)) != Some(keys(row)) {
                        edges.extend(alike.edges().map_err(DataFusionError::IoError)?);
                    }
                    let signature = signature(signatures.value(row))?;
                    alike
                        .push(places.value(row), roots.value(row), signature)
                        .map_err(DataFusionError::IoError)?;
                }
                pairs(&edges)
            }
        }
    }

    fn end(&mut self) -> Result<RecordBatch> {
        match self {
            Worker::Bands(_) | Worker::Open(_) => Rows::default().batch(),
            Worker::Edges(_, alike) => pairs(&alike.edges().map_err(DataFusionError::IoError)?),
        }
    }
}

/// Looks for rows with one key that are not all known to be one family.
#[derive(Default)]
struct Open {
    key: Option<Key>,
    root: u64,
    is_open: bool,
    /// Places of rows that are all of one family.
    held: Vec<u64>,
}

impl Open {
    fn meet(&mut self, key: Key, place: u64, root: u64, out: &mut Rows) {
        if self.key.replace(key) != Some(key) {
            (self.root, self.is_open) = (root, false);
            self.held.clear();
        }
        if !self.is_open && self.root == root {
            self.held.push(place);
            return;
        }
        self.is_open = true;
        for held in self.held.drain(..) {
            out.push(key, held, self.root);
        }
        out.push(key, place, root);
    }
}

#[derive(Default)]
struct Rows {
    bands: Vec<u32>,
    numbers: [Vec<u64>; 4],
}

impl Rows {
    fn push(&mut self, (band, high, low): Key, place: u64, root: u64) {
        self.bands.push(band);
        for (column, value) in self.numbers.iter_mut().zip([high, low, place, root]) {
            column.push(value);
        }
    }

    fn batch(self) -> Result<RecordBatch> {
        let bands: ArrayRef = Arc::new(UInt32Array::from(self.bands));
        let numbers =
            self.numbers.into_iter().map(|column| Arc::new(UInt64Array::from(column)) as ArrayRef);
        Ok(RecordBatch::try_new(
            Step::Open.schema(),
            std::iter::once(bands).chain(numbers).collect(),
        )?)
    }
}

fn pairs(edges: &[(u64, u64)]) -> Result<RecordBatch> {
    let one: UInt64Array = edges.iter().map(|(one, _)| *one).collect();
    let other: UInt64Array = edges.iter().map(|(_, other)| *other).collect();
    Ok(RecordBatch::try_new(Step::Edges.schema(), vec![Arc::new(one), Arc::new(other)])?)
}

/// A column, of several with one name the first.
fn of<'a, T: Array + 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a T> {
    let found = batch.column_by_name(name).and_then(|column| column.as_any().downcast_ref::<T>());
    found.ok_or_else(|| exec_datafusion_err!("no column {name}, or one of another type"))
}

fn numbers<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a UInt64Array> {
    of(batch, name)
}

fn keys(batch: &RecordBatch) -> Result<impl Fn(usize) -> Key> {
    let (band, high, low) =
        (of::<UInt32Array>(batch, "band")?, numbers(batch, "high")?, numbers(batch, "low")?);
    Ok(move |row| (band.value(row), high.value(row), low.value(row)))
}

fn signatures(batch: &RecordBatch) -> Result<&BinaryArray> {
    of(batch, "signature")
}

fn signature(bytes: &[u8]) -> Result<Signature> {
    Signature::from_bytes(bytes)
        .ok_or_else(|| exec_datafusion_err!("{} bytes are no signature", bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::{
        parquet::arrow::ArrowWriter, physical_plan::execute_stream, prelude::SessionConfig,
    };
    use dataset::{
        Signatures,
        stage::{self, Elsewhere, Question},
    };
    use std::{collections::BTreeSet, fs::File, path::Path};

    /// Carries plans out in this process.
    #[derive(Debug)]
    struct Here(PathBuf);

    impl Here {
        async fn carry_out(
            &self,
            question: Question,
            out: &Path,
        ) -> std::result::Result<(), Box<dyn std::error::Error>> {
            let Question::Near { signatures, roots, bands } = question else {
                return Err("another question".into());
            };
            let config = SessionConfig::new().with_target_partitions(5);
            let views = "datafusion.execution.parquet.schema_force_view_types";
            let context = SessionContext::new_with_config(config.set_bool(views, false));
            let plan = plan(&context, &signatures, &roots, bands).await?;
            let mut rows = execute_stream(plan, context.task_ctx())?;
            let mut writer = ArrowWriter::try_new(File::create(out)?, rows.schema(), None)?;
            while let Some(batch) = rows.next().await {
                writer.write(&batch?)?;
            }
            writer.close()?;
            Ok(())
        }
    }

    impl Elsewhere for Here {
        fn most_here(&self) -> u64 {
            0
        }

        fn folder(&self) -> PathBuf {
            self.0.clone()
        }

        fn answer(&self, question: Question, out: &Path) -> std::result::Result<(), String> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            runtime.block_on(self.carry_out(question, out)).map_err(|error| error.to_string())
        }
    }

    /// Each program shares most words with those around it of its kind.
    fn signatures(count: usize) -> Signatures {
        let mut signatures = Signatures::default();
        for at in 0..count {
            let shift = at % 20 * 1000 + at / 20 % 25;
            let words: Vec<String> = (0..90).map(|word| (word + shift).to_string()).collect();
            signatures.push(Signature::of(words.iter().map(String::as_str))).unwrap();
        }
        signatures
    }

    #[test]
    fn families_of_the_plan_are_those_of_one_process() {
        let home = tempfile::tempdir().unwrap();
        for count in [0, 1, 700] {
            let signatures = signatures(count);
            let found = stage::families(&Here(home.path().join("made")), &signatures).unwrap();
            assert_eq!(found, signatures.families().unwrap());
            let different: BTreeSet<usize> = found.into_iter().collect();
            assert_eq!(different.len(), count.min(20));
        }
    }

    #[test]
    fn what_is_known_to_be_one_family_is_left_out() {
        let rows = [
            (1, 10, 10),
            (1, 11, 10),
            (2, 10, 10),
            (2, 12, 10),
            (2, 13, 13),
            (2, 14, 10),
            (3, 1, 1),
        ];
        let (mut open, mut out) = (Open::default(), Rows::default());
        for (low, place, root) in rows {
            open.meet((0, 0, low), place, root, &mut out);
        }
        assert_eq!(out.numbers[2], [10, 12, 13, 14]);
        assert_eq!(out.numbers[3], [10, 10, 13, 10]);
        assert!(out.numbers[1].iter().all(|low| *low == 2));
    }

    #[test]
    fn a_signature_has_no_more_bands_than_it_has() {
        assert!(Step::Bands(0..BANDS).check().is_ok());
        assert!(Step::Bands(0..BANDS + 1).check().unwrap_err().to_string().contains("refused"));
    }
}
