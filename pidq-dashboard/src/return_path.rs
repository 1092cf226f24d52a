//! Paths that a person returns to after single sign-on: pages of the dashboard, never another site.

/// Maximum length of a path with its query.
const SIZE_LIMIT: usize = 2000;

/// First segments of paths that are no pages: those of the session, which would start another sign-in, and the page
/// that reports failures.
const OTHER_SEGMENTS: [&str; 2] = ["session", "sign-in"];

/// Returns a path of this dashboard as it is; `/` for everything else.
pub(crate) fn local(text: &str) -> &str {
    if is_local(text) { text } else { "/" }
}

/// Browsers treat `\` like `/`, remove tabs and line breaks, and take `//host` and `scheme:` as other sites.
fn is_local(text: &str) -> bool {
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let Some(below) = path.strip_prefix('/') else { return false };
    text.len() <= SIZE_LIMIT
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && !path.contains("//")
        && !OTHER_SEGMENTS.contains(&below.split('/').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_dashboard_are_returned_to() {
        for page in [
            "/",
            "/drawings/7?node=P-101&view=list",
            "/query?graph=unit-7&q=nodes()%20%7C%20size()#result",
            "/documents/a/b?next=https://other.example//x",
            "/sessions",
            "/@other.example",
            "/%2f%2fother.example",
        ] {
            assert_eq!(local(page), page);
        }
        for other in [
            "",
            "drawings",
            "https://other.example/",
            "HTTPS:other.example",
            "javascript:alert(1)",
            "//other.example",
            "///other.example",
            "/\\other.example",
            "\\/other.example",
            "\\\\other.example",
            "/drawings\\..\\x",
            "/\t/other.example",
            "/\n/other.example",
            " /drawings",
            "/drawings x",
            "/drawings/\r\nset-cookie: a=b",
            "/drawings//x",
            "/../\u{2215}other.example",
            "?q=1",
            "#x",
            "/session",
            "/session/sso",
            "/session/sso?return_to=/session/sso",
            "/session/callback",
            "/sign-in?error=sso-denied",
        ] {
            assert_eq!(local(other), "/", "{other}");
        }
        assert_eq!(local(&format!("/{}", "a".repeat(2000))), "/");
    }
}
