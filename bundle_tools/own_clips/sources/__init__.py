"""Sources of labelled clips: a folder and a table, or First Impressions V2, with evidence marked by people."""
