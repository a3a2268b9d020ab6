"""Any folder of clips with a table of labels: other targets, other ranges, other words."""
