//! Training instances, made on the fly from kernels: what the model reads and what it is to say.

use crate::{
    corpus::Corpus,
    settings::{Kind, Settings, Task},
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tch::{Device, Tensor};

/// A place that is not learned from.
pub(crate) const IGNORED: i64 = -100;

/// Share of a kernel that a hole may hide (BenchPress, PACT'22, section 3.2).
const LARGEST_HOLE: f64 = 0.9;

/// What is read and, of the same length, what is to be said at each place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instance {
    pub(crate) input: Vec<i64>,
    pub(crate) target: Vec<i64>,
}

/// Instances of about the same length, padded to one rectangle.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Ids, `[rows, length]`.
    pub(crate) input: Tensor,
    /// Flat indices of the places that are learned from.
    pub(crate) places: Tensor,
    /// What is to be said there.
    pub(crate) targets: Tensor,
    /// Number of those places.
    pub(crate) count: u64,
    /// Places that are read, padding left out.
    pub(crate) tokens: u64,
}

/// The instances of step `step`: the same for the same seed, whatever was done before.
pub(crate) fn of_step(corpus: &Corpus, settings: &Settings, step: u64) -> Vec<Instance> {
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    random.set_stream(step + 1);
    let share = match corpus.functions() {
        0 => 0.0,
        _ => settings.function_share(step),
    };
    let mut instances = Vec::new();
    let mut tokens = 0;
    while tokens < settings.batch_tokens {
        let instance = draw(corpus, settings, share, &mut random);
        tokens += instance.input.len();
        instances.push(instance);
    }
    instances.sort_by_key(|instance| instance.input.len());
    instances
}

/// The instances that validation looks at: always the same.
pub(crate) fn of_validation(corpus: &Corpus, settings: &Settings) -> Vec<Instance> {
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed ^ 0x5eed);
    let mut instances: Vec<Instance> = corpus
        .validation
        .iter()
        .map(|at| match settings.kind {
            _ if settings.task == Task::Edits => answer(corpus, *at, settings),
            Kind::Lstm => pack(&[corpus.tokens(*at)], settings),
            Kind::Hole => hole(corpus.tokens(*at), settings, &mut random),
            Kind::Infill => infill(corpus, *at, settings, &mut random),
        })
        .collect();
    instances.sort_by_key(|instance| instance.input.len());
    instances
}

/// A kernel or, with a chance of `chance`, a function.
fn choose(corpus: &Corpus, chance: f64, random: &mut ChaCha8Rng) -> usize {
    // Where there are no functions, nothing is drawn to decide.
    if chance > 0.0 && random.random_bool(chance) {
        corpus.draw_function(random.random())
    } else {
        corpus.draw(random.random())
    }
}

fn draw(corpus: &Corpus, settings: &Settings, chance: f64, random: &mut ChaCha8Rng) -> Instance {
    let at = choose(corpus, chance, random);
    match settings.kind {
        _ if settings.task == Task::Edits => answer(corpus, at, settings),
        Kind::Lstm => {
            // Whole kernels one after the other until the window is full.
            let mut kernels = vec![corpus.tokens(at)];
            let mut length = kernels[0].len();
            while length < settings.length {
                kernels.push(corpus.tokens(choose(corpus, chance, random)));
                length += kernels[kernels.len() - 1].len();
            }
            pack(&kernels, settings)
        }
        Kind::Hole => hole(corpus.tokens(at), settings, random),
        Kind::Infill => infill(corpus, at, settings, random),
    }
}

/// `start kernel end` for each kernel, cut to the window; the next token is to be said everywhere.
fn pack(kernels: &[&[u32]], settings: &Settings) -> Instance {
    let special = settings.special;
    let mut all = Vec::new();
    for kernel in kernels {
        all.push(i64::from(special.start));
        all.extend(kernel.iter().map(|token| i64::from(*token)));
        all.push(i64::from(special.end));
    }
    next_token(all, 0, settings.length)
}

/// Say the next token, but nothing before place `from`.
fn next_token(mut all: Vec<i64>, from: usize, length: usize) -> Instance {
    all.truncate(length + 1);
    let mut target = all[1..].to_vec();
    for place in target.iter_mut().take(from.saturating_sub(1)) {
        *place = IGNORED;
    }
    all.pop();
    Instance { input: all, target }
}

/// A question and its answer; the answer alone is to be said.
fn answer(corpus: &Corpus, at: usize, settings: &Settings) -> Instance {
    let all = corpus.tokens(at).iter().map(|token| i64::from(*token)).collect();
    next_token(all, corpus.answer(at), settings.length)
}

/// Cut points of a hole: a random place, a random length up to nine tenths of the kernel.
fn cut(length: usize, random: &mut ChaCha8Rng) -> (usize, usize) {
    let longest = (length as f64 * LARGEST_HOLE) as usize;
    let hidden = random.random_range(0..=longest);
    let begin = random.random_range(0..=length - hidden);
    (begin, begin + hidden)
}

/// BenchPress: one hole; at its place the first hidden token is to be said, or that none is.
fn hole(kernel: &[u32], settings: &Settings, random: &mut ChaCha8Rng) -> Instance {
    let special = settings.special;
    let kernel = &kernel[..kernel.len().min(settings.length - 3)];
    let (begin, end) = cut(kernel.len(), random);
    let mut input = vec![i64::from(special.start)];
    input.extend(kernel[..begin].iter().map(|token| i64::from(*token)));
    let place = input.len();
    input.push(i64::from(special.hole));
    input.extend(kernel[end..].iter().map(|token| i64::from(*token)));
    input.push(i64::from(special.end));
    let mut target = vec![IGNORED; input.len()];
    let first = if begin < end { kernel[begin] } else { special.hole_end };
    target[place] = i64::from(first);
    Instance { input, target }
}

/// `start conditions arguments` and then the kernel, straight or as prefix, suffix, middle
/// (Bavarian et al. 2022); conditions and arguments are dropped at random.
fn infill(corpus: &Corpus, at: usize, settings: &Settings, random: &mut ChaCha8Rng) -> Instance {
    let special = settings.special;
    let kernel = corpus.tokens(at);
    let mut all = vec![i64::from(special.start)];
    if !random.random_bool(settings.condition_dropout) {
        for condition in corpus.conditions(at) {
            if !random.random_bool(settings.condition_dropout) {
                all.push(i64::from(condition));
            }
        }
    }
    let specification = corpus.specification(at);
    if !specification.is_empty() && !random.random_bool(settings.arguments_dropout) {
        all.push(i64::from(special.arguments));
        all.extend(specification.iter().map(|token| i64::from(*token)));
        all.push(i64::from(special.arguments_end));
    }
    let given = all.len();
    let mut push = |tokens: &[u32]| all.extend(tokens.iter().map(|token| i64::from(*token)));
    let fits = given + kernel.len() + 4 <= settings.length;
    if fits && random.random_bool(settings.infill_share) {
        let (begin, end) = cut(kernel.len(), random);
        push(&[special.prefix]);
        push(&kernel[..begin]);
        push(&[special.suffix]);
        push(&kernel[end..]);
        push(&[special.middle]);
        push(&kernel[begin..end]);
    } else {
        push(kernel);
    }
    push(&[special.end]);
    next_token(all, given, settings.length)
}

/// Instances (sorted by length) as rectangles of at most `most_tokens` places, padding included.
pub(crate) fn batches(
    instances: &[Instance],
    most_tokens: usize,
    pad: u32,
    device: Device,
) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut from = 0;
    while from < instances.len() {
        let mut to = from + 1;
        while to < instances.len() && instances[to].input.len() * (to + 1 - from) <= most_tokens {
            to += 1;
        }
        batches.push(rectangle(&instances[from..to], pad, device));
        from = to;
    }
    batches
}

fn rectangle(instances: &[Instance], pad: u32, device: Device) -> Batch {
    let width = instances.iter().map(|instance| instance.input.len()).max().unwrap_or(0);
    let (mut input, mut places, mut targets) = (Vec::new(), Vec::new(), Vec::new());
    let mut tokens = 0;
    for instance in instances {
        let begin = input.len();
        tokens += instance.input.len() as u64;
        input.extend_from_slice(&instance.input);
        input.resize(begin + width, i64::from(pad));
        for (at, target) in instance.target.iter().enumerate().filter(|(_, t)| **t != IGNORED) {
            places.push((begin + at) as i64);
            targets.push(*target);
        }
    }
    let put = |values: &[i64]| Tensor::from_slice(values).to_device(device);
    Batch {
        input: put(&input).view([instances.len() as i64, width as i64]),
        places: put(&places),
        targets: put(&targets),
        count: targets.len() as u64,
        tokens,
    }
}
