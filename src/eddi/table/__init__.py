"""Tables: variables, questions, schemas, evidence, coding, and file formats."""
