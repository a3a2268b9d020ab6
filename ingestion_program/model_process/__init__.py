"""The code that runs inside the model process, next to the participant's: as few modules as possible."""
