"""Commands that only look. Each with the options known to be harmless: any other option is not a read.

A line below is a program (with its subcommand), ``<N`` for at most N further words that are no options,
the letters of its short options, and its long options. No program is here that runs what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent_cli.permissions.shell_parts import Part

Inside = Callable[[str], bool]
"""Whether a path stays inside of the working folder."""

_DIFF = (
    "--stat --numstat --shortstat --summary --name-only --name-status --patch --unified --word-diff "
    "--color --no-color --no-ext-diff --no-textconv --ignore-all-space --ignore-space-change --check "
    "--no-patch --diff-filter --find-renames"
)
_LOG = (
    f"-pnsuUwbMCGSi --oneline --graph --all --decorate --author --since --until --after --before --grep "
    f"--format --pretty --date --max-count --reverse --follow --merges --no-merges --first-parent "
    f"--abbrev-commit --branches --tags {_DIFF}"
)
_GREP = (
    "-rinHhcloLwxvEFGPABCemqsabyZT --recursive --ignore-case --line-number --count --files-with-matches "
    "--files-without-match --word-regexp --line-regexp --invert-match --extended-regexp --fixed-strings "
    "--perl-regexp --include --exclude --exclude-dir --color --max-count --context --after-context "
    "--before-context --only-matching --no-filename --with-filename --regexp --quiet --text"
)
_SUM = "-bt --binary --text"
_TABLE = {
    "ls": (
        "-aAlhrtRS1Fdinospgk --all --almost-all --human-readable --recursive --reverse --color --size "
        "--sort --time --full-time --group-directories-first --directory"
    ),
    "tree": "-adfLshipugDIPC --noreport --gitignore --dirsfirst",
    "pwd": "-LP",
    "cat": "-nbsAETvetu --number --number-nonblank --show-all",
    "tac": "",
    "rev": "",
    "nl": "-bnwsv",
    "head": "-ncqv --lines --bytes --quiet --verbose",
    "tail": "-ncqv --lines --bytes --quiet --verbose",
    "wc": "-lwcmL --lines --words --bytes --chars --max-line-length",
    "stat": "-ctf --format --printf --terse",
    "file": "-bi --brief --mime --mime-type",
    "du": "-shacdkmbx --summarize --human-readable --max-depth --total --apparent-size",
    "basename": "-as",
    "dirname": "",
    "readlink": "-fem",
    "echo": "-neE",
    "printf": "",
    "true": "",
    "false": "",
    "date": "<0 -u --utc",
    "uname": "<0 -asnrvmpio --all",
    "whoami": "<0",
    "id": "<0 -ugnGr",
    "which": "-a",
    "type": "-at",
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "rg": (
        "-inNHIlcowvSsFPUABCegtTujpxmqM --files --hidden --glob --iglob --type --type-not --type-list "
        "--ignore-case --line-number --no-heading --heading --with-filename --no-filename --count "
        "--files-with-matches --files-without-match --context --after-context --before-context "
        "--max-count --max-columns --max-depth --fixed-strings --word-regexp --smart-case --no-ignore "
        "--only-matching --color --sort --stats --json --multiline --regexp"
    ),
    "find": (
        "-name -iname -path -ipath -type -maxdepth -mindepth -size -mtime -mmin -newer -empty -not -a -o "
        "-and -or -print -print0 -prune -ls -perm -user -regex -iregex -readable -writable -executable -xdev"
    ),
    "sort": (
        "-bdfghinrRsuVkt --reverse --numeric-sort --unique --key --field-separator --human-numeric-sort "
        "--version-sort --ignore-case --stable"
    ),
    "uniq": "<1 -cdiuDfsw --count --repeated --unique --ignore-case",
    "cut": "-dfcbs --delimiter --fields --characters --complement --only-delimited --output-delimiter",
    "tr": "-cdst",
    "comm": "-123",
    "cmp": "-sl",
    "diff": (
        "-uUqbBwiyWNsc --unified --brief --side-by-side --ignore-all-space --ignore-space-change --color "
        "--label"
    ),
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "git --version": "<0",
    "git status": "-sbuv --short --branch --porcelain --untracked-files --ignored --long --show-stash",
    "git diff": f"-puUwbMCsR --cached --staged --merge-base {_DIFF}",
    "git log": _LOG,
    "git show": _LOG,
    "git shortlog": "-sne --summary --numbered --email",
    "git blame": "-Lwesfl",
    "git grep": _GREP,
    "git ls-files": "-comdsz --others --cached --modified --deleted --exclude-standard --stage",
    "git rev-parse": "--abbrev-ref --show-toplevel --short --verify --is-inside-work-tree --git-dir",
    "git describe": "--tags --always --dirty --long --abbrev",
    "git branch": "<0 -avr --all --remotes --list --show-current --verbose",
    "git tag": "<0 -ln --list",
    "git remote": "<0 -v --verbose",
}


@dataclass(frozen=True, slots=True)
class _Harmless:
    """The options of one command. ``most``: so many words that are no options."""

    letters: frozenset[str]
    options: frozenset[str]
    most: int | None

    @classmethod
    def read(cls, line: str) -> _Harmless:
        words = line.split()
        most = next((int(word[1:]) for word in words if word.startswith("<")), None)
        options = frozenset(word for word in words if word.startswith("--"))
        single = [word for word in words if word.startswith("-") and word not in options]
        if len(single) > 1:  # find spells its long options with one dash
            return cls(frozenset(), options | set(single), most)
        return cls(frozenset("".join(single).removeprefix("-")), options, most)

    def covers(self, option: str) -> bool:
        name = option.partition("=")[0]
        if name in self.options:
            return True
        if option.startswith("--"):
            return False
        # What is no letter is never an option of these programs: -20, -k2,2, -d:
        return all(letter in self.letters or not letter.isalpha() for letter in option[1:])


_READS = {command: _Harmless.read(line) for command, line in _TABLE.items()}


def is_plain_read(part: Part, inside: Inside) -> bool:
    """Whether a simple command only looks, and only at what lies inside. Every word that is no option
    counts as a path, whether it is one or not."""
    words = [word.text for word in part.words]
    if not words or part.writes or part.assigns or not all(word.sure for word in (*part.words, *part.inputs)):
        return False
    if words[:2] == ["git", "--no-pager"]:
        del words[1]
    known = 2 if words[0] == "git" else 1
    harmless = _READS.get(" ".join(words[:known])) if all(words[:known]) else None
    return (
        harmless is not None
        and _are_harmless(words[known:], harmless, inside)
        and all(inside(word.text) for word in part.inputs)
    )


def _are_harmless(words: Iterable[str], harmless: _Harmless, inside: Inside) -> bool:
    plain, options_over = 0, False
    for word in words:
        if word == "--" and not options_over:
            options_over = True
        elif word.startswith("-") and word != "-" and not options_over:
            value = word.partition("=")[2]
            if not harmless.covers(word) or not inside(value or "."):
                return False
        else:
            plain += 1
            if not inside(word or "."):
                return False
    return harmless.most is None or plain <= harmless.most
