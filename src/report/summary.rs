//! The outcome for a terminal and for the job summary.
