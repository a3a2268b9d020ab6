"""Who is in a clip, what the person shows and says, and how that makes the labels."""
