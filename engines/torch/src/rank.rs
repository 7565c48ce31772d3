//! Tokens drawn without replacement: the largest of noisy logits.
//!
//! The token of the largest sum of a logit and Gumbel noise is a draw from the logits' distribution, and the next ones are
//! draws from what is left (Kool et al., ICML 2019). So the first of them that is allowed is a draw from the allowed
//! tokens, and few tokens go through the pipe instead of all logits. The noise is a function of a key and the token's
//! number alone: the same keys draw the same, whatever else is read beside.

use tch::{Device, Kind as Number, Tensor};

/// All bits of a number of 32.
const ALL: i64 = 0xffff_ffff;

/// Draws from rows of logits.
pub(crate) struct Ranking {
    count: i64,
    temperature: f64,
    /// A number for each token, far from the next one's, `[1, vocabulary]`.
    numbers: Tensor,
}

impl Ranking {
    /// `count` tokens of each row.
    pub(crate) fn new(vocabulary: u64, count: usize, temperature: f64, device: Device) -> Ranking {
        let numbers = Tensor::arange(vocabulary as i64, (Number::Int64, device)) * 0x9e37_79b1;
        let numbers = numbers.bitwise_and(ALL).unsqueeze(0);
        Ranking { count: count as i64, temperature, numbers }
    }

    /// The tokens of the largest noisy logits, `[rows, count]`, the largest first; a key for each row.
    pub(crate) fn rank(&self, logits: &Tensor, keys: impl Iterator<Item = u32>) -> Tensor {
        let keys: Vec<i64> = keys.map(i64::from).collect();
        let keys = Tensor::from_slice(&keys).to_device(logits.device()).unsqueeze(1);
        // Where the noise is -ln(-ln(share)), it is Gumbel's.
        let noise = self.shares(&keys).log_().neg_().log_().neg_();
        let noisy = logits.to_kind(Number::Float) / self.temperature + noise;
        let (_, ids) = noisy.topk(self.count, 1, true, true);
        ids.to_kind(Number::Int)
    }

    /// Uniform shares between 0 and 1, `[rows, vocabulary]`: MurmurHash3's last mix of key and number.
    fn shares(&self, keys: &Tensor) -> Tensor {
        let fold = |x: &Tensor, shift: i64| {
            x.bitwise_right_shift_tensor_scalar(shift).bitwise_xor_tensor_(x)
        };
        let mix = |x: &Tensor, shift: i64, factor: i64| {
            fold(x, shift).g_mul_scalar_(factor).bitwise_and_(ALL)
        };
        let x = (keys + &self.numbers).bitwise_and_(ALL);
        let x = fold(&mix(&mix(&x, 16, 0x85eb_ca6b), 13, 0xc2b2_ae35), 16);
        // 24 bits are what an f32 holds; half a step keeps it from 0.
        (x.bitwise_right_shift_tensor_scalar(8).to_kind(Number::Float) + 0.5)
            * (1.0 / f64::from(1 << 24))
    }
}
