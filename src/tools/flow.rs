//! Tools that steer the session: ask, complete, new_task, switch_mode, update_todo_list.
