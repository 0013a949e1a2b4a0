//! A receiver of webhooks that handles each delivery once, however often it is sent: senders repeat a
//! delivery until they are answered. `cargo run -p lately-examples --example webhook`

use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use lately::{Clocked, Lately, Shared, SystemClock};

/// Deliveries of the last day: a few bytes for each, whatever came.
type Deliveries = Shared<Clocked>;

async fn receive(State(seen): State<Deliveries>, Path(id): Path<String>) -> StatusCode {
    if seen.contains(&id) {
        return StatusCode::OK; // Handled before: whoever sends it can stop.
    }
    if handle(&id).is_err() {
        return StatusCode::SERVICE_UNAVAILABLE; // Not remembered: it will be sent again.
    }
    seen.insert(&id);
    StatusCode::CREATED
}

fn handle(id: &str) -> Result<(), ()> {
    if id.is_empty() { Err(()) } else { Ok(()) }
}

fn service() -> Result<Router, lately::Error> {
    let day = Duration::from_secs(24 * 3600);
    let seen = Lately::within(day).error(1e-6).clock(SystemClock).build_shared()?;
    Ok(Router::new().route("/deliveries/{id}", post(receive)).with_state(seen))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
        println!("POST http://{}/deliveries/ID", listener.local_addr()?);
        Ok(axum::serve(listener, service()?).await?)
    })
}

#[test]
fn a_delivery_is_handled_once() {
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let service = service().unwrap();
    let deliver = |id: &str| {
        let request = Request::post(format!("/deliveries/{id}")).body(Body::empty()).unwrap();
        runtime.block_on(service.clone().oneshot(request)).unwrap().status()
    };
    assert_eq!(["a", "b", "a"].map(deliver), [201, 201, 200]);
}
