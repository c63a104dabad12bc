//! Fetches attachments: bounded in bytes and time, every redirect checked like the address itself.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, LOCATION};
use url::Url;

use crate::ForgeError;
use crate::attachments::{self, AttachmentAccess, REDIRECTS_LIMIT};
use crate::github::client::{NAME, RestClient};
use locum_base::image::IMAGE_LIMIT_BYTES;

/// Time for one attachment, redirects included.
const TIME_LIMIT: Duration = Duration::from_secs(15);

impl RestClient {
    /// Fetches an attachment of the forge.
    ///
    /// # Errors
    /// When the address is not one of the forge's own, too large, too slow, or not there.
    pub(super) async fn attachment(&self, address: &str) -> Result<Vec<u8>, ForgeError> {
        let fetched = tokio::time::timeout(TIME_LIMIT, self.fetched(address)).await;
        let late = || format!("it took more than {} seconds", TIME_LIMIT.as_secs());
        fetched.unwrap_or_else(|_| Err(late())).map_err(|message| ForgeError::Failed {
            forge: NAME,
            action: "fetch an attachment".to_owned(),
            message,
        })
    }

    async fn fetched(&self, address: &str) -> Result<Vec<u8>, String> {
        let server = attachments::server_of(self.base_url()).ok_or("the API has no address")?;
        let client = self
            .plain_client()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| error.to_string())?;
        let mut url = Url::parse(address).map_err(|error| error.to_string())?;
        for _ in 0..=REDIRECTS_LIMIT {
            let access = attachments::access(&url, &server)
                .ok_or("its address is not one of the forge's attachments")?;
            let mut request = client.get(url.clone());
            if access == AttachmentAccess::WithToken
                && let Some(token) = self.authorization()?
            {
                request = request.header(AUTHORIZATION, token);
            }
            let mut answer =
                request.send().await.map_err(|error| error.without_url().to_string())?;
            if answer.status().is_redirection() {
                let to = answer.headers().get(LOCATION).and_then(|to| to.to_str().ok());
                let to = to.ok_or("it redirects to nowhere")?;
                url = url.join(to).map_err(|error| error.to_string())?;
                continue;
            }
            if !answer.status().is_success() {
                return Err(format!("the forge answers {}", answer.status().as_u16()));
            }
            let mut bytes = Vec::new();
            while let Some(chunk) =
                answer.chunk().await.map_err(|error| error.without_url().to_string())?
            {
                if bytes.len() + chunk.len() > IMAGE_LIMIT_BYTES {
                    return Err(format!("it has more than {IMAGE_LIMIT_BYTES} bytes"));
                }
                bytes.extend_from_slice(&chunk);
            }
            return Ok(bytes);
        }
        Err(format!("it redirects more than {REDIRECTS_LIMIT} times"))
    }
}
