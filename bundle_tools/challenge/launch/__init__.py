"""What a repository cannot know of an event, gone through before it begins; public data described for machines."""
