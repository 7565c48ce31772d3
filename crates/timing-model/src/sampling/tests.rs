use super::{BUCKETS, Estimate, FIGURES, INTERVAL, Phase, Sampling};

/// Instructions of a block.
const BLOCK: u64 = 100;

/// What a program of so many instructions is said to take where each block is of a bucket of code and takes so many cycles,
/// and what it takes.
fn sampled(rate: u64, instructions: u64, block: impl Fn(u64) -> (u8, u64)) -> (Estimate, u64) {
    let mut sampling = Sampling::new(rate);
    let mut figures = [0; FIGURES];
    let (mut count, mut all) = (0, 0);
    while count < instructions {
        let (bucket, cycles) = block(count);
        count += BLOCK;
        all += cycles;
        if sampling.phase == Phase::Detailed {
            figures[0] += cycles;
            figures[1] += 3;
        }
        sampling.note(bucket, BLOCK);
        if count >= sampling.change_at {
            sampling.change(count, figures);
        }
    }
    (sampling.estimate(count, figures), all)
}

fn is_within(estimate: &Estimate, all: u64) -> bool {
    estimate.figures[0].abs_diff(all) <= estimate.interval
}

/// The finalizer of splitmix64.
fn noise(x: u64) -> u64 {
    let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[test]
fn without_a_rate_every_instruction_counts() {
    let (estimate, all) = sampled(1, 1_000_000, |at| (3, at % 7));
    assert_eq!((estimate.figures[0], estimate.error, estimate.interval), (all, 0, 0));
    assert_eq!(estimate.detailed, 1_000_000);
}

#[test]
fn a_short_program_is_simulated_whole() {
    let (estimate, all) = sampled(50, 150_000, |at| (3, at % 7));
    assert_eq!((estimate.figures[0], estimate.error, estimate.strata), (all, 0, 0));
}

#[test]
fn a_uniform_program_is_estimated_exactly_and_mostly_skipped() {
    for rate in [2, 10, 50, 1000] {
        let (estimate, all) = sampled(rate, 50_000_000, |_| (3, 200));
        assert_eq!(estimate.figures[0], all, "1/{rate}");
        assert!(estimate.figures[1].abs_diff(50_000_000 / BLOCK * 3) < 100, "1/{rate}");
        assert_eq!(estimate.strata, 1);
        // The start and the pilot are windows whatever the rate is.
        let windows = 50_000_000 / (INTERVAL * rate) * 3 / 2 + 40;
        assert!(estimate.detailed < windows * INTERVAL, "1/{rate}: {}", estimate.detailed);
        assert!(estimate.interval < all / 100);
    }
}

#[test]
fn phases_of_known_cycles_lie_within_the_interval() {
    let block = |at: u64| match at / 1_000_000 % 3 {
        0 => (7, 400 + noise(at / 1000) % 50),
        _ => (3, 60),
    };
    for rate in [10, 50, 100] {
        let (estimate, all) = sampled(rate, 100_000_000, block);
        assert!(is_within(&estimate, all), "1/{rate}: {estimate:?} of {all}");
        assert!(estimate.interval < all / 50, "1/{rate}: {estimate:?} of {all}");
        assert!(estimate.strata >= 2);
    }
}

#[test]
fn noise_within_a_phase_widens_the_interval() {
    let (steady, _) = sampled(50, 100_000_000, |_| (3, 200));
    let (noisy, all) = sampled(50, 100_000_000, |at| (3, 100 + noise(at / 30_000) % 200));
    assert!(noisy.interval > 4 * steady.interval, "{noisy:?} {steady:?}");
    assert!(is_within(&noisy, all), "{noisy:?} of {all}");
}

/// A twentieth of the instructions take half of the time, in phases of five intervals.
#[test]
fn a_rare_dear_phase_is_seen() {
    let block = |at: u64| if at % 2_000_000 > 1_900_000 { (7, 1000) } else { (3, 50) };
    for rate in [50, 100] {
        let (estimate, all) = sampled(rate, 100_000_000, block);
        let error = estimate.figures[0].abs_diff(all);
        assert!(error < all / 33, "1/{rate}: {estimate:?} of {all}");
        assert!(is_within(&estimate, all), "1/{rate}: {estimate:?} of {all}");
    }
}

/// The same code takes longer and longer, as where a working set grows.
#[test]
fn slow_change_within_a_phase_is_followed() {
    let (estimate, all) = sampled(50, 100_000_000, |at| (3, 50 + at / 250_000));
    assert!(estimate.figures[0].abs_diff(all) < all / 200, "{estimate:?} of {all}");
    assert!(estimate.interval < all / 100);
}

/// Intervals in which one phase ends and another begins are mixtures of both.
#[test]
fn phases_that_are_no_longer_than_an_interval_are_told_apart() {
    let block = |at: u64| if (at / 33_000).is_multiple_of(2) { (7, 150) } else { (3, 50) };
    let (estimate, all) = sampled(50, 100_000_000, block);
    assert!(estimate.figures[0].abs_diff(all) < all / 33, "{estimate:?} of {all}");
    assert!(estimate.strata > 2);
}

/// Sixteen phases follow each other at random, so that none is likely, and all take longer and longer.
#[test]
fn phases_of_which_none_is_likely_have_windows_to_the_end() {
    let block = |at: u64| {
        let phase = noise(at / 21_000) % 16;
        (phase as u8, 50 * (phase + 1) + at / 4_000_000)
    };
    let (estimate, all) = sampled(50, 300_000_000, block);
    assert!(estimate.figures[0].abs_diff(all) < all / 33, "{estimate:?} of {all}");
    assert!(is_within(&estimate, all), "{estimate:?} of {all}");
}

#[test]
fn no_rate_is_too_large() {
    let (estimate, all) = sampled(u64::MAX / 2, 10_000_000, |_| (3, 200));
    assert_eq!(estimate.figures[0], all);
}

#[test]
fn the_same_stream_gives_the_same_estimate() {
    let block = |at: u64| ((noise(at / 70_000) % BUCKETS as u64) as u8, noise(at) % 300);
    assert_eq!(sampled(20, 30_000_000, block), sampled(20, 30_000_000, block));
}
