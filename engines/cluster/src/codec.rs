//! Plans with stages in them, and with what families are found by, as bytes.

use crate::{
    families::{FamilyExec, Step},
    runner::Runner,
    stage::StageExec,
};
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::{
    common::internal_datafusion_err, error::Result, execution::TaskContext,
    physical_plan::ExecutionPlan,
};
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::sync::Arc;

/// How a stage's bytes begin: no message of Ballista's does, whose first byte is a field's number and kind.
const STAGE: &[u8] = b"\0stage";
/// The same of a step by which families are found.
const FAMILY: &[u8] = b"\0family";

/// Knows Ballista's nodes and ours.
#[derive(Debug, Default)]
pub(crate) struct Codec {
    ballista: BallistaPhysicalExtensionCodec,
    /// What stages run by, on an executor.
    runner: Option<Arc<Runner>>,
}

impl Codec {
    pub(crate) fn on_executor(runner: Arc<Runner>) -> Codec {
        Codec { runner: Some(runner), ..Codec::default() }
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = inputs else {
            return self.ballista.try_decode(bytes, inputs, context, converter);
        };
        if let Some(text) = bytes.strip_prefix(FAMILY) {
            let step: Step = serde_json::from_slice(text)
                .map_err(|error| internal_datafusion_err!("a step that cannot be read: {error}"))?;
            return Ok(FamilyExec::over(step.check()?, Arc::clone(input)));
        }
        let Some(text) = bytes.strip_prefix(STAGE) else {
            return self.ballista.try_decode(bytes, inputs, context, converter);
        };
        let order = serde_json::from_slice(text)
            .map_err(|error| internal_datafusion_err!("a stage that cannot be read: {error}"))?;
        Ok(Arc::new(StageExec::new(order, Arc::clone(input), self.runner.clone())))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if let Some(family) = node.downcast_ref::<FamilyExec>() {
            bytes.extend(FAMILY);
            return serde_json::to_writer(bytes, family.step()).map_err(|error| {
                internal_datafusion_err!("a step that cannot be written: {error}")
            });
        }
        let Some(stage) = node.downcast_ref::<StageExec>() else {
            return self.ballista.try_encode(node, bytes, converter);
        };
        bytes.extend(STAGE);
        serde_json::to_writer(bytes, stage.order())
            .map_err(|error| internal_datafusion_err!("a stage that cannot be written: {error}"))
    }
}
