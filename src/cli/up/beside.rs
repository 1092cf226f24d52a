//! The graph query service of this process, for questions to documents.

use pidq_http::{Bytes, Fut, Line};
use pidq_pipeline::graphs::{Answer, GraphService, Silence};
use pidq_server::Server;

/// It goes through its own door, so that whoever asks sees what they may see there.
pub struct Beside(pub Line<Server>);

impl GraphService for Beside {
    fn call(&self, request: hyper::Request<Bytes>, largest: usize) -> Fut<'_, Result<Answer, Silence>> {
        Box::pin(async move {
            let site = self.0.site().ok_or(Silence::Unreachable)?;
            Answer::of(site.call(request).await, largest).await
        })
    }
}
