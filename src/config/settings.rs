//! `Settings`: every setting of a run.
