"""Which model? From a table to models trained for the head, held out, judged and certified."""
