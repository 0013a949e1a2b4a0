//! What services do with lately; see the programs beside this file.
