"""Which commands run without a question when plain reads may: everything else asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_cli.permissions.judge import Judge
from tests.permissions.judging import reading_judge, request, rules, shell, verdict

READS = r"""
ls
ls -la src
ls -1 --color=never
cat a.txt src/b.txt
cat -n 'a.txt'
cat "a.txt"
c'a't a.txt
cat < a.txt
head -20 a.txt
head -n5 a.txt
tail -n +3 a.txt
wc -l a.txt
wc -l < a.txt
pwd
echo done
echo 'a; rm b'
echo "a && rm b"
echo '$(rm b)' '`rm b`'
echo a\;b
printf '%s\n' x
git status
git status -s --branch
git --no-pager log --oneline -n 5
git log -5 --stat
git log main..HEAD
git diff
git diff --cached HEAD~1 -- src
git diff --stat
git show HEAD
git branch -a
git branch --show-current
git remote -v
git blame -L 1,5 a.txt
git grep -n x
git ls-files
git rev-parse --abbrev-ref HEAD
grep -rn pattern src
grep -i --include='*.py' x .
grep -E 'a|b' a.txt
rg -n pattern src
rg --files -g '*.py'
find . -name '*.py' -type f
find src -maxdepth 2 -not -name x
sort -u a.txt
sort -t, -k2,2n a.txt
uniq -c a.txt
cut -d: -f1 a.txt
diff -u a.txt src/b.txt
du -sh src
stat a.txt
file a.txt
sha256sum a.txt
tree -L 2
date -u
which python3
python3 --version
ls | head -3
ls; pwd
ls && git status
ls || true
cat a.txt | grep x | sort | uniq -c | wc -l
ls 2>/dev/null
ls > /dev/null 2>&1
ls &>/dev/null
ls 2>&1 | head
ls &
"""
ASKS = r"""
rm a.txt
rm -rf /
mv a b
touch a
mkdir x
sed -i s/a/b/ a.txt
sed -n 1p a.txt
awk 1 a.txt
python3 -c 'print(1)'
python3 x.py
make
npm test
unknown
./ls
/bin/ls
ls /
ls ..
cat /etc/passwd
cat ../x
cat src/../../x
cat ~/x
cat ~root/x
cat $HOME/x
cat "$X"
cat *.txt
cat {a,b}
cat outside
cat outside/x
cat < /etc/passwd
cat < outside
head -n 1 /etc/passwd
grep root /etc/passwd
grep -f /etc/passwd a.txt
grep -R x .
grep --file=/etc/passwd a.txt
rg --pre=cat x
rg --pre ./evil x
rg -L x
find / -name x
find . -delete
find . -exec rm {} ;
find . -exec rm {} \;
find . -execdir rm {} +
find . -ok rm {} \;
find . -fprint x
find -L . -name x
sort -o a.txt a.txt
sort -oa.txt a.txt
sort -ro a.txt
sort --output=a.txt a.txt
sort --compress-program=./evil a.txt
uniq a.txt b.txt
uniq -c a.txt b.txt
tree -o x
wc --files0-from=x
date -s 2020-01-01
date 010100002020
file -C -m x
tail -f a.txt
diff -r . src
git
git push
git commit -m x
git -c core.pager=./evil log
git -C /tmp status
git --git-dir=x status
git --exec-path=x status
git diff --output=x
git diff --output x
git diff --ext-diff
git diff --no-index /etc/passwd a.txt
git log --output=x
git log -p --ext-diff
git grep -O./evil x
git grep --open-files-in-pager=./evil x
git branch new
git branch -d old
git tag v1
git remote add x y
git remote show origin
git checkout .
git stash
git status; rm a.txt
git status && rm a.txt
git status || rm a.txt
git status | sh
git status & rm a.txt
git status |& sh
ls;rm a.txt
ls&&rm a.txt
ls|sh
echo $(rm a.txt)
echo "$(rm a.txt)"
echo `rm a.txt`
echo "`rm a.txt`"
echo $(echo $(rm a.txt))
cat <(rm a.txt)
ls > a.txt
ls >a.txt
ls >> a.txt
ls >| a.txt
ls 2> a.txt
ls &> a.txt
ls >& a.txt
echo x > $F
> a.txt
ls <> a.txt
cat << EOF
cat <<< x
FOO=1 ls
PATH=. ls
FOO=1
LD_PRELOAD=./evil.so ls
sudo ls
env ls
env FOO=1 ls
xargs rm
ls | xargs rm
sh -c ls
bash -c 'ls'
eval ls
exec ls
command ls
nohup ls
time ls
timeout 5 ls
! ls
if true; then rm x; fi
for f in a; do rm $f; done
while true; do ls; done
case x in x) rm a;; esac
(ls)
(rm a.txt)
{ ls; }
f() { rm x; }; f
[ -f a ]
[[ -f a ]]
ls # comment
ls \
ls 'open
ls "open
ls `open
ls $(open
ls )
ls ;; ls
ls ; ; ls
&& ls
ls &&
ls |
echo $((1+1))
echo ${X:-$(rm a)}
echo ${X@P}
echo $'\x72m'
$X
"$X" a
$(echo rm) a
'' a
''
cd ..
cd src
export PATH=.
alias ls=rm
source x
. x
exit
l$X
l?
=ls
"""
LINES = [(line, "allow") for line in READS.split("\n")[1:-1]] + [
    (line, "ask") for line in ASKS.split("\n")[1:-1]
]
MORE = [
    ("ls\nrm a.txt", "ask"),
    ("ls\nls", "allow"),
    ("ls\n\n", "allow"),
    ("ls\r\nrm a.txt", "ask"),
    ("ls\u2028rm a.txt", "ask"),
    ("ls\u00a0a", "ask"),
    ("ls \x1b[2J", "ask"),
    ("ls\\\n -la", "ask"),
    ("cat << 'EOF'\nx\nEOF", "ask"),
    ("echo 'a\nrm b'", "allow"),
    ("", "ask"),
    ("   ", "ask"),
    ("\t ls", "allow"),
    ("echo " + "$(" * 50 + "ls" + ")" * 50, "ask"),
    ("$(" * 5_000, "ask"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "src").mkdir()
    (folder / "outside").symlink_to("/etc")
    return folder


def test_the_table_is_long_enough_to_mean_something() -> None:
    assert len(READS.splitlines()) > 50
    assert len(ASKS.splitlines()) > 120


@pytest.mark.parametrize(("command", "expected"), LINES + MORE)
def test_a_command_is_judged_as_expected(folder: Path, command: str, expected: str) -> None:
    assert verdict(reading_judge(folder), shell(command)) == expected


@pytest.mark.parametrize(("command", "expected"), LINES[::7] + MORE)
def test_in_the_mode_for_reading_what_is_no_read_is_refused(
    folder: Path, command: str, expected: str
) -> None:
    refused = "deny" if expected == "ask" else expected
    assert verdict(Judge(folder=folder), shell(command), "reads") == refused


def test_without_the_rule_a_plain_read_asks_too(folder: Path) -> None:
    assert verdict(Judge(folder=folder), shell("ls")) == "ask"


def test_only_the_shell_of_this_program_runs_plain_reads(folder: Path) -> None:
    assert verdict(reading_judge(folder), request("deploy", command="ls")) == "ask"
    assert verdict(Judge(folder=folder), request("deploy", command="ls"), "reads") == "deny"


def test_a_plain_read_that_a_rule_asks_about_asks(folder: Path) -> None:
    asking = Judge(rules(ask=["run_shell(cat *)"], reads=True), folder)
    assert verdict(asking, shell("cat a.txt")) == "ask"
    assert verdict(asking, shell("cat a.txt"), "reads") == "ask"
    assert verdict(asking, shell("ls")) == "allow"


@pytest.mark.parametrize(
    ("mode", "effect", "required", "expected"),
    [
        ("ask", "read", False, "allow"),
        ("ask", "read", True, "ask"),
        ("ask", "write", False, "allow"),
        ("reads", "read", False, "allow"),
        ("reads", "read", True, "allow"),
        ("reads", "write", True, "deny"),
        ("reads", "external", True, "deny"),
        ("all", "write", True, "allow"),
    ],
)
def test_what_no_rule_is_about_follows_the_mode(
    mode: str, effect: str, required: bool, expected: str
) -> None:
    wanted = request("some_tool", effect=effect, required=required)
    assert verdict(Judge(), wanted, mode) == expected  # type: ignore[arg-type]
