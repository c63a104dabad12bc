//! Who makes our commits: the account of the app that the token is of, `github-actions[bot]` for
//! the workflow's own. REST does not tell an app's token who it belongs to; GraphQL does.

use serde::Deserialize;
use serde_json::json;

use crate::commits::CommitAuthor;
use crate::github::GitHub;

const VIEWER: &str = "query { viewer { login databaseId } }";

#[derive(Deserialize)]
struct ViewerData {
    viewer: Viewer,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Viewer {
    login: String,
    database_id: Option<u64>,
}

impl GitHub {
    /// Asks who the token's app is.
    pub(super) async fn read_author(&self) -> CommitAuthor {
        let data: Result<ViewerData, _> = self.graph.read_soon(VIEWER, &json!({})).await;
        let viewer = match data {
            Ok(ViewerData { viewer }) => viewer,
            Err(error) => {
                tracing::warn!(%error, "who makes the commits is not known");
                return CommitAuthor::default();
            }
        };
        author_of(viewer, self.client.base_url()).unwrap_or_default()
    }
}

/// Returns an app's account as author; `None` for a person's, who wrote nothing of it.
/// <https://docs.github.com/en/account-and-profile/reference/email-addresses-reference>
fn author_of(viewer: Viewer, api_url: &str) -> Option<CommitAuthor> {
    let Viewer { login, database_id } = viewer;
    let id = database_id.filter(|_| login.ends_with("[bot]"))?;
    let api = url::Url::parse(api_url).ok()?;
    let host = api.host_str()?;
    let host = host.strip_prefix("api.").unwrap_or(host);
    let email = format!("{id}+{login}@users.noreply.{host}");
    Some(CommitAuthor { name: login, email })
}

#[cfg(test)]
mod tests {
    use super::{Viewer, author_of};
    use pretty_assertions::assert_eq;

    #[test]
    fn commits_are_those_of_the_app_and_of_no_person() {
        let email = |login: &str, id: Option<u64>, api: &str| {
            let viewer = Viewer { login: login.to_owned(), database_id: id };
            author_of(viewer, api).map(|author| author.email)
        };
        let known = |email: &str| Some(email.to_owned());
        assert_eq!(
            email("github-actions[bot]", Some(41_898_282), "https://api.github.com"),
            known("41898282+github-actions[bot]@users.noreply.github.com")
        );
        assert_eq!(
            email("our-app[bot]", Some(7), "https://ghes.example:8443/api/v3"),
            known("7+our-app[bot]@users.noreply.ghes.example")
        );
        assert_eq!(
            email("our-app[bot]", Some(7), "https://api.acme.ghe.com"),
            known("7+our-app[bot]@users.noreply.acme.ghe.com")
        );
        assert_eq!(email("alice", Some(7), "https://api.github.com"), None);
        assert_eq!(email("our-app[bot]", None, "https://api.github.com"), None);
    }
}
