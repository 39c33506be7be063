"""Bad files: their bytes, the line and column at fault, and what tells the error from others."""

BAD_TEXTS = {
    "empty": (b"", None, None, "is empty"),
    "header only": (b"a,b\n", None, None, "no rows"),
    "ragged": (b"a,b\n1,2\n3,4,5\n6,7\n", 3, None, "3 cells"),
    "binary": (b"PK\x03\x04\x14\0\x06\0", None, None, "begins like"),
    "wrong encoding": (b"x,name\n1,Anna\n2,M\x81ller\n", 3, None, "byte 4 .* 0x81"),
    "all text": (b"a,b\nred,up\nblue,down\n", None, None, "'red' in line 2.*'up' in line 2"),
    "one constant column": (b"a\n5\n5\n5\n", None, "a", "constant"),
    "nothing but NaN": (b"a,b\nNaN,NA\n,?\n", None, None, "'a': all values are missing; 'b'"),
}
