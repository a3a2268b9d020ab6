"""What any bundle needs to become a zip."""
