//! `Scripted`: replies from a file instead of a model. Stateless: the task's mode, its first message and the turn choose the reply.
