//! Tensors in safetensors files.

use anyhow::{Context, bail};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};
use tch::{Kind, Tensor};

/// Every tensor of a file, on the CPU.
pub(crate) fn read(path: &Path) -> anyhow::Result<BTreeMap<String, Tensor>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file = SafeTensors::deserialize(&bytes)
        .with_context(|| format!("{} is no safetensors file, or is cut short", path.display()))?;
    let mut tensors = BTreeMap::new();
    for (name, view) in file.tensors() {
        let shape: Vec<i64> = view.shape().iter().map(|size| *size as i64).collect();
        let kind = match view.dtype() {
            Dtype::F32 => Kind::Float,
            Dtype::BF16 => Kind::BFloat16,
            Dtype::F16 => Kind::Half,
            Dtype::I64 => Kind::Int64,
            Dtype::U8 => Kind::Uint8,
            other => bail!("{}: tensor {name} is {other:?}", path.display()),
        };
        tensors.insert(name, Tensor::from_data_size(view.data(), &shape, kind));
    }
    Ok(tensors)
}

/// Every tensor of a checkpoint's folder: `model.safetensors`, or the shards that
/// `model.safetensors.index.json` names.
pub(crate) fn read_folder(folder: &Path) -> anyhow::Result<BTreeMap<String, Tensor>> {
    let (whole, index) =
        (folder.join("model.safetensors"), folder.join("model.safetensors.index.json"));
    if whole.is_file() || !index.is_file() {
        return read(&whole);
    }
    let text = std::fs::read_to_string(&index)
        .with_context(|| format!("cannot read {}", index.display()))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).with_context(|| format!("{} is broken", index.display()))?;
    let map = json["weight_map"].as_object();
    let map = map.with_context(|| format!("{} has no weight_map", index.display()))?;
    let shards: BTreeSet<&str> = map.values().filter_map(|name| name.as_str()).collect();
    let mut tensors = BTreeMap::new();
    for shard in shards {
        tensors.append(&mut read(&folder.join(shard))?);
    }
    Ok(tensors)
}

/// Write tensors under a temporary name, then rename: nothing half-written is left.
pub(crate) fn write(
    path: &Path,
    tensors: &[(String, Tensor)],
    metadata: Option<HashMap<String, String>>,
) -> anyhow::Result<()> {
    let mut held = Vec::new();
    for (name, tensor) in tensors {
        let tensor = tensor.detach().to_device(tch::Device::Cpu).contiguous();
        let (dtype, width) = match tensor.kind() {
            Kind::Float => (Dtype::F32, 4),
            Kind::BFloat16 => (Dtype::BF16, 2),
            Kind::Int64 => (Dtype::I64, 8),
            Kind::Uint8 => (Dtype::U8, 1),
            other => bail!("tensor {name} is {other:?}"),
        };
        let mut bytes = vec![0; tensor.numel() * width];
        tensor.copy_data_u8(&mut bytes, tensor.numel());
        let shape: Vec<usize> = tensor.size().iter().map(|size| *size as usize).collect();
        held.push((name.clone(), dtype, shape, bytes));
    }
    let views: Vec<(String, TensorView<'_>)> = held
        .iter()
        .map(|(name, dtype, shape, bytes)| {
            Ok((name.clone(), TensorView::new(*dtype, shape.clone(), bytes)?))
        })
        .collect::<Result<_, safetensors::SafeTensorError>>()?;
    let temporary = path.with_extension("new");
    let metadata =
        Some(metadata.unwrap_or_else(|| HashMap::from([("format".into(), "pt".into())])));
    safetensors::serialize_to_file(views, metadata, &temporary)
        .with_context(|| format!("cannot write {}", temporary.display()))?;
    std::fs::rename(&temporary, path).with_context(|| format!("cannot write {}", path.display()))
}
