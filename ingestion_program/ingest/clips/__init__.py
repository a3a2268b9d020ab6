"""The organiser's data: lists of clips, copies, exchanges and faces, all checked."""
