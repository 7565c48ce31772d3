//! The usual blanks between lexemes, as a function of the lexemes alone.

/// Restores the blanks of normalised kernels: near to what clang's format library writes, never
/// looking ahead further than the next lexeme.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    previous: String,
    /// Whether `previous` ends an operand: what follows is a binary operator, an index or a call.
    operand: bool,
    /// Whether `previous` is a prefix operator.
    unary: bool,
    parentheses: u32,
    braces: u32,
    /// Whether a closing parenthesis ends the head of a statement, per open parenthesis.
    heads: Vec<bool>,
    /// Whether the last closing parenthesis did.
    head: bool,
    /// Whether each open brace is an initialiser's.
    lists: Vec<bool>,
    spaces: String,
}

fn is_word(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'"' | b'\'')
    }) || (text.len() > 1 && text.starts_with('.') && text.as_bytes()[1].is_ascii_digit())
}

fn is_type(text: &str) -> bool {
    grammar::TYPES.binary_search(&text).is_ok()
        || text.trim_end_matches(|c: char| c.is_ascii_digit()) != text
            && grammar::TYPES
                .binary_search(&text.trim_end_matches(|c: char| c.is_ascii_digit()))
                .is_ok()
}

fn is_keyword(text: &str) -> bool {
    grammar::KEYWORDS.binary_search(&text).is_ok()
}

impl Layout {
    /// Note that the lexeme `next` was written.
    pub(crate) fn push(&mut self, next: &str) {
        let prefix =
            !self.operand && matches!(next, "-" | "+" | "!" | "~" | "&" | "*" | "++" | "--");
        let pointer = next == "*" && (is_type(&self.previous) || is_type_name(&self.previous));
        self.head = false;
        match next {
            "(" => {
                let head = matches!(self.previous.as_str(), "if" | "for" | "while" | "switch");
                self.heads.push(head);
                self.parentheses += 1;
            }
            ")" => {
                self.head = self.heads.pop().unwrap_or(false);
                self.parentheses = self.parentheses.saturating_sub(1);
            }
            "{" => {
                let list = matches!(self.previous.as_str(), "=" | "," | "{" | "(")
                    && self.lists.last().copied().unwrap_or(true)
                    || self.previous == "="
                    || (self.previous == ")" && self.parentheses > 0);
                self.lists.push(list);
                self.braces += 1;
            }
            "}" => {
                self.lists.pop();
                self.braces = self.braces.saturating_sub(1);
            }
            _ => {}
        }
        self.unary = prefix && !pointer;
        self.operand = match next {
            ")" | "]" => true,
            "++" | "--" => self.operand,
            _ => {
                is_word(next)
                    && !matches!(next, "return" | "case" | "else" | "do" | "goto")
                    && !is_type(next)
            }
        };
        if next == ")" && is_type_end(&self.previous) {
            // A cast: what follows is its operand.
            self.operand = false;
            self.unary = true;
        }
        self.previous.clear();
        self.previous.push_str(next);
    }

    fn in_list(&self) -> bool {
        self.lists.last().copied().unwrap_or(false)
    }

    fn line(&mut self, depth: u32) -> &str {
        self.spaces.clear();
        self.spaces.push('\n');
        for _ in 0..depth.min(64) {
            self.spaces.push_str("  ");
        }
        &self.spaces
    }

    /// The blanks between the last lexeme and `next`.
    pub(crate) fn before(&mut self, next: &str) -> &str {
        let previous = self.previous.clone();
        let previous = previous.as_str();
        if previous.is_empty() {
            return "";
        }
        if next.starts_with('#') || previous.starts_with('#') {
            let depth = if next.starts_with('#') { 0 } else { self.braces };
            return self.line(depth);
        }
        if self.in_list() {
            // Initialisers stay on one line.
            if previous == "{" || next == "}" {
                return "";
            }
        } else {
            match (previous, next) {
                ("{", "}") => return "",
                (_, "}") => return self.line(self.braces.saturating_sub(1)),
                ("{", _) => return self.line(self.braces),
                ("}", "else" | "while") => return " ",
                ("}", ";" | "," | ")" | "]") => return "",
                ("}", _) if self.braces == 0 && !is_word_but_keyword(next) => {
                    return "\n\n";
                }
                ("}", _) => return self.line(self.braces),
                (";", _) if self.parentheses == 0 => return self.line(self.braces),
                _ => {}
            }
        }
        match next {
            ";" | "," | ")" | "]" | "[" => return "",
            "." | "->" => return "",
            ":" if previous == ")" || self.operand => return " ",
            "++" | "--" if self.operand => return "",
            "(" => {
                return match previous {
                    "if" | "for" | "while" | "switch" | "return" | "=" | "," => " ",
                    _ if is_word(previous) && !is_type(previous) => "",
                    ")" | "]" | "(" | "[" | "!" | "~" => "",
                    _ if self.unary => "",
                    _ => " ",
                };
            }
            "*" if is_type(previous)
                || is_type_name(previous)
                || previous == "*" && !self.unary =>
            {
                return "";
            }
            _ => {}
        }
        match previous {
            "(" | "[" | "." | "->" | "!" | "~" => "",
            // `- -a` is no `--a`.
            "+" | "-" if self.unary && next.starts_with(previous) => " ",
            _ if self.unary => "",
            "++" | "--" if !self.operand => "",
            _ => " ",
        }
    }

    /// The blanks behind the last lexeme.
    pub(crate) fn end(&self) -> &str {
        if self.previous.is_empty() { "" } else { "\n" }
    }
}

/// `Ta`, `Tb`, …: the names that the rewriter gives to types.
fn is_type_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next() == Some('T')
        && text.len() > 1
        && letters.all(|letter| letter.is_ascii_lowercase())
}

fn is_type_end(text: &str) -> bool {
    is_type(text) || is_type_name(text) || text == "*"
}

fn is_word_but_keyword(text: &str) -> bool {
    is_word(text) && !is_keyword(text) && !is_type(text)
}
