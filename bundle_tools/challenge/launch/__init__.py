"""Facts about the event that only organisers know, checked before it begins; metadata of the public data."""
