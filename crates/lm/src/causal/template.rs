//! Chat templates, as Hugging Face's libraries store them.

use super::optional;
use crate::{Error, Result};
use minijinja::{Environment, ErrorKind, context, syntax::SyntaxConfig};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

/// One message of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: String,
}

/// The template of checkpoints that bring none: what is said, each message followed by an empty line, as
/// `stampmill edits export --format hf` writes questions.
pub const PLAIN: &str =
    "{{ bos_token }}{% for message in messages %}{{ message.content }}\n\n{% endfor %}";

/// How a chat becomes one text: a Jinja template over `messages`, `bos_token`, `eos_token` and
/// `add_generation_prompt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(String);

impl Default for Template {
    fn default() -> Template {
        Template(PLAIN.to_owned())
    }
}

impl Template {
    /// The template of a checkpoint's folder: `chat_template.jinja`, or `chat_template` of
    /// `tokenizer_config.json`, or else [`PLAIN`].
    ///
    /// # Errors
    /// When a file is broken.
    pub fn read(folder: &Path) -> Result<Template> {
        let file = folder.join("chat_template.jinja");
        if file.is_file() {
            return Template::new(
                &std::fs::read_to_string(&file).map_err(Error::file("read", &file))?,
            );
        }
        let config = optional(&folder.join("tokenizer_config.json"))?;
        let stored = &config["chat_template"];
        // Several templates of one model have names.
        let named = stored.as_array().and_then(|list| {
            list.iter().find(|entry| entry["name"] == "default").or_else(|| list.first())
        });
        match stored.as_str().or_else(|| named.and_then(|entry| entry["template"].as_str())) {
            Some(source) => Template::new(source),
            None => Ok(Template::default()),
        }
    }

    /// A template of this source.
    ///
    /// # Errors
    /// When it is no Jinja template.
    pub fn new(source: &str) -> Result<Template> {
        environment().template_from_str(source).map_err(broken)?;
        Ok(Template(source.to_owned()))
    }

    /// Its source.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0
    }

    /// The text of a chat whose next message is asked for.
    ///
    /// # Errors
    /// When the template does not take such a chat.
    pub fn render(&self, messages: &[Message], begin: &str, end: &str) -> Result<String> {
        let environment = environment();
        let template = environment.template_from_str(&self.0).map_err(broken)?;
        let messages: Vec<BTreeMap<&str, String>> = messages
            .iter()
            .map(|message| {
                BTreeMap::from([
                    ("role", message.role.clone()),
                    ("content", message.content.clone()),
                ])
            })
            .collect();
        let values = context! {
            messages, bos_token => begin, eos_token => end, add_generation_prompt => true,
        };
        template.render(values).map_err(broken)
    }
}

/// Jinja as `transformers` sets it up.
fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    // The usual marks, which are never refused.
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        environment.set_syntax(syntax);
    }
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_function(
        "raise_exception",
        |why: String| -> std::result::Result<String, minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, why))
        },
    );
    environment
}

fn broken(error: minijinja::Error) -> Error {
    Error::Prompt(format!("the chat template refuses: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat() -> Vec<Message> {
        [("system", "Be quick."), ("user", " int main() {} ")]
            .map(|(role, content)| Message { role: role.into(), content: content.into() })
            .into()
    }

    #[test]
    fn messages_stand_as_the_export_writes_them() {
        let text = Template::default().render(&chat(), "<s>", "</s>").unwrap();
        assert_eq!(text, "<s>Be quick.\n\n int main() {} \n\n");
    }

    #[test]
    fn a_published_template_is_followed() {
        // The shape of CodeLlama-Instruct's.
        let source = "{% if messages[0]['role'] == 'system' %}\n{% set system = messages[0]['content'] %}\n\
            {% set messages = messages[1:] %}\n{% endif %}\n{% for message in messages %}\n\
            {% if message['role'] not in ['user', 'assistant'] %}\n{{ raise_exception('no such role') }}\n{% endif %}\n\
            {{ bos_token + '[INST] <<SYS>>\\n' + system + '\\n<</SYS>>\\n\\n' + message['content'].strip() + ' [/INST]' }}\n\
            {% endfor %}";
        let template = Template::new(source).unwrap();
        let text = template.render(&chat(), "<s>", "</s>").unwrap();
        assert_eq!(
            text.trim_end(),
            "<s>[INST] <<SYS>>\nBe quick.\n<</SYS>>\n\nint main() {} [/INST]"
        );
        let tool = [Message { role: "tool".into(), content: String::new() }];
        let error = template.render(&tool, "", "").unwrap_err().to_string();
        assert!(error.contains("no such role"), "{error}");
        assert!(Template::new("{% for %}").is_err());
    }
}
