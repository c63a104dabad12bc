//! Scripted runs of the loop at library level: a real checkout, a real policy, real tools; the model is a script and time stands still.

mod endings;
mod fixture;
mod mistakes;
mod resume;
mod route;
