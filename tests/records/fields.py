"""Names, types and descriptions of the fields of records.

A field is a path: `result.time_ms.samples[]` is an element of the list `samples` in the object
`time_ms` of a result. Its types are words of JSON Schema, sorted and joined by `|`.
"""
import pathlib

PROMISED = pathlib.Path(__file__).with_name("fields.txt")
KINDS = ("environment", "result", "doctor")
NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class Fields:
    """Types of fields, and the fields with a description."""

    def __init__(self):
        self.types, self.described = {}, set()

    def add(self, path, types, described):
        self.types[path] = "|".join(sorted({*self.types.get(path, "").split("|"), *types} - {""}))
        if described:
            self.described.add(path)

    def add_schema(self, path, part, definitions):
        """Adds the field that a part of a schema describes, and the fields inside."""
        if "$ref" in part:
            part = {**definitions[part["$ref"].rsplit("/", 1)[1]], **{k: v for k, v in part.items() if k != "$ref"}}
        for choice in part.get("oneOf", ()):
            self.add_schema(path, choice, definitions)
        types = part.get("type", [])
        types = [types] if isinstance(types, str) else list(types)
        types += [NAMES[type(word)] for word in part.get("enum", [part["const"]] if "const" in part else [])]
        self.add(path, types, "description" in part)
        for name, inner in part.get("properties", {}).items():
            self.add_schema(path + "." + name, inner, definitions)
        items = part.get("items", [])
        for inner in [items] if isinstance(items, dict) else items:
            self.add_schema(path + "[]", inner, definitions)

    def add_operation(self, operation):
        """Adds the fields of results that an environment record lists: axes and figures."""
        for axis in operation["axes"]:
            self.add("result." + axis["name"], ["string" if "words" in axis else "integer"], bool(axis["about"]))
        for figure in operation["figures"]:
            self.add("result." + figure["name"], ["null", "number"], bool(figure["about"]))


def written(path, value):
    """The paths of a value in a record, and of all values inside."""
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from written(path + "." + name, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from written(path + "[]", inner)


def broken(records, schema):
    """Returns the promised fields that are not kept, as texts, and the number of all.

    A field is kept if the schema has the promised types and a description, and a record has the field.
    Fields with a third word, `cuda` or `cusparse`, are in records of builds with this part only.
    """
    fields, found, parts, texts = Fields(), set(), set(), []
    for kind in KINDS:
        fields.add_schema(kind, schema["definitions"][kind], schema["definitions"])
    for record in records:
        found.update(written(record["kind"], record))
        if record["kind"] == "environment":
            fields.add_operation(record["operation"])
            parts.update(part for part in ("cuda", "cusparse") if record.get(part))
    promised = [line.split() for line in PROMISED.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    for path, types, *part in promised:
        if fields.types.get(path) != types:
            texts.append("%s: the promised type is %s, not %s" % (path, types, fields.types.get(path)))
        elif path not in fields.described and not path.endswith("[]"):
            texts.append("%s: no description" % path)
        elif path not in found and parts.issuperset(part):
            texts.append("%s: no record has this field" % path)
    return texts, len(promised)
