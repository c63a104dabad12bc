//! Tasks and the calls they wait for.
