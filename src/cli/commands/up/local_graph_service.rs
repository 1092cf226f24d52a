//! In-process client of the graph service, for questions about documents.

use pidq_http::{Bytes, Fut, WeakService};
use pidq_pipeline::generation::graph_client::{GraphCallError, GraphResponse, GraphService};
use pidq_server::Server;

/// Graph service of this process. Requests pass its authentication, so callers see only their own graphs.
pub struct LocalGraphService(pub WeakService<Server>);

impl GraphService for LocalGraphService {
    fn call(&self, request: hyper::Request<Bytes>, max_size: usize) -> Fut<'_, Result<GraphResponse, GraphCallError>> {
        Box::pin(async move {
            let service = self.0.upgrade().ok_or(GraphCallError::Unreachable)?;
            GraphResponse::from_response(service.call(request).await, max_size).await
        })
    }
}
