//! Plans with stages in them, as bytes.

use crate::{runner::Runner, stage::StageExec};
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::{
    common::internal_datafusion_err, error::Result, execution::TaskContext,
    physical_plan::ExecutionPlan,
};
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::sync::Arc;

/// How a stage's bytes begin: no message of Ballista's does, whose first byte is a field's number and kind.
const STAGE: &[u8] = b"\0stage";

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
        let Some(text) = bytes.strip_prefix(STAGE) else {
            return self.ballista.try_decode(bytes, inputs, context, converter);
        };
        let order = serde_json::from_slice(text)
            .map_err(|error| internal_datafusion_err!("a stage that cannot be read: {error}"))?;
        let [input] = inputs else {
            return Err(internal_datafusion_err!("a stage has one input"));
        };
        Ok(Arc::new(StageExec::new(order, Arc::clone(input), self.runner.clone())))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(stage) = node.downcast_ref::<StageExec>() else {
            return self.ballista.try_encode(node, bytes, converter);
        };
        bytes.extend(STAGE);
        serde_json::to_writer(bytes, stage.order())
            .map_err(|error| internal_datafusion_err!("a stage that cannot be written: {error}"))
    }
}
