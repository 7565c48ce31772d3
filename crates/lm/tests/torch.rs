//! Training, and conformance of the engines: `make test-torch` runs this, which names the libtorch engine in
//! `STAMPMILL_TORCH` and the Python that has torch and `transformers` in `STAMPMILL_PYTHON`.

use nn::{Array, Model, Numbers};
use stampmill_lm::{
    Causal, Choice, Entry, Kind, Next, Ranked, Recipe, Remote,
    causal::{Answer, Job, Listener, Question, Turn},
    settings::Method,
    tokenizer::Special,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Output, Stdio},
    sync::{Arc, LazyLock, atomic::AtomicBool, mpsc},
};
use tempfile::TempDir;
use trials::{Failed, Trial};

type Done = Result<(), Failed>;

/// How far apart two engines' logits may be.
const CLOSE: f32 = 1e-4;

static SHIPPED: LazyLock<PathBuf> = LazyLock::new(|| here("../../models/infill"));

/// A path of the checkout under test; not `env!`, since a build folder may serve several checkouts.
fn here(path: &str) -> PathBuf {
    std::path::absolute(path).expect("cargo runs tests in the crate's folder")
}

fn main() -> ExitCode {
    let mut trials = vec![
        Trial::new("both_engines_give_models_infill_the_same_logits", shipped),
        Trial::new("a_loss_that_is_not_finite_stops_training", not_finite),
        Trial::new("time_that_ends_before_the_first_step_is_told", no_time),
        Trial::new("broken_folders_are_refused_and_left_as_they_are", broken),
        Trial::new("the_same_seed_draws_the_same_in_the_libtorch_engine", same_seed),
        Trial::new("an_engine_that_cannot_go_on_says_why", cannot_go_on),
        Trial::new("a_checkpoint_of_another_architecture_is_refused", foreign),
        Trial::new("cuda_without_a_driver_is_a_clear_error", no_driver)
            .needs(Path::new("/dev/nvidiactl").exists().then(|| "a machine without a GPU".into())),
    ];
    for kind in Kind::ALL {
        let make: Make = Box::new(move || {
            trained(kind).map_err(|failed| failed.message().unwrap_or("?").to_owned())
        });
        let shared: Arc<Shared> = Arc::new(LazyLock::new(make));
        let mut add = |what: &str, test: fn(Kind, &Path) -> Done| {
            let shared = Arc::clone(&shared);
            let test = move || test(kind, (**shared).as_ref()?.path());
            trials.push(Trial::new(format!("{}_{what}", kind.name()), test));
        };
        add("has_the_same_logits_in_both_engines", conforms);
        add("learns", learns);
        add("has_the_losses_of_an_engine_written_in_rust", golden);
        add("packed_has_the_losses_of_rectangles", packs);
        add("is_drawn_from_by_the_trainer_as_the_logits_say", draws);
        add("killed_and_resumed_has_the_weights_of_an_uninterrupted_run", resumes);
        if kind == Kind::Infill {
            add("pre_trains_on_functions_as_long_as_it_is_told_to", pre_trains);
            add("compiled_has_the_losses_of_an_eager_run", compiles);
        }
        if kind != Kind::Hole {
            add("decodes_with_a_cache_as_in_a_full_pass", decodes);
            add("decodes_slots_of_different_lengths_as_in_a_full_pass", ragged);
            add("answers_questions_side_by_side_as_here", answers);
            add("draws_in_the_engine_as_the_logits_say", ranks);
        }
    }
    let python = stampmill_lm::find_python();
    let lacks = python.is_none().then(|| "a Python with transformers".to_owned());
    let make: Make = Box::new(move || transformers(python.unwrap_or_default().as_os_str()));
    let theirs: Arc<Shared> = Arc::new(LazyLock::new(make));
    for name in ["grouped", "tied", "linear", "llama3", "wide", "sharded"] {
        let theirs = Arc::clone(&theirs);
        let test = move || loads(&theirs, name);
        let name = format!("a_{name}_llama_checkpoint_of_transformers_has_the_same_logits_here");
        trials.push(Trial::new(name, test).needs(lacks.clone()));
    }
    let name = "models_infill_has_the_same_logits_and_ids_in_transformers";
    trials.push(Trial::new(name, move || ours_there(&theirs)).needs(lacks.clone()));
    trials::run(trials)
}

/// A folder that several tests look at, made by the first of them.
type Shared = LazyLock<Result<TempDir, String>, Make>;
type Make = Box<dyn FnOnce() -> Result<TempDir, String> + Send>;

/// Kernels of statements that look drawn at random.
fn corpus() -> Vec<Entry> {
    const STATEMENTS: [&str; 10] = [
        "a[c] = b[c] + 3;",
        "for (int d = 0; d < 8; d++) {\n    a[c] -= b[d];\n  }",
        "if (c < 17) {\n    a[c] = b[c + 1] * 2;\n  }",
        "barrier(CLK_LOCAL_MEM_FENCE);",
        "a[c] = max(a[c], b[c] >> 2);",
        "while (a[c] > 100) {\n    a[c] /= 2;\n  }",
        "b[get_local_id(0)] = convert_int(a[c] * 1.5f);",
        "a[c] ^= b[c] & 0xff;",
        "atomic_add(&a[0], b[c]);",
        "b[c] = (a[c] == 4) ? c : -c;",
    ];
    let mut state = 9_u32;
    (0..60)
        .map(|at| {
            let mut body = String::new();
            for _ in 0..4 + at % 5 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                body += &format!("  {}\n", STATEMENTS[(state >> 16) as usize % STATEMENTS.len()]);
            }
            let text = format!(
                "kernel void A(global int* a, global int* b) {{\n  int c = get_global_id(0);\n{body}}}\n"
            );
            let features = BTreeMap::from([("comp".to_owned(), at as f64)]);
            Entry { text, package: format!("p{}", at % 5), features, ..Entry::default() }
        })
        .collect()
}

/// Functions to pre-train on: loops over what a pointer without an address space points to.
fn functions() -> Vec<Entry> {
    (0..20)
        .map(|at| {
            let body: String = (0..2 + at % 3)
                .map(|n| format!("    a[c] = a[c] * {} + {};\n", at * 7 + n, at * at + n))
                .collect();
            let text = format!(
                "void A(int* a, int b) {{\n  for (int c = 0; c < b; c++) {{\n{body}  }}\n}}\n"
            );
            Entry { text, package: format!("c{}", at % 3), ..Entry::default() }
        })
        .collect()
}

/// Steps of a run.
const STEPS: u64 = 12;

/// A small model and a short run.
fn recipe(kind: Kind) -> Recipe {
    let mut recipe = Recipe::of(kind);
    recipe.model = stampmill_lm::Sizes { layers: 2, width: 32, inner: 64, heads: 4, kv_heads: 2 };
    let training = &mut recipe.training;
    training.length = 96;
    training.batch_tokens = 768;
    training.budget_tokens = STEPS * 768;
    training.method = Method::Adam;
    training.learning_rate = 1e-2;
    training.warmup_steps = 2;
    training.validate_every = 3;
    training.validation_share = 0.2;
    training.dropout = 0.1;
    training.longest = 4.0;
    training.pretrain_share = 0.7;
    recipe
}

/// A folder to train in, with functions for the first eight steps.
fn folder(kind: Kind, recipe: &Recipe) -> Result<TempDir, Failed> {
    let folder = tempfile::tempdir()?;
    stampmill_lm::prepare(&corpus(), &functions(), kind, recipe, 7, folder.path())?;
    Ok(folder)
}

/// The trainer where it is to train, and the libtorch engine for all else.
fn engine(arguments: &[&str], folder: &Path) -> Result<Command, Failed> {
    let (verb, rest) = arguments.split_first().ok_or("no verb")?;
    let mut command = match *verb {
        "train" => stampmill_lm::trainer()?,
        _ => Command::new(
            stampmill_lm::find_engine().ok_or("no engine: run this through `make test-torch`")?,
        ),
    };
    command.arg(verb).arg(folder).args(rest);
    Ok(command)
}

fn run(arguments: &[&str], folder: &Path) -> Result<Output, Failed> {
    let output = engine(arguments, folder)?.output()?;
    match output.status.success() {
        true => Ok(output),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

/// The engine's complaint about what must fail.
fn refused(arguments: &[&str], folder: &Path) -> Result<String, Failed> {
    let output = engine(arguments, folder)?.output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure(output.status.code() == Some(2), || format!("{} and said {said}", output.status))?;
    Ok(said)
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Done {
    if holds { Ok(()) } else { Err(otherwise().into()) }
}

/// Logits of rows of tokens by the libtorch engine.
fn torch_logits(folder: &Path, rows: &[Vec<u32>], more: &[&str]) -> Result<Vec<f32>, Failed> {
    let work = tempfile::tempdir()?;
    let numbers = rows.iter().flatten().map(|id| i64::from(*id)).collect();
    let tokens = Array { shape: vec![rows.len(), rows[0].len()], numbers: Numbers::I64(numbers) };
    let (input, output) = (work.path().join("tokens"), work.path().join("logits"));
    nn::write(&input, &BTreeMap::from([("tokens".to_owned(), tokens)]))?;
    let (input, output) = (input.display().to_string(), output.display().to_string());
    run(&[&["logits", "--tokens", &input, "--out", &output], more].concat(), folder)?;
    numbers_of(&mut nn::read(Path::new(&output))?, "logits")
}

fn numbers_of(arrays: &mut BTreeMap<String, Array>, name: &str) -> Result<Vec<f32>, Failed> {
    match arrays.remove(name).map(|array| array.numbers) {
        Some(Numbers::F32(numbers)) => Ok(numbers),
        other => Err(format!("{name} is {other:?}").into()),
    }
}

/// Two rows of ids without the one that pads.
fn rows(vocabulary: usize, length: usize) -> Vec<Vec<u32>> {
    let id = |at: usize| (3 + at * at * 7 % (vocabulary - 3)) as u32;
    vec![(0..length).map(id).collect(), (0..length).map(|at| id(at + 31)).collect()]
}

/// Logits must agree, and say something: a model without an opinion agrees with any other.
fn close(name: &str, ours: &[f32], theirs: &[f32]) -> Done {
    ensure(ours.len() == theirs.len(), || format!("{name}: {} of {}", ours.len(), theirs.len()))?;
    let apart = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    let most = theirs.iter().fold(0.0_f32, |most, logit| most.max(logit.abs()));
    println!("{name}: {} logits up to {most:.1}, at most {apart:.1e} apart", ours.len());
    ensure(most > 1.0, || format!("{name}: no logit is over {most}"))?;
    ensure(apart <= CLOSE, || format!("{name}: logits are up to {apart} apart"))
}

/// A folder that was trained in.
fn trained(kind: Kind) -> Result<TempDir, Failed> {
    let folder = folder(kind, &recipe(kind))?;
    run(&["train", "--device", "cpu"], folder.path())?;
    Ok(folder)
}

fn conforms(kind: Kind, folder: &Path) -> Done {
    both(folder, kind.name(), 60)
}

fn shipped() -> Done {
    both(&SHIPPED, "models/infill", 200)
}

fn both(folder: &Path, name: &str, length: usize) -> Done {
    let model = Model::load(folder)?;
    let rows = rows(model.vocabulary(), length);
    let ours: Vec<Vec<f32>> = rows.iter().map(|row| model.logits(row)).collect::<Result<_, _>>()?;
    close(name, &ours.concat(), &torch_logits(folder, &rows, &[])?)
}

fn decodes(_: Kind, folder: &Path) -> Done {
    let model = Model::load(folder)?;
    let rows = rows(model.vocabulary(), 60);
    let full = torch_logits(folder, &rows, &[])?;
    for first in ["1", "7"] {
        let cached = torch_logits(folder, &rows, &["--cached", first])?;
        close(&format!("libtorch, {first} read at once"), &cached, &full)?;
    }
    let mut decoder = model.decoder(2).ok_or("no decoder")?;
    let mut cached = vec![Vec::new(); 2];
    for (&first, &second) in rows[0].iter().zip(&rows[1]).take(60) {
        // The slots are used the other way round.
        let logits = decoder.step(&[(1, first), (0, second)])?;
        for (row, logits) in cached.iter_mut().zip(logits.chunks(model.vocabulary())) {
            row.extend_from_slice(logits);
        }
    }
    close("candle", &cached.concat(), &full)
}

/// Slots that begin at different times, rest at times, and begin anew.
fn ragged(kind: Kind, folder: &Path) -> Done {
    let model = Model::load(folder)?;
    let vocabulary = model.vocabulary();
    let rows = rows(vocabulary, 96);
    let full: Vec<Vec<f32>> = rows.iter().map(|row| model.logits(row)).collect::<Result<_, _>>()?;
    let mut remote = Remote::start(folder, 4, 96, "cpu", None)?;
    ensure((remote.slots(), remote.groups()) == (4, 2), || format!("{remote:?}"))?;
    // Row, and tokens read of it.
    let mut slots = [(0, 0), (1, 0), (1, 0), (0, 0)];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for at in 0..90 {
        if at == 70 {
            slots[2] = (0, 0);
            remote.rewind(2, 0);
        }
        if at == 80 && kind == Kind::Infill {
            slots[0].1 = 30;
            remote.rewind(0, 30);
        }
        let reads = |slot: usize| match slot {
            1 => at >= 7 && at % 3 > 0,
            3 => at >= 11,
            _ => true,
        };
        for group in [[0, 1], [2, 3]] {
            // In another order than that of the slots.
            let asked = group.into_iter().rev().filter(|slot| reads(*slot));
            let tokens: Vec<(usize, u32, u32)> =
                asked.map(|slot| (slot, rows[slots[slot].0][slots[slot].1], 0)).collect();
            for (slot, ..) in &tokens {
                let (row, place) = &mut slots[*slot];
                theirs.extend_from_slice(&full[*row][*place * vocabulary..][..vocabulary]);
                *place += 1;
            }
            remote.begin(&tokens)?;
        }
        for _ in 0..2 {
            ours.extend(logits(remote.finish()?)?);
        }
    }
    close(&format!("{} in slots", kind.name()), &ours, &theirs)?;
    let full =
        (0..97).try_for_each(|_| remote.begin(&[(0, 3, 0)]).and(remote.finish().map(|_| ())));
    let said = full.expect_err("96 tokens are all it has room for").to_string();
    ensure(said.contains("slot 0 is full"), || said)
}

/// Who collects answers by their number.
struct Collects(usize, mpsc::Sender<(usize, String)>);

impl Listener for Collects {
    fn listens(&self) -> bool {
        true
    }

    fn done(self: Box<Self>, answer: stampmill_lm::Result<Answer>) {
        let told = answer.map_or_else(|error| error.to_string(), |answer| answer.text);
        let _ = self.1.send((self.0, told));
    }
}

/// More questions than slots, of different lengths, one of which has less room than it asks for.
fn answers(_: Kind, folder: &Path) -> Done {
    let causal = Causal::load(folder)?;
    let all = rows(causal.model().vocabulary(), 90);
    let told = |remote: Option<Remote>| {
        let (sender, receiver) = mpsc::channel();
        let mut questions = [1, 40, 3, 17, 90, 5, 2, 8].into_iter().enumerate();
        causal.serve(3, remote, |_| {
            let Some((number, length)) = questions.next() else { return Turn::Over };
            let question = Question {
                tokens: Arc::from(&all[number % 2][..length]),
                most: 12,
                choice: Choice { temperature: 0.0, top_p: 1.0 },
                seed: 0,
                stop: Vec::new(),
            };
            let listener = Box::new(Collects(number, sender.clone()));
            Turn::Job(Job { question, listener })
        });
        drop(sender);
        let mut told: Vec<_> = receiver.iter().collect();
        told.sort();
        told
    };
    let (here, elsewhere) = (told(None), told(Some(causal.elsewhere(3, "cpu")?)));
    ensure(here.len() == 8 && here == elsewhere, || format!("{here:#?}\n{elsewhere:#?}"))
}

fn logits(next: Next) -> Result<Vec<f32>, Failed> {
    match next {
        Next::Logits(logits) => Ok(logits),
        Next::Ranked(_) => Err("tokens were not asked for".into()),
    }
}

/// What the engine draws has the shares that the logits give it, differs within a row, and depends on the key alone.
fn ranks(_: Kind, folder: &Path) -> Done {
    const COUNT: usize = 5;
    const TEMPERATURE: f32 = 0.8;
    let likely = Model::load(folder)?.logits(&[3])?;
    let powers: Vec<f64> = likely.iter().map(|l| f64::from(l / TEMPERATURE).exp()).collect();
    let whole: f64 = powers.iter().sum();
    let ranked = Some(Ranked { count: COUNT, temperature: TEMPERATURE });
    let mut remote = Remote::start(folder, 512, 8, "cpu", ranked)?;
    let mut draw = |slots: &[usize], key: &dyn Fn(usize) -> u32| -> Result<Vec<u32>, Failed> {
        for slot in slots {
            remote.rewind(*slot, 0);
        }
        let asked: Vec<_> = slots.iter().map(|slot| (*slot, 3, key(*slot))).collect();
        remote.begin(&asked)?;
        match remote.finish()? {
            Next::Ranked(tokens) => Ok(tokens),
            Next::Logits(_) => Err("logits were not asked for".into()),
        }
    };
    let group: Vec<usize> = (0..256).collect();
    let mut counts = vec![0_u32; powers.len()];
    const ROUNDS: usize = 80;
    for round in 0..ROUNDS {
        let drawn = draw(&group, &|slot| (round * 256 + slot) as u32)?;
        ensure(drawn.len() == COUNT * group.len(), || drawn.len().to_string())?;
        for row in drawn.chunks(COUNT) {
            counts[row[0] as usize] += 1;
            let distinct: BTreeSet<u32> = row.iter().copied().collect();
            ensure(distinct.len() == COUNT, || format!("{row:?}"))?;
        }
    }
    // Half of the sum of what shares are apart, and what it is by chance: a share of so many draws has this mean
    // absolute deviation (that of a normal distribution).
    let draws = (ROUNDS * group.len()) as f64;
    let apart = counts.iter().zip(&powers).map(|(n, p)| (f64::from(*n) / draws - p / whole).abs());
    let apart = apart.sum::<f64>() / 2.0;
    let chance = powers.iter().map(|p| (2.0 * p / whole / draws / std::f64::consts::PI).sqrt());
    let chance = chance.sum::<f64>() / 2.0;
    println!("{apart:.4} apart over {} tokens, {chance:.4} by chance", powers.len());
    ensure(apart < 1.15 * chance, || format!("{apart} apart, {chance} by chance"))?;
    let together = draw(&group, &|slot| slot as u32 * 7)?;
    let alone = draw(&[300], &|_| 9 * 7)?;
    ensure(alone == together[9 * COUNT..10 * COUNT], || format!("{alone:?}"))
}

/// What the trainer draws has the shares that the logits of full passes give it, whatever it keeps of what was read before.
fn draws(kind: Kind, folder: &Path) -> Done {
    let (work, special, model) = (tempfile::tempdir()?, Special::ALL, Model::load(folder)?);
    let prompt = [u32::from(special.start), 20, 21];
    let sample = |temperature: &str| -> Result<Vec<Vec<u32>>, Failed> {
        let out = work.path().join("ids");
        let mut command = stampmill_lm::trainer()?;
        command.arg("sample").arg(folder).arg("--out").arg(&out);
        command.args(["--n", "40", "--prompt-ids", "20,21", "--length", "60", "--seed", "5"]);
        let output = command.args(["--device", "cpu", "--temperature", temperature]).output()?;
        let failed = || String::from_utf8_lossy(&output.stderr).into_owned();
        ensure(output.status.success(), failed)?;
        let text = fs::read_to_string(&out)?;
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    };
    // Logits of each place of a row of new ids.
    let behind = |row: &[u32]| -> Result<Vec<Vec<f32>>, Failed> {
        let vocabulary = model.vocabulary();
        let whole = [&prompt[..], row].concat();
        let place = |logits: &[f32], at: usize| logits[at * vocabulary..][..vocabulary].to_vec();
        if kind != Kind::Hole {
            let logits = model.logits(&whole)?;
            return Ok((0..row.len()).map(|at| place(&logits, at + 2)).collect());
        }
        let right = [special.hole, special.end].map(u32::from);
        let ends = prompt.len()..whole.len();
        let logits = |end: usize| -> Result<Vec<f32>, Failed> {
            Ok(place(&model.logits(&[&whole[..end], &right].concat())?, end))
        };
        ends.map(logits).collect()
    };
    let pad = usize::from(special.pad);
    for row in sample("0")?.iter().take(2) {
        for (id, mut logits) in row.iter().zip(behind(row)?) {
            logits[pad] = f32::NEG_INFINITY;
            let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let less = most - logits[*id as usize];
            ensure(less < 1e-3, || format!("{id} of {row:?}: {less} under the largest"))?;
        }
    }
    let drawn = sample("1")?;
    ensure(drawn.len() == 40 && drawn == sample("1")?, || "the seed does not decide".to_owned())?;
    // What a token takes, less what tokens take there on average, is nothing on average.
    let (mut apart, mut count) = (0.0, 0_u32);
    for row in &drawn {
        for (id, logits) in row.iter().zip(behind(row)?) {
            let mut powers: Vec<f64> = logits.iter().map(|logit| f64::from(*logit).exp()).collect();
            powers[pad] = 0.0;
            let whole: f64 = powers.iter().sum();
            let takes = |power: f64| -(power / whole).ln();
            let shares = powers.iter().filter(|power| **power > 0.0);
            let expected: f64 = shares.map(|power| power / whole * takes(*power)).sum();
            apart += takes(powers[*id as usize]) - expected;
            count += 1;
        }
    }
    let apart = apart / f64::from(count);
    println!("{}: {count} tokens take {apart:.3} nats more than expected", kind.name());
    ensure(apart.abs() < 0.2, || format!("{apart} nats from what is expected"))
}

fn losses(folder: &Path) -> Result<Vec<(u64, f64, Option<f64>)>, Failed> {
    let metrics = stampmill_lm::metrics(folder)?;
    Ok(metrics.iter().map(|m| (m.step, m.loss, m.validation_loss)).collect())
}

fn no_time() -> Done {
    let folder = folder(Kind::Lstm, &recipe(Kind::Lstm))?;
    let arguments = ["--device", "cpu", "--seconds", "0"].map(str::to_owned);
    let stop = AtomicBool::new(false);
    let came = stampmill_lm::train(folder.path(), &arguments, STEPS, &dataset::Silent, &stop);
    let Err(error) = came else { return Err("it trained".into()) };
    let said = error.to_string();
    ensure(said.starts_with("the limit of 0 s ended before the first step"), || said.clone())
}

/// Trained through the library, as `stampmill train` does.
fn learns(kind: Kind, other: &Path) -> Done {
    let folder = folder(kind, &recipe(kind))?;
    let arguments = ["--device", "cpu"].map(str::to_owned);
    let trained = stampmill_lm::train(
        folder.path(),
        &arguments,
        STEPS,
        &dataset::Silent,
        &AtomicBool::new(false),
    )?;
    let losses = losses(folder.path())?;
    let seen: Vec<f64> = losses.iter().filter_map(|(_, _, loss)| *loss).collect();
    println!("{} validation losses {seen:.2?}", kind.name());
    ensure(losses.len() as u64 == STEPS && seen.len() == 4, || format!("{losses:?}"))?;
    let best = trained.validation_loss.ok_or("no validation")?;
    let (_, first, _) = losses[0];
    ensure(best < 0.9 * first, || format!("from {first} to {best} only"))?;
    ensure(trained.stopped == "budget", || trained.stopped)?;
    // The same seed, the same weights.
    let same = |file: &str| -> Result<bool, Failed> {
        Ok(fs::read(folder.path().join(file))? == fs::read(other.join(file))?)
    };
    ensure(same("model.safetensors")?, || "another run has other weights".to_owned())
}

/// Losses of a run without dropout.
fn plain_losses(kind: Kind, more: &[&str]) -> Result<Vec<f64>, Failed> {
    let mut recipe = recipe(kind);
    recipe.training.dropout = 0.0;
    let folder = folder(kind, &recipe)?;
    run(&[&["train", "--device", "cpu"], more].concat(), folder.path())?;
    Ok(losses(folder.path())?
        .into_iter()
        .flat_map(|(_, loss, seen)| [Some(loss), seen])
        .flatten()
        .collect())
}

/// The largest distance between losses, in nats a token.
fn same_losses(ours: &[f64], theirs: &[f64]) -> Done {
    const CLOSE: f64 = 2e-5;
    ensure(ours.len() == theirs.len(), || format!("{} losses, {}", ours.len(), theirs.len()))?;
    let apart = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    println!("{} losses, at most {apart:.1e} apart", ours.len());
    ensure(apart <= CLOSE, || format!("{ours:?}\n{theirs:?}"))
}

/// `losses.json` has what an engine written in Rust on libtorch came to: the same instances, masks, weights to begin with,
/// schedule and optimizer.
fn golden(kind: Kind, _: &Path) -> Done {
    let text = fs::read_to_string(here("tests/losses.json"))?;
    let all: BTreeMap<String, Vec<f64>> = serde_json::from_str(&text)?;
    same_losses(&plain_losses(kind, &[])?, &all[kind.name()])
}

/// Instances behind one another in rows do not see one another.
fn packs(kind: Kind, _: &Path) -> Done {
    if kind == Kind::Lstm {
        let said =
            plain_losses(kind, &["--packed"]).expect_err("a state goes on from one to the next");
        let said = said.message().unwrap_or_default().to_owned();
        return ensure(said.contains("lstm"), || said);
    }
    // Pieces of two sizes, so that some rows are not full.
    let rectangles = plain_losses(kind, &["--micro-tokens", "400"])?;
    same_losses(&plain_losses(kind, &["--packed"])?, &rectangles)?;
    same_losses(&plain_losses(kind, &["--packed", "--micro-tokens", "300"])?, &rectangles)
}

fn compiles(kind: Kind, _: &Path) -> Done {
    let eager = plain_losses(kind, &["--no-compile"])?;
    same_losses(&plain_losses(kind, &["--compile"])?, &eager)
}

/// Shares of nothing are no pre-training, and a longer one makes other weights.
fn pre_trains(kind: Kind, whole: &Path) -> Done {
    let weights = |pretrain_share: f64, function_share: f64| -> Result<_, Failed> {
        let mut recipe = recipe(kind);
        recipe.training.pretrain_share = pretrain_share;
        recipe.training.function_share = function_share;
        let folder = folder(kind, &recipe)?;
        run(&["train", "--device", "cpu"], folder.path())?;
        Ok((losses(folder.path())?, nn::read(&folder.path().join("state.safetensors"))?))
    };
    let (never, no_functions) = (weights(0.0, 0.8)?, weights(0.7, 0.0)?);
    ensure(never == no_functions, || "functions were drawn".to_owned())?;
    let (short, long) = (weights(0.25, 0.8)?, losses(whole)?);
    ensure(never.0[0] != short.0[0], || "no function was drawn".to_owned())?;
    ensure(short.0[..3] == long[..3], || "the first three steps differ".to_owned())?;
    ensure(short.0[3] != long[3], || "the fourth step is the same".to_owned())
}

/// Killed in the middle of a step, not asked to stop.
fn resumes(kind: Kind, whole: &Path) -> Done {
    let parts = folder(kind, &recipe(kind))?;
    let mut child = engine(&["train", "--device", "cpu"], parts.path())?
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
    let told = lines.take(7).collect::<Result<Vec<_>, _>>()?;
    child.kill()?;
    child.wait()?;
    ensure(told.len() == 7, || "it ended before it was killed".to_owned())?;
    let resumed = run(&["train", "--device", "cpu", "--resume"], parts.path())?;
    let said = String::from_utf8_lossy(&resumed.stderr).into_owned();
    ensure(said.contains("going on after step "), || said)?;
    for file in ["model.safetensors", "state.safetensors"] {
        let (one, two) = (nn::read(&whole.join(file))?, nn::read(&parts.path().join(file))?);
        ensure(one == two, || format!("{file} differs"))?;
    }
    ensure(losses(whole)? == losses(parts.path())?, || "the losses differ".to_owned())
}

fn not_finite() -> Done {
    let mut recipe = recipe(Kind::Infill);
    recipe.training.learning_rate = 1e30;
    let folder = folder(Kind::Infill, &recipe)?;
    let said = refused(&["train", "--device", "cpu"], folder.path())?;
    ensure(said.contains("loss is") && said.contains("learning_rate"), || said)?;
    ensure(!folder.path().join("summary.json").exists(), || "it says it is done".to_owned())
}

fn broken() -> Done {
    let arguments = ["train", "--device", "cpu", "--resume"];
    let cut = |folder: &Path, file: &str| -> Result<Vec<u8>, Failed> {
        let whole = fs::read(folder.join(file))?;
        let kept = whole[..whole.len() / 2].to_vec();
        fs::write(folder.join(file), &kept)?;
        Ok(kept)
    };
    let whole = folder(Kind::Lstm, &recipe(Kind::Lstm))?;
    run(&["train", "--device", "cpu", "--steps", "3"], whole.path())?;
    for (file, wanted) in [
        ("corpus.safetensors", "corpus.safetensors is no safetensors file"),
        ("state.safetensors", "state.safetensors"),
        ("training.json", "training.json is broken"),
        ("config.json", "config.json is broken"),
    ] {
        let folder = tempfile::tempdir()?;
        for entry in fs::read_dir(whole.path())? {
            let entry = entry?;
            fs::copy(entry.path(), folder.path().join(entry.file_name()))?;
        }
        let kept = cut(folder.path(), file)?;
        let weights = fs::read(folder.path().join("model.safetensors"))?;
        let said = refused(&arguments, folder.path())?;
        ensure(said.contains(wanted), || said)?;
        ensure(fs::read(folder.path().join(file))? == kept, || format!("{file} was changed"))?;
        let after = fs::read(folder.path().join("model.safetensors"))?;
        ensure(weights == after, || "the weights were changed".to_owned())?;
    }
    let said = refused(&arguments, Path::new("/nowhere"))?;
    ensure(said.contains("--prepare-only"), || said)
}

fn foreign() -> Done {
    let folder = tempfile::tempdir()?;
    let config = fs::read_to_string(SHIPPED.join("config.json"))?;
    fs::copy(SHIPPED.join("model.safetensors"), folder.path().join("model.safetensors"))?;
    let out = folder.path().join("drawn").display().to_string();
    for (from, to, wanted) in [
        ("\"llama\"", "\"gpt2\"", "gpt2"),
        ("\"intermediate_size\": 1024", "\"intermediate_size\": 512", "has shape"),
        ("\"num_hidden_layers\": 6", "\"num_hidden_layers\": 7", "lacks the tensor"),
        ("\"attention_bias\": false", "\"attention_bias\": true", "attention_bias"),
        ("\"head_dim\": 64", "\"head_dim\": 32", "head_dim"),
    ] {
        fs::write(folder.path().join("config.json"), config.replace(from, to))?;
        let said =
            refused(&["sample", "--n", "1", "--device", "cpu", "--out", &out], folder.path())?;
        ensure(said.contains(wanted), || said)?;
        let ours = Model::load(folder.path()).expect_err("foreign").to_string();
        println!("{ours}");
    }
    ensure(!Path::new(&out).exists(), || "something was drawn".to_owned())
}

/// Constrained samples of the shipped checkpoint, twice.
fn same_seed() -> Done {
    let checkpoint = stampmill_lm::Checkpoint::load(&SHIPPED)?;
    let draw = |slots: usize| -> Result<Vec<String>, Failed> {
        let drawing = stampmill_lm::Drawing {
            seed: 3,
            longest: 60,
            slots,
            ..stampmill_lm::Drawing::default()
        };
        let mut drawn = Vec::new();
        let sampler = stampmill_lm::Sampler::new(&checkpoint, drawing).elsewhere("cpu");
        sampler.draw(&stampmill_lm::Prompt::new(stampmill_lm::START), 0..6, &mut |sample| {
            drawn.push((sample.number, sample.text));
            true
        })?;
        drawn.sort();
        Ok(drawn.into_iter().map(|(_, text)| text).collect())
    };
    let (one, two) = (draw(4)?, draw(4)?);
    ensure(one.len() == 6 && one == two, || format!("{one:#?}\n{two:#?}"))
}

fn cannot_go_on() -> Done {
    let said = |folder: &Path| {
        Remote::start(folder, 4, 60, "cpu", None).expect_err("no model").to_string()
    };
    let missing = said(Path::new("/nowhere"));
    ensure(missing.contains("/nowhere"), || missing)?;
    let folder = folder(Kind::Hole, &recipe(Kind::Hole))?;
    run(&["train", "--device", "cpu", "--steps", "1"], folder.path())?;
    let hole = said(folder.path());
    ensure(hole.contains("no cached decoding"), || hole)
}

fn no_driver() -> Done {
    let said = stampmill_lm::check_trainer("cuda").expect_err("no driver").to_string();
    ensure(said.contains("CUDA") && said.contains("--device cpu"), || said)
}

/// What `transformers` computes, in a folder.
fn transformers(python: &std::ffi::OsStr) -> Result<TempDir, String> {
    let work = tempfile::tempdir().map_err(|error| error.to_string())?;
    let kernel = work.path().join("kernel.cl");
    fs::write(&kernel, &corpus()[1].text).map_err(|error| error.to_string())?;
    let script = here("tests/expected.py");
    let mut command = Command::new(python);
    let output = command.arg(script).arg(&*SHIPPED).arg(&kernel).arg(work.path()).output();
    let output = output.map_err(|error| format!("cannot run {}: {error}", python.display()))?;
    match output.status.success() {
        true => Ok(work),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn loads(theirs: &Shared, name: &str) -> Done {
    let folder = (**theirs).as_ref()?.path().join(name);
    against(&folder, &folder.join("expected.safetensors"), name).map(|_| ())
}

/// Our logits of a checkpoint against those in a file; answers what else the file holds.
fn against(
    checkpoint: &Path,
    expected: &Path,
    name: &str,
) -> Result<BTreeMap<String, Array>, Failed> {
    let mut arrays = nn::read(expected)?;
    let Some(Numbers::I64(tokens)) = arrays.remove("tokens").map(|array| array.numbers) else {
        return Err("no tokens".into());
    };
    let tokens: Vec<u32> = tokens.into_iter().map(u32::try_from).collect::<Result<_, _>>()?;
    let logits = numbers_of(&mut arrays, "logits")?;
    close(name, &Model::load(checkpoint)?.logits(&tokens)?, &logits)?;
    Ok(arrays)
}

fn ours_there(theirs: &Shared) -> Done {
    let expected = (**theirs).as_ref()?.path().join("ours.safetensors");
    let mut arrays = against(&SHIPPED, &expected, "models/infill")?;
    let checkpoint = stampmill_lm::Checkpoint::load(&SHIPPED)?;
    let ids = checkpoint.tokenizer().encode_plain(&corpus()[1].text);
    let ids = Numbers::I64(ids.into_iter().map(i64::from).collect());
    let theirs = arrays.remove("ids").map(|array| array.numbers);
    ensure(theirs.as_ref() == Some(&ids), || format!("ids {ids:?}, theirs {theirs:?}"))
}
