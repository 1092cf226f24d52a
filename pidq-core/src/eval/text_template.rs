//! Templates of `format`: texts with fields in braces.

/// A part of a template.
pub(crate) enum Part<'t> {
    Text(&'t str),
    Field { path: &'t str, digits: Option<f64> },
}

/// Returns the part at the start of a template, and its length; `None` for a brace without its partner.
pub(crate) fn next_part(rest: &str) -> Option<(Part<'_>, usize)> {
    match rest.as_bytes() {
        [b'{', b'{', ..] | [b'}', b'}', ..] => Some((Part::Text(&rest[..1]), 2)),
        [b'{', ..] => {
            let end = rest.find('}')?;
            let (path, digits) = match rest[1..end].split_once(":.") {
                Some((path, digits)) => (path, Some(digits.parse().ok()?)),
                None => (&rest[1..end], None),
            };
            let is_path = !path.is_empty() && !path.contains('{');
            is_path.then_some((Part::Field { path: path.trim(), digits }, end + 1))
        }
        [b'}', ..] => None,
        _ => {
            let end = rest.find(['{', '}']).unwrap_or(rest.len());
            Some((Part::Text(&rest[..end]), end))
        }
    }
}

/// Returns the keys of the path of a field; none for `.`.
pub(crate) fn keys(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').filter(|key| !key.is_empty())
}

/// Returns the paths of the fields of a template, up to a mistake in it.
pub(crate) fn field_paths(template: &str) -> impl Iterator<Item = &str> {
    let mut rest = template;
    let parts = std::iter::from_fn(move || {
        let (part, len) = next_part(rest).filter(|_| !rest.is_empty())?;
        rest = &rest[len..];
        Some(part)
    });
    parts.filter_map(|part| match part {
        Part::Field { path, .. } => Some(path),
        Part::Text(_) => None,
    })
}
