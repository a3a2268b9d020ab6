"""Rules about the code of programs and solutions, and the image that runs it. Code is read, never run."""
