package policy

import (
	"slices"
	"strings"

	"signalbox/internal/lazy"
)

// replacesPython reports whether a new file in the project's folder is imported instead of a module of Python itself or of pytest, by
// "python -m" and by a script there. As source, as byte code, as a library or as a package; it can end the tests before the first one. It counts whatever
// the lines are: many programs start Python.
func replacesPython(file string) bool {
	first, rest, inFolder := strings.Cut(file, "/")
	name, _, isModule := strings.Cut(first, ".")
	return (isModule && !inFolder && importable().MatchString(first) || !isModule && strings.HasPrefix(rest, "__init__.")) && slices.Contains(strings.Fields(pythonModules), name)
}

// importable matches the names of files that Python imports.
var importable = lazy.Pattern(`\.(?:pyc?|so|pyd)$`)

// pythonModules are sys.stdlib_module_names of Python 3 without private names and "test", and what pytest is made of.
const pythonModules = `
	abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath
	cmd code codecs codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses
	datetime dbm decimal difflib dis doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools
	gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools
	json keyword linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt
	ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix
	posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy
	sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants
	sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios
	textwrap threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib uu uuid
	venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo exceptiongroup iniconfig
	packaging pluggy pygments pytest tomli _pytest
`
