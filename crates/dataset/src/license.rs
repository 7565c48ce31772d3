use spdx::{Expression, LicenseItem, ParseMode};

/// Which licenses a user lets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Licenses {
    /// Everything, the unlicensed too.
    All,
    /// What the Open Source Initiative approved or the FSF calls free.
    Osi,
    /// OSI-approved and not copyleft.
    Permissive,
}

impl Licenses {
    /// Whether a work under the SPDX expression may be used. `OR` leaves the choice to us; with
    /// `AND` every part must be let in. What is no SPDX expression is let in by [`Licenses::All`]
    /// only.
    #[must_use]
    pub fn admit(self, expression: &str) -> bool {
        if self == Licenses::All {
            return true;
        }
        let Ok(parsed) = Expression::parse_mode(expression, ParseMode::LAX) else { return false };
        parsed.evaluate(|requirement| match &requirement.license {
            LicenseItem::Spdx { id, .. } => match self {
                Licenses::All => true,
                Licenses::Osi => id.is_osi_approved() || id.is_fsf_free_libre(),
                Licenses::Permissive => {
                    (id.is_osi_approved() || id.is_fsf_free_libre()) && !id.is_copyleft()
                }
            },
            LicenseItem::Other { .. } => false,
        })
    }
}

impl std::str::FromStr for Licenses {
    type Err = String;

    fn from_str(text: &str) -> Result<Licenses, String> {
        match text {
            "all" => Ok(Licenses::All),
            "osi" => Ok(Licenses::Osi),
            "permissive" => Ok(Licenses::Permissive),
            other => Err(format!("`{other}` is none of permissive, osi, all")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Licenses::{All, Osi, Permissive};

    #[test]
    fn a_choice_of_licenses_is_ours_and_a_sum_is_not() {
        assert!(Permissive.admit("MIT OR GPL-2.0-only"));
        assert!(!Permissive.admit("MIT AND GPL-2.0-only"));
        assert!(Osi.admit("MIT AND GPL-2.0-only"));
    }

    #[test]
    fn unknown_licenses_need_all() {
        assert!(!Osi.admit("") && !Permissive.admit("LicenseRef-own") && All.admit(""));
    }
}
