//! What calls do.

use super::{Result, Useful, Useless, Value};

/// What a builtin function does.
enum Does {
    /// It tells which work-item this is.
    Item,
    /// It tells how many there are.
    Size,
    /// It waits for others.
    Waits,
    /// It changes what its first argument points to.
    Changes,
    /// It writes what comes at this place to where the argument at another points.
    Writes { value: usize, to: usize },
    /// It reads an image or through a pointer.
    Reads,
    /// It writes its last argument to an image.
    Paints,
    /// Few devices have it, or it prints.
    Unsupported,
    /// It computes.
    Computes,
}

fn does(name: &str) -> Does {
    match name {
        "get_global_id"
        | "get_local_id"
        | "get_group_id"
        | "get_global_linear_id"
        | "get_local_linear_id" => Does::Item,
        "get_global_size"
        | "get_local_size"
        | "get_num_groups"
        | "get_work_dim"
        | "get_global_offset"
        | "get_enqueued_local_size" => Does::Size,
        "barrier" | "mem_fence" | "read_mem_fence" | "write_mem_fence" | "work_group_barrier"
        | "wait_group_events" => Does::Waits,
        "async_work_group_copy" | "async_work_group_strided_copy" => {
            Does::Writes { value: 1, to: 0 }
        }
        "printf" | "enqueue_kernel" => Does::Unsupported,
        _ if name.starts_with("atomic_") || name.starts_with("atom_") => Does::Changes,
        _ if name.starts_with("vstore") => Does::Writes { value: 0, to: 2 },
        _ if name.starts_with("vload") || name.starts_with("read_image") => Does::Reads,
        _ if name.starts_with("write_image") => Does::Paints,
        _ if [
            "sub_group_",
            "get_sub_group",
            "get_num_sub",
            "get_max_sub",
            "get_enqueued_num",
            "work_group_",
            "intel_",
        ]
        .iter()
        .any(|begins| name.starts_with(begins)) =>
        {
            Does::Unsupported
        }
        _ => Does::Computes,
    }
}

impl Useful {
    pub(super) fn call(&mut self, name: &str, arguments: &[&[&str]]) -> Result<Value> {
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        let all = values.iter().fold(Value::default(), |all, one| all.with(*one));
        let result = Value { address: false, ..all };
        let pointed = values.iter().any(|value| value.address);
        if self.functions.last().is_some_and(|open| **open == *name) {
            return Err(Useless::Unsupported);
        }
        if self.functions.iter().any(|known| **known == *name) {
            // What it does with an address is not looked at.
            let value = Value { data: true, varies: true, ..result };
            for (argument, _) in arguments.iter().zip(&values).filter(|(_, value)| value.address) {
                self.written_through(argument, value);
            }
            return Ok(Value {
                effect: result.effect || pointed,
                varies: true,
                data: all.data || pointed,
                ..result
            });
        }
        Ok(match does(name) {
            Does::Item => Value {
                item: true,
                varies: true,
                wide: name == "get_global_id",
                ..Value::default()
            },
            Does::Size => {
                Value { varies: true, wide: name == "get_global_size", ..Value::default() }
            }
            Does::Waits => {
                let needed = !name.contains("barrier") || std::mem::take(&mut self.dirty);
                if !needed || self.blocks.iter().any(|open| open.divergent) {
                    return Err(Useless::Barrier);
                }
                Value { effect: true, ..Value::default() }
            }
            Does::Unsupported => return Err(Useless::Unsupported),
            Does::Changes => {
                // Whether they change anything depends on what is there.
                let changes = !name.ends_with("cmpxchg");
                let value = Value { data: changes, varies: true, ..result };
                if let Some(argument) = arguments.first() {
                    self.written_through(argument, value);
                }
                Value { effect: true, ..value }
            }
            Does::Writes { value, to } => {
                let written = values.get(value).copied().unwrap_or_default();
                let written =
                    Value { data: written.data || written.address, varies: true, ..written };
                if let Some(argument) = arguments.get(to) {
                    self.written_through(argument, written);
                }
                Value { effect: true, ..result }
            }
            Does::Reads => Value { data: true, varies: true, ..result },
            Does::Paints => {
                let certain = self.blocks.iter().all(|open| open.certain);
                if let Some(image) = arguments.first().and_then(|argument| self.root(argument))
                    && let Some(image) = self.find(image)
                {
                    image.result |= certain && all.data;
                }
                Value { effect: true, ..result }
            }
            Does::Computes => Value { effect: all.effect || pointed, ..result },
        })
    }
}
