/*
 * What the runner makes of a file: its bytes, then the entries, "name = value" or "name << value" for the heredoc form,
 * and "! " with the message where it fails. In the expected text a backslash, a bar, and what is not printable ASCII are
 * escaped. Included by grammar_test.c as the inside of a table.
 */

/* nothing and empty lines */
CASE("",
    "")
CASE("\n",
    "")
CASE("\n\n\n",
    "")
CASE("\na=b",
    "a = b")
CASE("a=b\n\n\n",
    "a = b")
CASE("\n\na=b\n\nc=d\n\n",
    "a = b | c = d")

/* name=value: the first = decides, the rest is the value */
CASE("a=b\n",
    "a = b")
CASE("a=b",
    "a = b")
CASE("a=\n",
    "a = ")
CASE("a=",
    "a = ")
CASE("a==\n",
    "a = =")
CASE("a=b=c\n",
    "a = b=c")
CASE("a= b \n",
    "a =  b ")
CASE(" a =b\n",
    " a  = b")
CASE("a b=c d\n",
    "a b = c d")
CASE("\t=\t\n",
    "\\t = \\t")
CASE("a=b<<c\n",
    "a = b<<c")
CASE("a=<<\n",
    "a = <<")
CASE("a==<<E\n",
    "a = =<<E")
CASE("a=\"b\"\n",
    "a = \"b\"")
CASE("a='b'\n",
    "a = 'b'")
CASE("a=b#c\n",
    "a = b#c")
CASE("#a=b\n",
    "#a = b")
CASE("export a=b\n",
    "export a = b")
CASE("a-b=c\n",
    "a-b = c")
CASE("A=1\na=2\n",
    "A = 1 | a = 2")
CASE("a=1\na=2\na=3\n",
    "a = 1 | a = 2 | a = 3")
CASE("a.b/c:d=e\n",
    "a.b/c:d = e")
CASE("x= =\n",
    "x =  =")
CASE("a=b;c=d\n",
    "a = b;c=d")
CASE("a=b&c=d\n",
    "a = b&c=d")
CASE("a=%0A\n",
    "a = %0A")
CASE("a=%250A\n",
    "a = %250A")
CASE("a=b\\\nc=d\n",
    "a = b\\\\ | c = d")
CASE("a=$(id)\n",
    "a = $(id)")
CASE("a=${b}\n",
    "a = ${b}")
CASE("a=::set-output name=x::y\n",
    "a = ::set-output name=x::y")

/* a carriage return is a character like others */
CASE("a=b\r\n",
    "a = b\\r")
CASE("a=b\r",
    "a = b\\r")
CASE("a\r=b\n",
    "a\\r = b")
CASE("\ra=b\n",
    "\\ra = b")
CASE("a=b\rc=d\n",
    "a = b\\rc=d")
CASE("a<<E\r\nx\r\nE\r\n",
    "a << x\\r")
CASE("a<<E\nx\r\nE\n",
    "a << x\\r")
CASE("a<<E\r\nx\nE\r",
    "a << x")
CASE("a<<\r\n\r\n",
    "a << ")

/* other line ends of Unicode end no line */
CASE("a=b\302\205c=d\n",
    "a = b\\xc2\\x85c=d")
CASE("a=b\342\200\250c=d\n",
    "a = b\\xe2\\x80\\xa8c=d")
CASE("a=b\342\200\251c=d\n",
    "a = b\\xe2\\x80\\xa9c=d")
CASE("a=b\013c=d\n",
    "a = b\\x0bc=d")
CASE("a=b\014c=d\n",
    "a = b\\x0cc=d")
CASE("a=b\034c=d\n",
    "a = b\\x1cc=d")
CASE("a=b\035c\036d\n",
    "a = b\\x1dc\\x1ed")

/* a heredoc runs to the line that is its delimiter */
CASE("a<<E\nb\nE\n",
    "a << b")
CASE("a<<E\nb\nE",
    "a << b")
CASE("a<<E\nE\n",
    "a << ")
CASE("a<<E\nE",
    "a << ")
CASE("a<<E\n\nE\n",
    "a << ")
CASE("a<<E\n\n\nE\n",
    "a << \\n")
CASE("a<<E\nb\nc\nE\n",
    "a << b\\nc")
CASE("a<<E\nb\n\nc\n\nE\n",
    "a << b\\n\\nc\\n")
CASE("a<<E\n E\nE \nEE\nE\n",
    "a <<  E\\nE \\nEE")
CASE("a<<E\ne\nE\n",
    "a << e")
CASE("a<<E\nb=c\nE\n",
    "a << b=c")
CASE("a<<E\nb<<F\nE\n",
    "a << b<<F")
CASE("a<<E\nb<<F\nF\nE\n",
    "a << b<<F\\nF")
CASE("a<<E\nx\nE\nb=c\n",
    "a << x | b = c")
CASE("a<<E\nx\nE\nb<<E\ny\nE\n",
    "a << x | b << y")
CASE("a<<E\nx\nE\n\n\nb<<F\ny\nF",
    "a << x | b << y")
CASE("a<<E\n=\nE\n",
    "a << =")
CASE("a<<E\n<<\nE\n",
    "a << <<")
CASE("a<<E\n::stop-commands::x\nE\n",
    "a << ::stop-commands::x")
CASE("a <<E\nx\nE\n",
    "a  << x")
CASE(" a<<E\nx\nE\n",
    " a << x")

/* the delimiter is all the rest of the line */
CASE("a<< E\nE\n E\n",
    "a << E")
CASE("a<<E \nE\nE \n",
    "a << E")
CASE("a<<'E'\nE\n'E'\n",
    "a << E")
CASE("a<<\"E\"\nE\n\"E\"\n",
    "a << E")
CASE("a<<-E\n\tE\n-E\n",
    "a << \\tE")
CASE("a<<E F\nE\nE F\n",
    "a << E")
CASE("a<<E=F\nE\nE=F\n",
    "a << E")
CASE("a<<<<\n<<\n",
    "a << ")
CASE("a<<<E\n<E\n",
    "a << ")
CASE("a<<E<<F\nE\nF\nE<<F\n",
    "a << E\\nF")
CASE("a<<=\n=\n",
    "a << ")
CASE("a<<\t\n\t\n",
    "a << ")
CASE("a<< \n \n",
    "a << ")
CASE("a<<ghadelimiter_12345678-1234-1234-1234-123456789abc\nv\nghadelimiter_12345678-1234-1234-1234-123456789abc\n",
    "a << v")
CASE("a<<\\\n\\\n",
    "a << ")
CASE("a<<#\n#\n",
    "a << ")

/* whichever sign comes first decides */
CASE("a<b=c\n",
    "a<b = c")
CASE("a<=b\n",
    "a< = b")
CASE("a<=<<b\n",
    "a< = <<b")
CASE("a<<b=c\nx\nb=c\n",
    "a << x")
CASE("a=<<b\n",
    "a = <<b")
CASE("a< <b=c\n",
    "a< <b = c")
CASE("<=<\n",
    "< = <")
CASE("<a=<<\n",
    "<a = <<")

/* the last newline of a body is not its value's */
CASE("a<<E\nx\n\nE\n",
    "a << x\\n")
CASE("a<<E\n\nx\nE\n",
    "a << \\nx")
CASE("a<<E\n \nE\n",
    "a <<  ")
CASE("a<<E\n\t\n\t\nE\n",
    "a << \\t\\n\\t")

/* text without a sign */
CASE("a\n",
    "! Invalid format 'a'")
CASE("a",
    "! Invalid format 'a'")
CASE("hello world\n",
    "! Invalid format 'hello world'")
CASE(" \n",
    "! Invalid format ' '")
CASE("\t\n",
    "! Invalid format '\\t'")
CASE("\r\n",
    "! Invalid format '\\r'")
CASE("\r",
    "! Invalid format '\\r'")
CASE("a<b\n",
    "! Invalid format 'a<b'")
CASE("<\n",
    "! Invalid format '<'")
CASE("a=b\nhello\n",
    "a = b | ! Invalid format 'hello'")
CASE("hello\na=b\n",
    "! Invalid format 'hello'")
CASE("a=b\n \nc=d\n",
    "a = b | ! Invalid format ' '")
CASE("a=b\n\r\nc=d\n",
    "a = b | ! Invalid format '\\r'")
CASE("::set-output name::b\n",
    "! Invalid format '::set-output name::b'")
CASE("a<<E\nx\nE\nrest\n",
    "a << x | ! Invalid format 'rest'")
CASE("-\n",
    "! Invalid format '-'")

/* a heredoc whose name or delimiter is empty */
CASE("<<E\nE\n",
    "! Invalid format '<<E'. Name must not be empty and delimiter must not be empty")
CASE("a<<\n",
    "! Invalid format 'a<<'. Name must not be empty and delimiter must not be empty")
CASE("a<<",
    "! Invalid format 'a<<'. Name must not be empty and delimiter must not be empty")
CASE("<<\n",
    "! Invalid format '<<'. Name must not be empty and delimiter must not be empty")
CASE("<<",
    "! Invalid format '<<'. Name must not be empty and delimiter must not be empty")
CASE("<<<<\n",
    "! Invalid format '<<<<'. Name must not be empty and delimiter must not be empty")
CASE("<<=\n",
    "! Invalid format '<<='. Name must not be empty and delimiter must not be empty")
CASE("b=c\na<<\n\n",
    "b = c | ! Invalid format 'a<<'. Name must not be empty and delimiter must not be empty")
CASE("<<E=F\n",
    "! Invalid format '<<E=F'. Name must not be empty and delimiter must not be empty")

/* a heredoc that is not closed */
CASE("a<<E\n",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E\nb\n",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E\nb\nc\n",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E\nE \n",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E\n E\n",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E\nE\r\n",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E\r\nE\n",
    "! Invalid value. Matching delimiter not found 'E\\r'")
CASE("a<<E\ne\n",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("b=c\na<<E\nx\n",
    "b = c | ! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E\nx\nE\nb<<F\nE\n",
    "a << x | ! Invalid value. Matching delimiter not found 'F'")
CASE("a<<E\n\n\n",
    "! Invalid value. Matching delimiter not found 'E'")
CASE("a<<E\nb<<E\n",
    "! Invalid value. Matching delimiter not found 'E'")

/* a body that ends without a newline */
CASE("a<<E\nb",
    "! Invalid value. EOF marker missing new line.")
CASE("a<<E\nb\nc",
    "! Invalid value. EOF marker missing new line.")
CASE("a<<E\nE ",
    "! Invalid value. EOF marker missing new line.")
CASE("a<<E\nb E",
    "! Invalid value. EOF marker missing new line.")
CASE("a<<E\n \tE",
    "! Invalid value. EOF marker missing new line.")
CASE("b=c\na<<E\nx",
    "b = c | ! Invalid value. EOF marker missing new line.")
CASE("a<<E\nx\nE\nb<<F\nE",
    "a << x | ! Invalid value. EOF marker missing new line.")
CASE("a<<E\n\r",
    "! Invalid value. EOF marker missing new line.")
CASE("a<<E\nb=c",
    "! Invalid value. EOF marker missing new line.")

/* NUL and control characters pass */
CASE("a\000b=c\000d\n",
    "a\\x00b = c\\x00d")
CASE("\000=\000\n",
    "\\x00 = \\x00")
CASE("a<<\000\nx\n\000\n",
    "a << x")
CASE("a<<E\n\000\nE\n",
    "a << \\x00")
CASE("a=\033[31m\n",
    "a = \\x1b[31m")
CASE("a=\007\010\n",
    "a = \\x07\\x08")
CASE("a=\177\n",
    "a = \\x7f")
CASE("\001=\002\n",
    "\\x01 = \\x02")
CASE("\000\n",
    "! Invalid format '\\x00'")

/* a byte-order mark of UTF-8 is dropped, once, at the start */
CASE("\357\273\277",
    "")
CASE("\357\273\277\n",
    "")
CASE("\357\273\277a=b\n",
    "a = b")
CASE("\357\273\277\357\273\277a=b\n",
    "\\xef\\xbb\\xbfa = b")
CASE("a=b\n\357\273\277c=d\n",
    "a = b | \\xef\\xbb\\xbfc = d")
CASE("a=\357\273\277\n",
    "a = \\xef\\xbb\\xbf")
CASE("\357\273",
    "! Invalid format '\\xef\\xbf\\xbd'")
CASE("\357\273a=b\n",
    "\\xef\\xbf\\xbda = b")
CASE("\n\357\273\277a=b\n",
    "\\xef\\xbb\\xbfa = b")
CASE("\357\273\277a<<E\n\357\273\277E\nE\n",
    "a << \\xef\\xbb\\xbfE")

/* well-formed UTF-8 passes */
CASE("\303\251=\342\202\254\n",
    "\\xc3\\xa9 = \\xe2\\x82\\xac")
CASE("a=\360\237\230\200\n",
    "a = \\xf0\\x9f\\x98\\x80")
CASE("a<<\303\251\n\303\250\n\303\251\n",
    "a << \\xc3\\xa8")
CASE("a=\302\200\337\277\340\240\200\357\277\277\360\220\200\200\364\217\277\277\n",
    "a = \\xc2\\x80\\xdf\\xbf\\xe0\\xa0\\x80\\xef\\xbf\\xbf\\xf0\\x90\\x80\\x80\\xf4\\x8f\\xbf\\xbf")
CASE("a=\357\277\275\n",
    "a = \\xef\\xbf\\xbd")
CASE("a\342\200\213=b\n",
    "a\\xe2\\x80\\x8b = b")
CASE("a\357\274\235b=c\n",
    "a\\xef\\xbc\\x9db = c")
CASE("a=e\314\201\n",
    "a = e\\xcc\\x81")

/* what is ill-formed becomes U+FFFD, one for each maximal part */
CASE("a=\377\n",
    "a = \\xef\\xbf\\xbd")
CASE("a=\376\377\n",
    "a = \\xef\\xbf\\xbd\\xef\\xbf\\xbd")
CASE("\375=b\n",
    "\\xef\\xbf\\xbd = b")
CASE("a=\200\n",
    "a = \\xef\\xbf\\xbd")
CASE("a=\300\200\n",
    "a = \\xef\\xbf\\xbd\\xef\\xbf\\xbd")
CASE("a=\302\n",
    "a = \\xef\\xbf\\xbd")
CASE("a=\302b\n",
    "a = \\xef\\xbf\\xbdb")
CASE("a=\342\202\n",
    "a = \\xef\\xbf\\xbd")
CASE("a=\342\202b\n",
    "a = \\xef\\xbf\\xbdb")
CASE("a=\355\240\200\n",
    "a = \\xef\\xbf\\xbd\\xef\\xbf\\xbd\\xef\\xbf\\xbd")
CASE("a=\360\237\230\n",
    "a = \\xef\\xbf\\xbd")
CASE("a=\360\237b\n",
    "a = \\xef\\xbf\\xbdb")
CASE("a=\364\220\200\200\n",
    "a = \\xef\\xbf\\xbd\\xef\\xbf\\xbd\\xef\\xbf\\xbd\\xef\\xbf\\xbd")
CASE("a=\365\200\n",
    "a = \\xef\\xbf\\xbd\\xef\\xbf\\xbd")
CASE("a=\342\303\251\n",
    "a = \\xef\\xbf\\xbd\\xc3\\xa9")
CASE("a=\360\200\200\200\n",
    "a = \\xef\\xbf\\xbd\\xef\\xbf\\xbd\\xef\\xbf\\xbd\\xef\\xbf\\xbd")
CASE("a=\342\202",
    "a = \\xef\\xbf\\xbd")
CASE("a=\303",
    "a = \\xef\\xbf\\xbd")

/* and then can be equal to what it was not */
CASE("a<<\377\nx\n\376\n",
    "a << x")
CASE("a<<\377\n\357\277\275\n",
    "a << ")
CASE("a<<E\377\nx\nE\200\nb=c\n",
    "a << x | b = c")
CASE("a<<\377\n\377\377\n\377\n",
    "a << \\xef\\xbf\\xbd\\xef\\xbf\\xbd")

/* what clients write */
CASE("name<<ghadelimiter_1\nvalue\nghadelimiter_1\n",
    "name << value")
CASE("a<<ghadelimiter_1\nvalue\nghadelimiter_1\nb<<ghadelimiter_2\nline 1\nline 2\nghadelimiter_2\n",
    "a << value | b << line 1\\nline 2")
CASE("json={\"a\":[1,2,3]}\n",
    "json = {\"a\":[1,2,3]}")
CASE("summary<<EOF\n# Title\n\n| a | b |\n|---|---|\nEOF\n",
    "summary << # Title\\n\\n\\| a \\| b \\|\\n\\|---\\|---\\|")
CASE("result=pass\nlane-class=credit-stop\n",
    "result = pass | lane-class = credit-stop")
CASE("x<<ghadelimiter_1\nghadelimiter_1\nlane-class<<ghadelimiter_2\ncredit-stop\nghadelimiter_2\n",
    "x <<  | lane-class << credit-stop")
