//! Background tasks: maintenance, refresh of partitions, outages of embedding models, gauges.

pub mod embedding_outage;
pub mod gauges;
pub mod maintenance;
pub mod partition_refresh;
