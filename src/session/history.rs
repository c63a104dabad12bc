//! Views of the events: the context a model is sent, the transcript people read.
