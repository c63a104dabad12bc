//! Notices a model that repeats itself.
