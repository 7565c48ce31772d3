//! `stampmill edits validate`: whether a file is what its form says.

use crate::{Global, output};
use edits::schema::{FORMS, Form, OnBroken, read_lines};
use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

/// Check JSON lines against their schema, naming the line and field at fault
#[derive(clap::Args, Debug)]
#[command(after_help = help!("edits-validate"))]
pub(crate) struct Validate {
    /// The file
    #[arg(required_unless_present = "forms")]
    file: Option<PathBuf>,
    /// The form all lines must have; otherwise each line's keys tell it
    #[arg(long, value_name = "NAME")]
    form: Option<String>,
    /// Describe all forms
    #[arg(long)]
    forms: bool,
}

impl Validate {
    pub(crate) fn run(self, global: &Global) -> anyhow::Result<ExitCode> {
        if self.forms {
            return describe(global).map(|()| ExitCode::SUCCESS);
        }
        let form = match &self.form {
            None => None,
            Some(name) => Some(Form::named(name).ok_or_else(|| {
                let names: Vec<&str> = FORMS.iter().map(|form| form.name).collect();
                anyhow::anyhow!("--form: `{name}` is none of {}", names.join(", "))
            })?),
        };
        let path = self.file.unwrap_or_default();
        let lines = read_lines(&path, form, OnBroken::Skip)?;
        let mut forms: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, (form, _)) in &lines.rows {
            *forms.entry(form.name).or_default() += 1;
        }
        output::report(
            global,
            &serde_json::json!({
                "lines": lines.rows.len() + lines.broken.len(),
                "valid": lines.rows.len(), "forms": forms, "broken": lines.broken,
            }),
            || {
                for fault in &lines.broken {
                    output::line(&format!(
                        "line {}, field `{}`: {}",
                        fault.line, fault.field, fault.reason
                    ))?;
                }
                let forms: Vec<String> =
                    forms.iter().map(|(form, n)| format!("{n} {form}")).collect();
                output::line(&format!(
                    "{} valid ({}), {} broken",
                    output::some(lines.rows.len() as u64, "line"),
                    if forms.is_empty() { "none".to_owned() } else { forms.join(", ") },
                    lines.broken.len()
                ))
            },
        )?;
        Ok(output::status(lines.broken.is_empty()))
    }
}

fn describe(global: &Global) -> anyhow::Result<()> {
    let forms: Vec<_> = FORMS
        .iter()
        .map(|form| {
            serde_json::json!({
                "name": form.name,
                "about": form.about,
                "fields": form.fields.iter().map(|field| serde_json::json!({
                    "name": field.name,
                    "holds": format!("{:?}", field.kind).to_lowercase(),
                    "required": field.required,
                    "about": field.about,
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    output::report(global, &serde_json::json!({ "forms": forms }), || {
        for form in FORMS {
            output::line(&format!("{}: {}", form.name, form.about))?;
            let rows = form.fields.iter().map(|field| {
                let kind = format!("{:?}", field.kind).to_lowercase();
                let must = if field.required { "must" } else { "may" };
                vec![field.name.to_owned(), kind, must.to_owned(), field.about.to_owned()]
            });
            output::print_table(&["field", "holds", "be there", "meaning"], rows)?;
        }
        Ok(())
    })
}
