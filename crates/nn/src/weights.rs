//! Tensors in safetensors files.

use crate::{Error, Result};
use candle_core::{DType, Device, Tensor};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::{Path, PathBuf},
};

/// Plain numbers of an [`Array`].
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// 8 bits.
    U8(Vec<u8>),
    /// 16 bits, unsigned.
    U16(Vec<u16>),
    /// 32 bits, unsigned.
    U32(Vec<u32>),
    /// 64 bits, signed.
    I64(Vec<i64>),
    /// 32 bits, floating.
    F32(Vec<f32>),
}

/// Numbers with a shape, as files hold them.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Extents, slowest first.
    pub shape: Vec<usize>,
    /// The numbers, row by row.
    pub numbers: Numbers,
}

impl Array {
    /// A list of numbers.
    #[must_use]
    pub fn list(numbers: Numbers) -> Array {
        let length = match &numbers {
            Numbers::U8(all) => all.len(),
            Numbers::U16(all) => all.len(),
            Numbers::U32(all) => all.len(),
            Numbers::I64(all) => all.len(),
            Numbers::F32(all) => all.len(),
        };
        Array { shape: vec![length], numbers }
    }
}

/// Write arrays under a temporary name, then rename: a reader never sees half a file.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, arrays: &BTreeMap<String, Array>) -> Result<()> {
    let bytes: Vec<(&String, Dtype, &[usize], Vec<u8>)> = arrays
        .iter()
        .map(|(name, array)| {
            let (dtype, bytes) = match &array.numbers {
                Numbers::U8(all) => (Dtype::U8, all.clone()),
                Numbers::U16(all) => {
                    (Dtype::U16, all.iter().flat_map(|n| n.to_le_bytes()).collect())
                }
                Numbers::U32(all) => {
                    (Dtype::U32, all.iter().flat_map(|n| n.to_le_bytes()).collect())
                }
                Numbers::I64(all) => {
                    (Dtype::I64, all.iter().flat_map(|n| n.to_le_bytes()).collect())
                }
                Numbers::F32(all) => {
                    (Dtype::F32, all.iter().flat_map(|n| n.to_le_bytes()).collect())
                }
            };
            (name, dtype, array.shape.as_slice(), bytes)
        })
        .collect();
    let weights = |error: safetensors::SafeTensorError| Error::Weights {
        path: path.to_owned(),
        why: error.to_string(),
    };
    let mut views = Vec::new();
    for (name, dtype, shape, bytes) in &bytes {
        let view = TensorView::new(*dtype, shape.to_vec(), bytes).map_err(weights)?;
        views.push((name.as_str(), view));
    }
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    let whole = safetensors::serialize(views, Some(metadata)).map_err(weights)?;
    let temporary = path.with_extension("new");
    std::fs::write(&temporary, whole)
        .and_then(|()| std::fs::rename(&temporary, path))
        .map_err(Error::file("write", path))
}

/// Every array of a file; half-precision numbers become `f32`.
///
/// # Errors
/// When the file cannot be read, is cut short or holds other numbers.
pub fn read(path: &Path) -> Result<BTreeMap<String, Array>> {
    let bytes = std::fs::read(path).map_err(Error::file("read", path))?;
    let broken = |why: String| Error::Weights { path: path.to_owned(), why };
    let file = SafeTensors::deserialize(&bytes).map_err(|error| broken(error.to_string()))?;
    let mut arrays = BTreeMap::new();
    for (name, view) in file.tensors() {
        let data = view.data();
        let numbers = match view.dtype() {
            Dtype::U8 => Numbers::U8(data.to_vec()),
            Dtype::U16 => Numbers::U16(
                data.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect(),
            ),
            Dtype::U32 => Numbers::U32(
                data.chunks_exact(4)
                    .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                    .collect(),
            ),
            Dtype::I64 => Numbers::I64(
                data.chunks_exact(8)
                    .map(|b| i64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
                    .collect(),
            ),
            Dtype::F32 => Numbers::F32(
                data.chunks_exact(4)
                    .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                    .collect(),
            ),
            Dtype::BF16 => Numbers::F32(
                data.chunks_exact(2)
                    .map(|b| half::bf16::from_le_bytes([b[0], b[1]]).to_f32())
                    .collect(),
            ),
            Dtype::F16 => Numbers::F32(
                data.chunks_exact(2)
                    .map(|b| half::f16::from_le_bytes([b[0], b[1]]).to_f32())
                    .collect(),
            ),
            other => return Err(broken(format!("tensor {name} is {other:?}"))),
        };
        arrays.insert(name, Array { shape: view.shape().to_vec(), numbers });
    }
    Ok(arrays)
}

/// `model.safetensors.index.json`.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The weights of a checkpoint, asked for by name and shape; f32 on the CPU.
#[derive(Debug)]
pub(crate) struct Weights {
    path: PathBuf,
    arrays: BTreeMap<String, Array>,
}

impl Weights {
    /// Of a folder as Hugging Face's libraries write it: one file, or several and an index.
    pub(crate) fn of_checkpoint(folder: &Path) -> Result<Weights> {
        let (path, index) =
            (folder.join("model.safetensors"), folder.join("model.safetensors.index.json"));
        if path.exists() || !index.exists() {
            return Ok(Weights { arrays: read(&path)?, path });
        }
        let text = std::fs::read_to_string(&index).map_err(Error::file("read", &index))?;
        let broken = |why: String| Error::Config { path: index.clone(), why };
        let whole: Index =
            serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        let mut arrays = BTreeMap::new();
        for file in whole.weight_map.into_values().collect::<BTreeSet<_>>() {
            if file.contains('/') {
                return Err(broken(format!("{file} is no name of a file beside it")));
            }
            arrays.append(&mut read(&folder.join(file))?);
        }
        Ok(Weights { path: index, arrays })
    }

    #[cfg(test)]
    pub(crate) fn of(arrays: BTreeMap<String, Array>) -> Weights {
        Weights { path: PathBuf::from("(made here)"), arrays }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// Take the numbers of a tensor of this shape.
    pub(crate) fn numbers(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        let wrong = |why: String| Error::Tensor { path: self.path.clone(), why };
        let Some(array) = self.arrays.remove(name) else {
            return Err(wrong(format!("lacks the tensor {name}")));
        };
        if array.shape != shape {
            return Err(wrong(format!(
                "{name} has shape {:?}, config.json asks for {shape:?}",
                array.shape
            )));
        }
        match array.numbers {
            Numbers::F32(numbers) if numbers.iter().all(|number| number.is_finite()) => Ok(numbers),
            Numbers::F32(_) => Err(wrong(format!("{name} holds a number that is not finite"))),
            _ => Err(wrong(format!("{name} holds integers"))),
        }
    }

    /// The same as a tensor.
    pub(crate) fn tensor(&mut self, name: &str, shape: &[usize]) -> Result<Tensor> {
        let numbers = self.numbers(name, shape)?;
        Ok(Tensor::from_vec(numbers, shape, &Device::Cpu)?.to_dtype(DType::F32)?)
    }

    /// A matrix `[out, in]` laid out for products from the left: `[in, out]`.
    pub(crate) fn matrix(&mut self, name: &str, out: usize, into: usize) -> Result<Tensor> {
        Ok(self.tensor(name, &[out, into])?.t()?.contiguous()?)
    }
}
