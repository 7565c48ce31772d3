//! Random programs in the manner of CLSmith (Lidbury, Lascu, Chong and Donaldson, PLDI 2015), which tests compilers: a kernel
//! calls functions on one struct of variables, and what these leave in it is hashed. They are as large as those whose vectors the
//! CLgen paper recorded (Cummins et al., CGO 2017), all of which store once and have neither local memory nor atomics.

mod body;
mod expression;
mod program;
mod safe;
mod sizes;

use super::{Candidate, Proposer, State};
use crate::edit::Rng;

/// Programs that are drawn without looking at what is wanted.
#[derive(Debug)]
pub(super) struct Smith;

impl Proposer for Smith {
    fn name(&self) -> &'static str {
        "smith"
    }

    fn propose(&mut self, state: &State<'_>, count: usize, rng: &mut Rng) -> Vec<Candidate> {
        state.each(count, rng, |rng| Some(Candidate::of_text(program::write(rng).0)))
    }

    fn is_directed(&self) -> bool {
        false
    }

    fn is_baseline(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{sizes::Size, *};
    use crate::{Judge, proposer::LARGEST};
    use rand::SeedableRng;

    fn written(count: u64) -> Vec<(String, Size)> {
        (0..count).map(|seed| program::write(&mut Rng::seed_from_u64(seed))).collect()
    }

    #[test]
    fn programs_are_as_large_as_those_of_clsmith_were_recorded_to_be() {
        let space = features::space("grewe").expect("registered");
        let judge = Judge::new(space, 2).unwrap_or_else(|error| panic!("{error}"));
        let (texts, drawn): (Vec<String>, Vec<Size>) = written(500).into_iter().unzip();
        let mut columns = [Vec::new(), Vec::new()];
        let vectors = judge.judge(&texts).expect("LLVM is here");
        for ((text, size), vector) in texts.iter().zip(&drawn).zip(vectors) {
            assert!(text.len() < LARGEST, "{} bytes", text.len());
            let vector = vector.unwrap_or_else(|| panic!("it does not compile:\n{text}"));
            let counted = [size.comp, size.rational, 1, 0, 0, 0].map(f64::from);
            assert_eq!(
                vector[..6],
                counted,
                "comp, rational, mem, localmem, coalesced, atomic of\n{text}"
            );
            columns[0].push(size.comp);
            columns[1].push(size.rational);
        }
        // Three standard deviations of a quartile of 500 draws are less than seven hundredths of them: what was recorded at these
        // ranks below and above each quartile.
        let recorded = [[(7, 9), (16, 29), (47, 105)], [(8, 23), (32, 48), (71, 143)]];
        for (mut column, quartiles) in columns.into_iter().zip(recorded) {
            column.sort_unstable();
            for (quarter, (least, most)) in (1..).zip(quartiles) {
                let found = column[column.len() * quarter / 4];
                assert!((least..=most).contains(&found), "{found}, and not {least} to {most}");
            }
        }
    }

    #[test]
    fn the_same_random_numbers_write_the_same_program_and_others_another() {
        let texts = || written(50).into_iter().map(|(text, _)| text);
        assert!(texts().eq(texts()));
        let mut different: Vec<String> = texts().collect();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 50);
    }
}
