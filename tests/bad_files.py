"""Bad files as text, and what is said of each, by the library and by the command line."""

BAD_TEXTS = {
    "empty": (b"", "bad.csv is empty. Choose a file with a header and rows."),
    "header only": (
        b"a,b\n",
        "bad.csv has columns ('a', 'b'), but no rows. Add the rows, or choose another file.",
    ),
    "ragged": (
        b"a,b\n1,2\n3,4,5\n6,7\n",
        "bad.csv, line 3: 3 cells, where the first line has 2. Correct the line: cells with a "
        "delimiter in them belong in quotation marks.",
    ),
    "binary": (
        b"PK\x03\x04\x14\0\x06\0",
        "bad.csv is not text: it begins like a zip file, e.g. an Excel workbook. Save the table "
        "as csv.",
    ),
    "wrong encoding": (
        "x,name\n1,Anna\n2,Müller\n".encode("latin-1"),
        "bad.csv, line 3: byte 4 of the line is 0xfc, which is not UTF-8. Save the file with the "
        "encoding UTF-8 (in a spreadsheet: 'CSV UTF-8').",
    ),
    "all text": (
        b"a,b\nred,up\nblue,down\n",
        "bad.csv has no column of numbers to work with ('a': text (first 'red' in line 2); 'b': "
        "text (first 'up' in line 2)). Add columns of numbers, or correct the cells that should "
        "be some.",
    ),
    "one constant column": (
        b"a\n5\n5\n5\n",
        "bad.csv has no column of numbers to work with ('a': constant (always 5)). Add columns of "
        "numbers, or correct the cells that should be some.",
    ),
    "nothing but NaN": (
        b"a,b\nNaN,NA\n,?\n",
        "bad.csv has no column of numbers to work with ('a': all values are missing; 'b': all "
        "values are missing). Add columns of numbers, or correct the cells that should be some.",
    ),
    "duplicate names": (
        b"x,y,x\n1,2,3\n",
        "bad.csv has two columns of the name 'x': column 1 and column 3. Give each column a name "
        "of its own.",
    ),
}
