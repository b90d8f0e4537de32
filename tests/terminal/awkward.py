"""Markdown documents that are easy to tear apart in the wrong place."""

from __future__ import annotations

AWKWARD: dict[str, str] = {
    "setext headings": "Title\n=====\n\npara one\ngoes on\n---\nafter\n***\nend\n",
    "nested ordered lists": "1. a\n   1. b\n   2. c\n\n      more c\n2. d\n   - e\n\n3. f\n",
    "numbers joined by nothing": "1. a\n2. b\n\n\n3. c\n10. d\n",
    "a list that begins elsewhere": "Take step 7:\n\n7. seven\n8. eight\n\nand on\n\n1986\\. A year\n",
    "loose and tight items": "- a\n- b\n\n  second of b\n- c\n\n\n- d\nlazy d\n\n* other\n+ third\n",
    "list against paragraph": "Intro:\n- one\n- two\nlazy two\n\nOutro\n1. x\n2. y\n",
    "an ordered list cannot break a paragraph": "see\n14. not a list\n1. a list\n2. of two\n",
    "fence against paragraph": "Code:\n```python\ndef f():\n    return 1\n\n\n# end\n```\nafter\n",
    "fences in fences": "````md\n```py\nx\n```\n````\n\n~~~\n```\n~~~\n~~~~ \ntext\n~~~\n~~~~\n",
    "a fence in a list": "- a\n\n  ```sh\n  ls\n\n  cd\n  ```\n- b\n\n1. n\n   ~~~\n   x\n   ~~~\n2. m\n",
    "an open fence": "text\n\n```js\nlet a = `b`;\n/* never\nclosed",
    "indented fence": "  ```\n    four\n  two\n one\n  ```\n   ~~~\n   x\n ~~~\n",
    "a docstring over lines": '```python\ndef f():\n    """Doc\n\n    for while\n    """\n    return\n```\n',
    "indented code": "para\n\n    code\n\n    more code\n\nend\n    lazy, not code\n",
    "quotes": "> one\ntwo lazy\n> - list\n> - in it\n\n> new quote\n>\n> > deeper\n\nend\n",
    "tables": "before\n\n|a|b|\n|:--|--:|\n|1|`x|y`|\n|世界|**bold**|\nafter\n\nx | y\n--|--\n1 | 2\n",
    "no table": "a | b\n\n| a | b |\n| 1 | 2 |\n\n|--|--|\n\nx | y\n---\n",
    "html": "<div>\n\n**bold** <b>x</b>\n\n</div>\n<!-- a\n\ncomment -->\nend\n",
    "references": "[a]: http://one.example\n\n[x][a] and [y][b]\n\n[b]: http://two.example 'title'\n",
    "links": "[t](http://e.example/(b)) <http://auto.x> ![i](p.png 'T') [`c`](u) [**b**](v)\n[x](\nnext)\n",
    "emphasis over lines": "**bold\nstill** *a **b** c* ***both*** ~~gone\naway~~ `code\nover` ``a`b``\n",
    "line breaks": "one  \ntwo\\\nthree   \n\n  indented\nend\n\n\n\n\nfar\n",
    "wide text": "世界" * 40
    + "\n\n"
    + "👨‍👩‍👧‍👦🇩🇪" * 12
    + "\n\n"
    + "x" * 200
    + "\n\ne\u0301"
    + "word " * 40
    + "\n",
    "rules and markers": "* * *\n- - -\n-\n- a\n-\n\n+\n\n  x\n#\n# \n#no\n####### seven\n## two ##\n",
    "windows line ends": "# T\r\n\r\npara\r\nmore\r\n\r\n- a\r\n- b\r\n\r\n```\r\ncode\r\n```\r\n",
    "nothing at all": "\n\n \n\t\n",
    "no line end": "just one line",
    "very deep": "> " * 60
    + "deep\n\n"
    + "- " * 40
    + "x\n\n"
    + "".join("  " * n + f"- {n}\n" for n in range(30)),
}
