"""The commands of `bundle`: each module adds its options to the parser and implements its command."""
