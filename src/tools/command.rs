//! `execute_command`.
