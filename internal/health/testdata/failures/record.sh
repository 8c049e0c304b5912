#!/bin/sh
# Records what programs print when something fails, into this folder: NAME.first, NAME.again (the same wrong, in
# another folder, at another time and port, on another line), and NAME.other (another thing wrong).
# Wants go, python3, node, npm, javac, gcc, make and curl.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOPROXY=off GOFLAGS='-mod=mod -buildvcs=false' LC_ALL=C NO_UPDATE_NOTIFIER=1

# record NAME VARIANT FUNCTION ARGUMENT...: runs the function in a folder of its own.
record() {
	file=$here/$1.$2
	dir=$(mktemp -d "$work/$1.XXXXXX")
	shift 2
	[ "${file##*.}" != again ] || dir=$dir/home/ada/shop
	mkdir -p "$dir"
	(cd "$dir" && "$@") >"$file" 2>&1
}

# blank N prints N empty lines, which move what follows.
blank() { awk -v n="$1" 'BEGIN { while (n-- > 0) print "" }'; }

compiler() { # LINES NAME
	go mod init shop >/dev/null 2>&1
	{ echo 'package main'; blank "$1"; echo "func main() { println($2) }"; } >main.go
	go build ./...
}
gotest() { # TEST
	go mod init shop >/dev/null 2>&1
	printf 'package shop\nimport "testing"\nfunc %s(t *testing.T) { t.Fatalf("total of %%s = 3, want 4", t.TempDir()) }\n' "$1" >shop_test.go
	go test ./...
}
gopanic() { # GOROUTINES STATEMENT
	go mod init shop >/dev/null 2>&1
	printf 'package main\nfunc main() {\n\tfor range %s {\n\t\tdone := make(chan bool)\n\t\tgo func() { done <- true }()\n\t\t<-done\n\t}\n\tgo func() { %s }()\n\tselect {}\n}\n' "$1" "$2" >main.go
	go run .
}
gomodule() { # LINES PATH
	go mod init shop >/dev/null 2>&1
	{ echo 'package main'; blank "$1"; printf 'import _ "%s"\nfunc main() {}\n' "$2"; } >main.go
	go build -mod=readonly ./...
}
pythontest() { # LINES TEST
	{ echo 'import unittest, os'; blank "$1"; printf 'class T(unittest.TestCase):\n    def %s(self):\n        self.assertEqual(12.5, 13.0, f"price of order {os.getpid() + 10000}")\nunittest.main()\n' "$2"; } >test_shop.py
	python3 test_shop.py
}
pythonmodule() { # LINES NAME
	{ blank "$1"; echo "import $2"; } >shop.py
	python3 shop.py
}
nodemodule() { # LINES NAME
	{ blank "$1"; echo "require('$2')"; } >shop.js
	node shop.js
}
npmscript() { # NAME
	echo '{"name": "shop", "version": "1.0.0"}' >package.json
	HOME=$PWD npm run "$1"
}
java() { # LINES NAME
	{ blank "$1"; echo "class Shop { int total() { return $2; } }"; } >Shop.java
	javac "$PWD/Shop.java"
}
ccode() { # LINES NAME
	{ blank "$1"; echo "int main(void) { return $2; }"; } >shop.c
	printf 'shop: shop.c\n\tgcc -c -o shop %s/shop.c\n' "$PWD" >Makefile
	make shop
}
refused() { curl -sS "$1"; } # URL
fulldisk() { # FILE BLOCKS
	dd if=/dev/zero of="$1" bs=4096 count="$2"
}
server() { # PATH STATEMENT: an answer of a service, and what it logged
	go mod init shop >/dev/null 2>&1
	printf 'package main\nimport ("net"; "net/http"; "os"; "strconv")\nfunc main() {\n\tl, _ := net.Listen("tcp", "127.0.0.1:0")\n\t_ = os.WriteFile("port", []byte(strconv.Itoa(l.Addr().(*net.TCPAddr).Port)), 0o600)\n\thttp.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { %s })\n\t_ = http.Serve(l, nil)\n}\n' "$2" >main.go
	go build -o shop . || return
	./shop &
	timeout 10 sh -c 'until [ -s port ]; do sleep 0.1; done'
	curl -sS --fail "http://127.0.0.1:$(cat port)$1"
	kill $!
}

record compiler first compiler 1 total
record compiler again compiler 6 total
record compiler other compiler 1 price
record go-test first gotest TestTotal
record go-test again gotest TestTotal
record go-test other gotest TestPrice
record go-panic first gopanic 3 'var s []int; println(s[5])'
record go-panic again gopanic 900 'var s []int; println(s[5])'
record go-panic other gopanic 3 'var p *int; println(*p)'
record go-module first gomodule 1 example.com/missing/thing
record go-module again gomodule 9 example.com/missing/thing
record go-module other gomodule 1 example.com/other/thing
record python-test first pythontest 1 test_price
record python-test again pythontest 5 test_price
record python-test other pythontest 1 test_stock
record python-module first pythonmodule 1 shopkeeper
record python-module again pythonmodule 7 shopkeeper
record python-module other pythonmodule 1 bookkeeper
record node-module first nodemodule 1 express
record node-module again nodemodule 7 express
record node-module other nodemodule 1 lodash
record npm-script first npmscript check
record npm-script again npmscript check
record npm-script other npmscript build
record java first java 1 total
record java again java 8 total
record java other java 1 price
record make first ccode 1 total
record make again ccode 8 total
record make other ccode 1 price
record refused first refused http://127.0.0.1:18123/
record refused again refused http://127.0.0.1:52011/
record refused other refused http://database.invalid:18123/
record disk first fulldisk /dev/full 3
record disk again fulldisk /dev/full 300
record disk other fulldisk /proc/shop 3
record service first server /orders/7 'var m map[string]int; m["a"] = 1'
record service again server /orders/7 'var m map[string]int; m["a"] = 1'
record service other server /orders/7 'var s []int; s[3] = 1'
