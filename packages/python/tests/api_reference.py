"""Prints the pages of the API reference, as JSON: their paths, titles, texts and numbers of names.

The documentation site runs this script when it is built. It parses the sources and imports nothing, so any Python can run it:
``python3 tests/api_reference.py``.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from public_api import TOP, Module, get_defined_name

_WIDTH = 100
_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Example):\n((?:[ ]{4}.*\n|\n)+)", re.MULTILINE)
_ITEM = re.compile(r"^(\w+): ((?:.*)(?:\n +.*)*)", re.MULTILINE)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

PACKAGES = {"python": "keyrail", "python-testing": "keyrail.testing"}
"""The pages, and the packages that they are about."""


@dataclass
class Exported:
    """A name that a package exports: its definition, and the module of that."""

    name: str
    module: Module
    statement: ast.stmt


@dataclass
class Doc:
    """A docstring: its text, and the text of each section."""

    text: str = ""
    sections: Mapping[str, str] = field(default_factory=dict)


_modules: dict[str, Module] = {}


def get_title(package: str) -> str:
    """Return the title of the page of a package. An npm package is named keyrail too."""
    return f"{package} (Python)"


def get_exports(package: str) -> list[Exported]:
    """Return what a package exports, sorted by name."""
    folder = TOP.joinpath(*package.split(".")[1:])
    entry = _get_module(folder / "__init__.py")
    exports = entry.defined["__all__"]
    assert isinstance(exports, ast.Assign)
    found = [_find(entry, name) for name in ast.literal_eval(exports.value)]
    # A function is before the class whose name differs only in case.
    return sorted(found, key=lambda one: (one.name.lower(), one.name[:1].isupper()))


def _get_module(path: object) -> Module:
    return _modules.setdefault(str(path), Module(TOP.joinpath(str(path))))


def _find(module: Module, name: str) -> Exported:
    while name in module.imported:
        path, name = module.imported[name]
        module = _get_module(path)
    return Exported(name, module, module.defined[name])


def get_headings(exports: Sequence[Exported]) -> dict[str, str]:
    """Return the heading of each name. Headings differ by more than case, because links do not have it."""
    headings: dict[str, str] = {}
    for one in exports:
        taken = one.name.lower() in map(str.lower, headings.values())
        headings[one.name] = f"{one.name} (class)" if taken else one.name
    return headings


def parse_doc(docstring: str | None) -> Doc:
    """Split a docstring into its text and its sections."""
    cleaned = inspect.cleandoc(docstring or "") + "\n"
    sections = {found[1]: inspect.cleandoc(found[2]) for found in _SECTION.finditer(cleaned)}
    return Doc(_SECTION.sub("", cleaned).strip(), sections)


class Page:
    """Writes the page of a package."""

    def __init__(self, path: str, package: str, links: Mapping[str, str]) -> None:
        self._path = path
        self._package = package
        self._links = links

    def write(self, exports: Sequence[Exported]) -> str:
        """Return the page as Markdown."""
        headings = get_headings(exports)
        title = f"# {get_title(self._package)}"
        about = f"Every public name of the Python package `{self._package}`. For tasks, see [the guide](/python.md)."
        parts = [part for one in exports for part in (f"## {headings[one.name]}", *self._write_export(one))]
        return "\n\n".join([title, about, *parts]) + "\n"

    def _write_export(self, one: Exported) -> Iterator[str]:
        statement = one.statement
        if isinstance(statement, ast.ClassDef):
            yield from self._write_class(one, statement)
        elif isinstance(statement, _FUNCTIONS):
            yield from self._write_function(statement)
        else:
            body = ast.parse(one.module.path.read_text("utf-8")).body
            at = next(at for at, each in enumerate(body) if get_defined_name(each) == one.name)
            yield from self._write_doc(parse_doc(_get_attribute_doc(body, at)), _fence(ast.unparse(statement)))

    def _write_class(self, one: Exported, statement: ast.ClassDef) -> Iterator[str]:
        classes = [*_get_own_bases(one.module, statement), statement]
        bases = [ast.unparse(base) for base in statement.bases if not ast.unparse(base).startswith("_")]
        head = f"class {statement.name}({', '.join(bases)})" if bases else f"class {statement.name}"
        fields: dict[str, str] = {}
        described: dict[str, str] = {}
        for each in classes:
            for at, member in enumerate(each.body):
                name = get_defined_name(member)
                if isinstance(member, ast.AnnAssign) and name and not name.startswith("_"):
                    fields[name] = f"{name}: {ast.unparse(member.annotation)}"
                    fields[name] += f" = {ast.unparse(member.value)}" if member.value else ""
                    described[name] = _get_attribute_doc(each.body, at)
        methods = {
            member.name: member
            for each in classes
            for member in each.body
            if isinstance(member, _FUNCTIONS) and (member.name == "__init__" or not member.name.startswith("_"))
        }
        constructor = methods.pop("__init__", None)
        doc = parse_doc(ast.get_docstring(statement))
        lines = [head, *(f"    {text}" for text in fields.values())]
        if constructor is not None and "Args" in doc.sections:
            lines = [_get_signature(statement.name, constructor, is_method=True)]
        yield from self._write_doc(doc, _fence("\n".join(lines)))
        items = [f"- `{name}`: {self._text(text)}" for name, text in described.items() if text]
        if items and "Attributes" not in doc.sections:
            yield "\n".join(items)
        for name, method in methods.items():
            yield f"### {statement.name}.{name}"
            yield from self._write_function(method, is_method=True)

    def _write_function(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, *, is_method: bool = False
    ) -> Iterator[str]:
        decorators = [ast.unparse(one) for one in function.decorator_list]
        if "property" in decorators:
            signature = f"{function.name}: {ast.unparse(function.returns) if function.returns else 'Any'}"
        else:
            signature = "async " * isinstance(function, ast.AsyncFunctionDef) + "def "
            signature += _get_signature(function.name, function, is_method=is_method)
        yield from self._write_doc(parse_doc(ast.get_docstring(function)), _fence(signature))

    def _write_doc(self, doc: Doc, code: str) -> Iterator[str]:
        if doc.text:
            yield self._text(doc.text)
        yield code
        for name in ("Args", "Attributes"):
            items = _ITEM.findall(doc.sections.get(name, ""))
            if items:
                yield "\n".join(f"- `{item}`: {self._line(text)}" for item, text in items)
        if "Returns" in doc.sections:
            yield f"**Returns** {self._line(doc.sections['Returns'])}"
        for error, text in _ITEM.findall(doc.sections.get("Raises", "")):
            yield f"**Raises** {self._text(f'``{error}``')}: {self._line(text)}"
        if "Example" in doc.sections:
            yield _fence(_strip_prompts(doc.sections["Example"]))

    def _line(self, text: str) -> str:
        return self._text(re.sub(r"\s*\n\s*", " ", text))

    def _text(self, text: str) -> str:
        text = re.sub(r"(?i)\bkind ``(\w+)``", lambda kind: f"kind [`{kind[1]}`](/failures.md#{kind[1].lower()})", text)
        text = text.replace("``", "`")
        # The star of debug_* would start italics that end at the next star.
        text = re.sub(r"(?<![`\w])(\w+_\*)(?!`)", r"`\1`", text)
        return re.sub(r"(?<!\[)`(\w+)`", self._link, text)

    def _link(self, name: re.Match[str]) -> str:
        target = self._links.get(name[1])
        return name[0] if target is None else f"[{name[0]}]({target.removeprefix(f'/api/{self._path}.md')})"


def _get_own_bases(module: Module, statement: ast.ClassDef) -> list[ast.ClassDef]:
    """Return the base classes of this package, first the most general one."""
    found: list[ast.ClassDef] = []
    for base in statement.bases:
        if isinstance(base, ast.Name) and (base.id in module.imported or base.id in module.defined):
            one = _find(module, base.id)
            if isinstance(one.statement, ast.ClassDef):
                found += [*_get_own_bases(one.module, one.statement), one.statement]
    return found


def _get_attribute_doc(body: Sequence[ast.stmt], at: int) -> str:
    """Return the string below an assignment."""
    below = body[at + 1] if at + 1 < len(body) else None
    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
        return inspect.cleandoc(below.value.value)
    return ""


def _get_signature(name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, *, is_method: bool) -> str:
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    shown = [_get_parameter(one, default) for one, default in zip(plain, defaults, strict=True)][int(is_method) :]
    if given.vararg:
        shown.append(f"*{_get_parameter(given.vararg, None)}")
    elif given.kwonlyargs:
        shown.append("*")
    shown += [_get_parameter(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    # Only an error takes the others.
    if given.kwarg and ast.unparse(given.kwarg.annotation or ast.Constant(None)) != "Never":
        shown.append(f"**{_get_parameter(given.kwarg, None)}")
    returns = f" -> {ast.unparse(function.returns)}" if function.returns and function.name != "__init__" else ""
    line = f"{name}({', '.join(shown)}){returns}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {one}," for one in shown), f"){returns}"])


def _get_parameter(given: ast.arg, default: ast.expr | None) -> str:
    annotation = f": {ast.unparse(given.annotation)}" if given.annotation else ""
    value = ast.unparse(default) if default else ""
    # The docstring has the value of a constant.
    return f"{given.arg}{annotation}" + (f" = {'...' if value.startswith('_') else value}" if value else "")


def _strip_prompts(example: str) -> str:
    lines = example.splitlines()
    return "\n".join(line[4:] if line.startswith((">>> ", "... ")) else f"# {line}" for line in lines if line.strip())


def _fence(code: str) -> str:
    return f"```python\n{code}\n```"


def get_pages() -> list[dict[str, object]]:
    """Return the pages."""
    exports = {path: get_exports(package) for path, package in PACKAGES.items()}
    links: dict[str, str] = {}
    for path, exported in exports.items():
        for name, heading in get_headings(exported).items():
            slug = re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-")
            links.setdefault(name, f"/api/{path}.md#{slug}")
    return [
        {
            "path": f"api/{path}.md",
            "title": get_title(package),
            "markdown": Page(path, package, links).write(exports[path]),
            "names": len(exports[path]),
        }
        for path, package in PACKAGES.items()
    ]


if __name__ == "__main__":
    print(json.dumps(get_pages()))
