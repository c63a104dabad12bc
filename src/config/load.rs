//! Layers: built-in, user, repository (trusted ref), environment, flags; each value knows where it came from.
