//! The `git` binary, for what libgit2 cannot do or does slowly: status, fetch and push, always with neutralised configuration.
