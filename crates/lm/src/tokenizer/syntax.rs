use super::{SPECIAL, Special, Tokenizer, Vocabulary, file::CONTINUES, layout::Layout};
use crate::Result;
use grammar::{Grammar, KEYWORDS, Piece, TYPES, is_builtin};
use lexer::{Kind, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// BenchPress's AST-derived tokens (PACT'22, section 3.1): keywords, types, builtin functions,
/// operators and frequent identifiers are whole; literals and rare names are spelled by character.
///
/// A spelled lexeme is the piece of its first character and one *continuing* piece (`##x`) for each
/// byte behind it. Blanks between lexemes are not tokens: a `Layout` restores them. Where a text
/// has others, `<gap>` and continuing pieces say which, so that any text comes back as it was.
#[derive(Clone, Debug)]
pub struct Syntax {
    vocabulary: Vocabulary,
    gap: u16,
    /// Ids of the continuing pieces, by byte.
    continuing: Vec<u16>,
}

/// Says that the blanks before the next lexeme are not the usual ones.
const GAP: &str = "<gap>";

/// Kernels that must hold an identifier for it to be a piece of its own.
const FREQUENT: usize = 8;

/// Of the other texts, one in so many must hold it.
const FEW: usize = 200;

/// Operators of C of more than one character.
const OPERATORS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=",
];

impl Syntax {
    pub(crate) const NAME: &'static str = "syntax";

    /// The tokenizer of a vocabulary that [`Syntax::learn`] made.
    #[must_use]
    pub fn new(vocabulary: Vocabulary) -> Syntax {
        let gap = vocabulary.id(GAP).unwrap_or(SPECIAL.len() as u16);
        let continuing = (0..=255).map(|byte| vocabulary.id(&continuing(byte)).unwrap_or(gap));
        Syntax { gap, continuing: continuing.collect(), vocabulary }
    }

    /// A vocabulary for `texts`, with condition tokens.
    ///
    /// # Errors
    /// When there are more pieces than ids.
    pub fn learn<'a>(
        conditions: &[String],
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Syntax> {
        Syntax::learn_both(conditions, texts, [])
    }

    /// A vocabulary for `texts`, with condition tokens, and with the words that many of `others`
    /// hold.
    ///
    /// # Errors
    /// When there are more pieces than ids.
    pub fn learn_both<'a>(
        conditions: &[String],
        texts: impl IntoIterator<Item = &'a str>,
        others: impl IntoIterator<Item = &'a str>,
    ) -> Result<Syntax> {
        let (holders, _) = holders_in(texts);
        let (other_holders, count) = holders_in(others);
        let frequent = (count / FEW).max(FREQUENT);
        let mut whole: BTreeSet<&str> =
            OPERATORS.into_iter().chain(KEYWORDS).chain(TYPES).collect();
        for (holders, least) in [(holders, FREQUENT), (other_holders, frequent)] {
            let kept = holders
                .into_iter()
                .filter(|(word, count)| word.len() > 1 && (*count >= least || is_builtin(word)));
            whole.extend(kept.map(|(word, _)| word));
        }
        let pieces = std::iter::once(GAP.to_owned())
            .chain((0..=255).map(continuing))
            .chain((b'!'..=b'~').map(|byte| char::from(byte).to_string()))
            .chain(whole.into_iter().filter(|word| word.len() > 1).map(str::to_owned));
        Ok(Syntax::new(Vocabulary::new(conditions, pieces)?))
    }

    /// The grammar of OpenCL C over these tokens.
    #[must_use]
    pub fn grammar(&self) -> Grammar {
        let piece = |id: u16| match self.continued(id) {
            _ if id == Special::ALL.end => Piece::End,
            _ if self.vocabulary.is_special(id) || id == self.gap => Piece::None,
            Some(byte) => Piece::Continue(byte),
            None => Piece::Lexeme(self.vocabulary.piece(id).to_owned()),
        };
        Grammar::new((0..self.vocabulary.len() as u16).map(piece))
    }

    /// The byte that a continuing piece adds.
    #[must_use]
    pub fn continued(&self, id: u16) -> Option<u8> {
        // The pieces stand in the order of their bytes.
        let at = id.checked_sub(self.continuing[0])?;
        u8::try_from(at).ok()
    }

    /// The id of the piece that adds `byte` to a lexeme.
    #[must_use]
    pub fn continuing(&self, byte: u8) -> u16 {
        self.continuing[usize::from(byte)]
    }

    fn lexeme(&self, text: &str, ids: &mut Vec<u16>) {
        // `##x` is spelled like a continuing piece.
        if let Some(id) = self.vocabulary.id(text).filter(|_| !text.starts_with(CONTINUES)) {
            ids.push(id);
            return;
        }
        let mut bytes = text.bytes();
        if let Some(first) = bytes.next() {
            let first = char::from(first).to_string();
            ids.push(self.vocabulary.id(&first).expect("every printable character is a piece"));
        }
        ids.extend(bytes.map(|byte| self.continuing(byte)));
    }

    fn gap(&self, text: &[u8], ids: &mut Vec<u16>) {
        ids.push(self.gap);
        ids.extend(text.iter().map(|byte| self.continuing(*byte)));
    }

    fn all(&self, text: &str, exact: bool) -> Vec<u16> {
        let mut ids = Vec::new();
        let mut layout = Layout::default();
        let mut from = 0;
        // What does not begin with a printable character of ASCII belongs to the blanks.
        let begins = |text: &str| text.as_bytes().first().is_some_and(u8::is_ascii_graphic);
        for token in tokens(text).filter(|token| begins(token.text)) {
            let between = &text[from..token.begin];
            if exact && layout.before(token.text) != between {
                self.gap(between.as_bytes(), &mut ids);
            }
            self.lexeme(token.text, &mut ids);
            layout.push(token.text);
            from = token.end();
        }
        if exact && text[from..] != *layout.end() {
            self.gap(&text.as_bytes()[from..], &mut ids);
        }
        ids
    }
}

/// How many texts hold each word, and how many texts there are.
fn holders_in<'a>(texts: impl IntoIterator<Item = &'a str>) -> (BTreeMap<&'a str, usize>, usize) {
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count = 0;
    for text in texts {
        count += 1;
        let words: BTreeSet<&str> =
            tokens(text).filter(|t| t.kind == Kind::Word).map(|t| t.text).collect();
        for word in words.into_iter().filter(|word| word.is_ascii()) {
            *holders.entry(word).or_default() += 1;
        }
    }
    (holders, count)
}

fn continuing(byte: u8) -> String {
    match byte {
        b' '..=b'~' | b'\n' | b'\t' => format!("{CONTINUES}{}", char::from(byte)),
        _ => format!("{CONTINUES}<0x{byte:02X}>"),
    }
}

impl Tokenizer for Syntax {
    fn name(&self) -> &'static str {
        Syntax::NAME
    }

    fn encode(&self, text: &str) -> Vec<u16> {
        self.all(text, true)
    }

    fn encode_plain(&self, text: &str) -> Vec<u16> {
        self.all(text, false)
    }

    fn decode(&self, ids: &[u16]) -> String {
        let mut out: Vec<u8> = Vec::new();
        let mut layout = Layout::default();
        let mut lexeme: Vec<u8> = Vec::new();
        let mut gap: Option<Vec<u8>> = None;
        let close = |lexeme: &mut Vec<u8>, layout: &mut Layout| {
            if !lexeme.is_empty() {
                layout.push(&String::from_utf8_lossy(lexeme));
                lexeme.clear();
            }
        };
        // Blanks before a lexeme depend on its spelling: it is gathered first.
        let mut at = 0;
        let text: Vec<u16> =
            ids.iter().copied().filter(|id| !self.vocabulary.is_special(*id)).collect();
        while at < text.len() {
            let mut end = at + 1;
            while end < text.len() && self.continued(text[end]).is_some() {
                end += 1;
            }
            let rest = text[at + 1..end].iter().filter_map(|id| self.continued(*id));
            if text[at] == self.gap {
                gap.get_or_insert_default().extend(rest);
            } else {
                let first = match self.continued(text[at]) {
                    Some(byte) => vec![byte],
                    None => self.vocabulary.piece(text[at]).as_bytes().to_vec(),
                };
                lexeme.extend(first.into_iter().chain(rest));
                match gap.take() {
                    Some(gap) => out.extend(gap),
                    None => {
                        let spelled = String::from_utf8_lossy(&lexeme);
                        out.extend_from_slice(layout.before(&spelled).as_bytes());
                    }
                }
                out.extend_from_slice(&lexeme);
                close(&mut lexeme, &mut layout);
            }
            at = end;
        }
        match gap {
            Some(gap) => out.extend(gap),
            None => out.extend_from_slice(layout.end().as_bytes()),
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KERNEL: &str = "kernel void A(global float* a, const int b) {\n  int c = get_global_id(0);\n  if (c < b) {\n    a[c] = 2.5f * a[c];\n  }\n}\n";

    fn tokenizer() -> Syntax {
        Syntax::learn(&[], [KERNEL]).expect("a small vocabulary")
    }

    #[test]
    fn a_kernel_in_the_usual_layout_needs_no_gaps() {
        let tokenizer = tokenizer();
        let ids = tokenizer.encode(KERNEL);
        assert_eq!(ids, tokenizer.encode_plain(KERNEL));
        assert_eq!(tokenizer.decode(&ids), KERNEL);
    }

    #[test]
    fn words_of_others_are_whole_where_many_hold_them() {
        let others = (0..2000).map(|at| match at % 100 {
            0 => "int common;",
            1 if at < 900 => "int rare; void mad24();",
            _ => "int a;",
        });
        let tokenizer = Syntax::learn_both(&[], [KERNEL], others).expect("a small vocabulary");
        let id = |word: &str| tokenizer.vocabulary().id(word);
        assert!(id("common").is_some() && id("mad24").is_some() && id("rare").is_none());
    }

    #[test]
    fn literals_and_rare_names_are_spelled() {
        let tokenizer = tokenizer();
        let pieces: Vec<String> = tokenizer
            .encode_plain("float rare = 2.5f;")
            .iter()
            .map(|id| tokenizer.vocabulary().piece(*id).to_owned())
            .collect();
        assert_eq!(pieces, ["float", "r", "##a", "##r", "##e", "=", "2", "##.", "##5", "##f", ";"]);
    }

    #[test]
    fn signs_that_would_run_together_stay_apart() {
        let tokenizer = Syntax::learn(&[], []).expect("a small vocabulary");
        let signs = tokenizer.encode_plain("int x = - -1 + + +1;");
        assert_eq!(tokenizer.decode(&signs).trim_end(), "int x = - -1 + + +1;");
    }

    proptest! {
        #[test]
        fn any_text_comes_back(
            text in "\\PC*|[ -~\n\t\r\u{0}é€]{0,60}|([a-z#0-9.\"';{}()+=*<> \n\t]|/\\*|//|kernel |float ){0,60}"
        ) {
            let tokenizer = tokenizer();
            prop_assert_eq!(tokenizer.decode(&tokenizer.encode(&text)), text);
        }
    }
}
