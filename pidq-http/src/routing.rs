//! Routing: the route table, the router, the OpenAPI document of the routes, and the built-in routes.

pub(crate) mod builtin_routes;
pub(crate) mod openapi;
pub(crate) mod problem_pages;
pub(crate) mod route;
