"""Messages of the library that analysts read often, as templates for the catalogue of translations.

They are the texts of errors and notes in English, with ``%(name)s`` for each value; `messages` recognises
them. A test compares them with the code.
"""

from eddi.service.errors import N_

UPLOADS = (
    N_("%(name)s is not in a supported format. Upload one of: %(extensions)s."),
    N_("%(name)s cannot be read as a table. Save it again, for example as CSV."),
    N_(
        "%(name)s cannot be read within %(seconds)s seconds and %(memory)s GB of memory. It may "
        "be damaged. Save it again, with fewer rows or columns, or as CSV."
    ),
    N_("the names and levels of the table are too long. Remove columns with texts, and try again."),
    N_("the table needs too much memory. Upload fewer rows or columns."),
    N_("%(name)s is empty. Expected a line of column names, then rows."),
    N_("%(name)s has column names and no rows. Add at least one row."),
    N_(
        "%(name)s is damaged or not a %(extension)s file: %(reason)s Open it in the program that "
        "wrote it, and save it again."
    ),
    N_(
        "line %(line)s of %(name)s has %(cells)s cells, but the header has %(width)s. Correct "
        "that line; text that contains %(delimiter)s must be in quotes. The header must be the "
        "first line: delete a title above it."
    ),
    N_(
        "%(name)s cannot be read as Excel: %(reason)s. Open it in Excel and save it again, or "
        "save the sheet as CSV."
    ),
    N_(
        "the table has %(n_columns)s columns; at most %(limit)s are read. Remove the columns that"
        " nobody would be asked about."
    ),
    N_(
        "the table has %(n_rows)s rows and %(n_columns)s columns; at most %(limit)s cells are "
        "read. A few thousand rows are enough for training."
    ),
    N_("the table has no columns. Pass a table with at least one column."),
    N_("the table has no rows. A schema is inferred from values: add some rows."),
    N_(
        "the table has one row, so every column is constant and nothing can be learned. Give it "
        "more rows."
    ),
    N_("nothing is left to model. Every column was set aside: %(reasons)s."),
    N_(
        "the schema of %(name)s was changed in the meantime, perhaps in another tab. Reload the "
        "page and try again."
    ),
    N_("there is no table %(key)s. The workshop lists all tables."),
)
COLUMNS = (
    N_("No column is marked as the target of interviews."),
    N_("%(share)s of the cells are missing."),
    N_("Left out: %(reason)s."),
    N_("Check: %(message)s"),
    N_("The table has only %(n_rows)s rows. Expect wide intervals."),
    N_("Holds the same values as %(target)s. Leave it out."),
    N_(
        "Explains %(share)s of %(target)s on its own. If it is only known afterwards, or is "
        "computed from it, leave it out."
    ),
    N_(
        "These classes of %(target)s have fewer than %(number)s rows: %(classes)s. The model can "
        "hardly learn them: collect more rows, or merge them with others."
    ),
    N_(
        "%(repeated)s of %(n_rows)s rows repeat another row exactly. If they are copies, remove "
        "them: held-out rows that were also trained on make a model look better than it is."
    ),
    N_("%(column)s: %(message)s"),
    N_("named like an identifier; %(detail)s"),
    N_("numbers the rows from %(low)s to %(high)s"),
    N_("every value is different"),
    N_("constant: every value is %(value)s"),
    N_("free text: %(number)s different values"),
    N_("dates and times are not modelled"),
    N_(
        "a few whole numbers, read as steps of a scale. If they are codes without an order, use: "
        "%(line)s"
    ),
    N_("whole numbers, read as codes without an order. If they are steps of a scale, use: %(line)s"),
    N_("a few whole numbers, read as steps of a scale. If they are a quantity, use: %(line)s"),
    N_("read as levels without an order. If they have one, list them in ascending order: %(line)s"),
    N_("text in which values recur, read as free text. If the values are levels, use: %(line)s"),
    N_("looks like a number, but some cells are not. Correct them, or read them as missing: %(line)s"),
)
SCHEMAS = (
    N_("%(column)s of %(name)s must be a number, got %(text)s."),
    N_(
        "%(name)s has %(number)s different values, too many to be levels. Choose the kind real or"
        " count, or enter the levels."
    ),
    N_("%(part)s is not a condition. Write, for example: smoker = yes, or years > 3."),
    N_(
        "%(name)s is binary and needs exactly two levels, got %(levels)s. Write the 'no' level "
        "first, or make it category."
    ),
    N_("%(name)s is %(kind)s and needs at least two levels, got %(levels)s."),
    N_("%(name)s has low %(low)s above high %(high)s. Swap them."),
    N_("%(name)s lists a level twice: %(levels)s."),
)
JOBS = (
    N_(
        "%(number)s rows are left for training; at least %(least)s are needed. Hold out fewer "
        "rows, or upload a larger table."
    ),
    N_(
        "there are %(number)s rows to learn from; at least %(least)s are needed. Collect more "
        "interviews, or give a table."
    ),
    N_(
        "The process ended %(number)s times in a row without any progress or error message. It "
        "may have run out of memory. Try fewer rows or columns."
    ),
    N_("Something went wrong on our side. The server's log has the details."),
    N_(
        "the loss became %(loss)s at step %(step)s. Check the table for extreme values, or lower "
        "the learning rate."
    ),
    N_("every cell of the table is missing; there is nothing to learn from."),
    N_("%(names)s has no observed value. Exclude the variable in the schema."),
    N_("there is no target. Choose the variable that interviews predict."),
    N_("steps must be between 1 and %(limit)s, got %(number)s."),
    N_("there is no job %(key)s. The workshop lists all jobs."),
    N_("there is no model %(digest)s. The workshop lists all models."),
    N_("the model belongs to %(names)s, whose interviews need it. Delete that questionnaire first."),
    N_("the name of a model has 1 to %(limit)s characters."),
    N_("no rows were held out for an evaluation. Train the model again with held-out rows."),
    N_("this questionnaire is learning already. Wait until it ends."),
    N_("an item bank has fixed parameters and does not learn from interviews."),
    N_("%(text)s is not a whole number. Leave a field empty to switch it off."),
)
PUBLISHING = (
    N_(
        "%(name)s is not a valid name of a questionnaire. Use up to 80 letters, digits, spaces "
        "and the characters . ( ) - _ and begin with a letter or digit."
    ),
    N_(
        "%(name)s asks about %(earlier)s, and this model is about %(target)s. Confirm that its "
        "address shall lead to another subject, or choose another name."
    ),
    N_("nothing is published as %(name)s. The workshop lists what is published."),
    N_("there is already a questionnaire %(name)s. Choose another name."),
    N_("version %(number)s of %(name)s is current already."),
    N_("others are publishing under this name at the same time. Try again."),
    N_(
        "somebody else changed this questionnaire since the page was loaded. Load it again; your "
        "changes were not saved."
    ),
    N_(
        "%(name)s belongs to %(owner)s. Ask them or an administrator for access, or publish under"
        " another name."
    ),
    N_(
        "%(name)s belongs to %(owner)s. Only they and administrators may delete it or change who "
        "has access."
    ),
    N_(
        "a risk of %(risk)s cannot be guaranteed with %(confidence)s confidence, so this rule "
        "ends no interview: the decisions about %(wrong)s of %(rows)s held-out rows were wrong "
        "even at the highest confidence. The smallest risk that can be guaranteed is "
        "%(smallest)s; more held-out rows (eddi.certify) may lower it."
    ),
    N_("probability_above must be in (0, 1], got %(number)s."),
    N_("risk must be in (0, 1), got %(number)s. A risk of 0 cannot be guaranteed."),
    N_("confidence must be in (0, 1), got %(number)s."),
    N_("%(name)s must be above 0, got %(number)s. It could never be reached."),
    N_("the budget must be above 0, got %(number)s. No question could be asked."),
    N_("the number of invitations must be between 1 and %(limit)s, got %(number)s."),
)
SETTINGS = (
    N_("the colour must be such as #0b6b60, got %(text)s."),
    N_(
        "white text on %(colour)s has a contrast of %(ratio)s to 1, which many people cannot "
        "read. Choose a darker colour, with at least %(least)s to 1."
    ),
    N_("the closing date must be such as 2030-12-31, got %(text)s."),
    N_("the maximum number of respondents must be between 0 and %(limit)s, got %(number)s."),
    N_("%(name)s must be an address such as https://example.org/thanks, got %(text)s."),
    N_("a site is written without a path, such as https://example.org, got %(text)s."),
    N_("%(name)s has %(number)s characters; at most %(limit)s are allowed."),
)
OUTCOMES = (
    N_("the file is not text. %(expected)s"),
    N_("there is no column with the interviews. %(expected)s"),
    N_("there is no column with the values. %(expected)s"),
    N_(
        "Expected a column 'interview' (or 'person') with the names of the exported answers, and "
        "a column 'value' (or 'outcome')."
    ),
    N_("the line has %(cells)s cells, and the header has %(width)s."),
    N_(
        "nobody called %(person)s has answered this questionnaire. The column 'person' of the "
        "exported answers has the names."
    ),
)
TEMPLATES = (*UPLOADS, *COLUMNS, *SCHEMAS, *JOBS, *PUBLISHING, *SETTINGS, *OUTCOMES)
