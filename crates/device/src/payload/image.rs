use super::{Layout, Limits, Range};
use clang::Scalar;

/// What an image's texels hold, of four channels each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TexelKind {
    /// 32-bit floats.
    Float,
    /// 32-bit signed integers.
    Signed,
    /// 32-bit unsigned integers.
    Unsigned,
}

/// An image to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImagePlan {
    /// How many dimensions, without layers.
    pub(crate) dimensions: usize,
    /// Whether the last extent counts layers.
    pub(crate) array: bool,
    /// Width, height, depth or layers; 1 where there is none.
    pub(crate) extent: [usize; 3],
    /// Of its texels.
    pub(crate) texel: TexelKind,
}

const CHANNELS: usize = 4;
/// Layers of image arrays, and depth of 3-D images in ranges of fewer dimensions.
const LAYERS: u64 = 4;

impl ImagePlan {
    /// An image of OpenCL type `kind` with a texel for each work-item or more; how the kernel's
    /// text reads and writes the argument `name` decides what the texels hold.
    ///
    /// # Errors
    /// Why there can be none.
    pub(super) fn new(
        kind: &str,
        name: &str,
        text: &str,
        range: &Range,
        limits: &Limits,
    ) -> Result<ImagePlan, String> {
        let (dimensions, array) = match kind {
            "image1d_t" => (1, false),
            "image2d_t" => (2, false),
            "image3d_t" => (3, false),
            "image1d_array_t" => (1, true),
            "image2d_array_t" => (2, true),
            _ => return Err("no payload for this kind of image".to_owned()),
        };
        let [x, y, z] = range.global;
        let items = range.items();
        let extent = match (dimensions, range.dimensions) {
            (1, _) => [items, if array { LAYERS } else { 1 }, 1],
            (2, 1) => [items.isqrt().max(1), items.div_ceil(items.isqrt().max(1)), 1],
            (2, _) => [x, y * z, 1],
            (_, 3) => [x, y, z],
            (_, 2) => [x, y, LAYERS],
            _ => [items.isqrt().max(1), items.div_ceil(items.isqrt().max(1)), LAYERS],
        };
        let extent = if dimensions == 2 && array { [extent[0], extent[1], LAYERS] } else { extent };
        if let Some(side) = extent.iter().find(|side| **side > limits.image_side) {
            return Err(format!("an image {side} wide, the device allows {}", limits.image_side));
        }
        let extent = extent.map(|side| usize::try_from(side).unwrap_or(usize::MAX));
        Ok(ImagePlan { dimensions, array, extent, texel: texel(name, text) })
    }

    pub(super) fn layout(&self) -> Layout {
        let scalar = match self.texel {
            TexelKind::Float => Scalar::Float,
            TexelKind::Signed => Scalar::Signed,
            TexelKind::Unsigned => Scalar::Unsigned,
        };
        Layout::lanes(scalar, 4, CHANNELS)
    }

    pub(super) fn texels(&self) -> usize {
        self.extent.iter().product()
    }
}

/// What the text's calls of `read_image*` and `write_image*` with `name` say the texels are.
fn texel(name: &str, text: &str) -> TexelKind {
    let calls = |function: &str| {
        text.match_indices(function).any(|(at, _)| {
            let rest = text[at + function.len()..].trim_start();
            let argument = rest.strip_prefix('(').map(str::trim_start);
            argument.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| {
                !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            })
        })
    };
    if calls("read_imageui") || calls("write_imageui") {
        TexelKind::Unsigned
    } else if calls("read_imagei") || calls("write_imagei") {
        TexelKind::Signed
    } else {
        TexelKind::Float
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_in_the_text_decide_what_texels_hold() {
        let text = "write_imageui (b , p, read_imagei(a, s, p)); read_imagef(ab, s, p);";
        assert_eq!(texel("a", text), TexelKind::Signed);
        assert_eq!(texel("b", text), TexelKind::Unsigned);
        assert_eq!(texel("ab", text), TexelKind::Float);
    }
}
