//! The outcome for programs.
