"""Where labelled clips come from: a folder and a table, First Impressions V2; and what people pointed at in those."""
