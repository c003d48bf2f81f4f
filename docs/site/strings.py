#!/usr/bin/env python3
"""Prints every text that a user can see, one a line with its place, to be read without the code beside it:

    docs/site/strings.py [KIND...]       kinds: message description property page command alert javadoc header

message: texts of log lines, exceptions and views in Java, and of the library's lines on standard error; description: meters, MBeans
and events of Flight Recorder; page: the embedded page. A text has a space in it, so names and formats are left out; {} stands
for a value.
"""

import json
import re
import sys

import reference
import yaml

REPOSITORY = reference.REPOSITORY
MAIN = [path for folder in ("metrics-bridge", "spring-starter", "testing") for path in (REPOSITORY / folder).rglob("src/main/java/**/*.java")]
LITERAL = r'"(?:[^"\\\n]|\\.)*+"'
GROUP = rf"\((?:[^()\"]|{LITERAL}|\((?:[^()\"]|{LITERAL}|\((?:[^()\"]|{LITERAL})*+\))*+\))*+\)"
VALUE = rf"(?:\b[\w.]++|{GROUP})(?:{GROUP}|\.\w++)*+"
JAVA = re.compile(rf"(?:{VALUE}\s*\+\s*)*{LITERAL}(?:\s*\+\s*(?:{LITERAL}|{VALUE}))*+")
C = re.compile(rf"{LITERAL}(?:\s*(?:{LITERAL}|PRI\w+))*+")
TERM = re.compile(rf"{LITERAL}|{VALUE}")
ANNOTATION = re.compile(r"@(?:Description|Command|Option|Parameters)\((?:[^()\"]|\"(?:[^\"\\]|\\.)*\"|\((?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*\))*\)")


def place(path, text, at):
    return f"{path.relative_to(REPOSITORY)}:{text.count(chr(10), 0, at) + 1}"


def sentence(expression):
    """The text of an expression of literals and values: {} stands for a value, {a|b} for one that chooses between texts."""
    terms = TERM.findall(expression)
    return "".join(reference.joined(each) if each.startswith('"') else "{%s}" % "|".join(map(reference.joined, re.findall(LITERAL, each))) for each in terms)


def literals(path, text, pattern=JAVA, read=sentence):
    for each in pattern.finditer(text):
        joined = read(each[0])
        if re.search(r"[a-z]{2,} [a-z]", joined):
            yield place(path, text, each.start()), joined


def code(text):
    """The text with comments blanked, so that lines keep their numbers."""
    return re.sub(rf"({LITERAL})|/\*.*?\*/|//[^\n]*", lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


def message():
    for path in sorted(MAIN):
        if path.name not in ("Meter.java", "Described.java"):
            text = code(reference.read(path))
            yield from literals(path, ANNOTATION.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text))
    for path in sorted((REPOSITORY / "interposer/src").rglob("*.c")):
        yield from literals(path, code(reference.read(path)), C)


def description():
    for each in reference.meters():
        yield each["name"] or each["attribute"], each["meaning"]
    path = reference.CORE / "jmx/Described.java"
    yield from literals(path, code(reference.read(path)))
    for path in sorted((reference.CORE / "jfr").glob("*.java")):
        text = reference.read(path)
        for each in re.finditer(r'@(?:Description|Label)\("([^"]*)"\)', text):
            yield place(path, text, each.start()), each[1]


def property_():
    for each in json.loads(reference.read(reference.METADATA))["properties"]:
        yield each["name"], each.get("description", "")


def page():
    for path in sorted((REPOSITORY / "metrics-bridge/core/src/main/resources/io/mallometer/page").glob("page*")):
        text = code(reference.read(path)) if path.suffix == ".js" else reference.read(path)
        yield from literals(path, text, re.compile(r"'(?:[^'\\\n]|\\.)*'|`[^`]*`|\"[^\"\n]*\"|>[^<>{}]*[a-z] [a-z][^<>{}]*<"), str)


def command():
    for path in sorted(MAIN):
        text = reference.read(path)
        for each in ANNOTATION.finditer(text):
            if not each[0].startswith("@Description"):
                for _, found in literals(path, each[0]):
                    yield place(path, text, each.start()), found


def alert():
    rules = yaml.safe_load(reference.read(REPOSITORY / "dashboards/prometheus/alerts.yml"))
    for group in rules["groups"]:
        for rule in group["rules"]:
            for name, text in rule["annotations"].items():
                yield f"{rule['alert']} {name}", text


def javadoc():
    for path in sorted(MAIN):
        if "internal" not in path.parts:
            text = reference.read(path)
            for each in re.finditer(r"/\*\*((?:(?!\*/).)*)\*/\s*(?:@[^\n]*\s*)*public ", text, re.S):
                yield place(path, text, each.start()), reference.first_sentence(each[1])


def header():
    text = reference.read(reference.HEADER)
    for each in re.finditer(r"/\*((?:(?!\*/).)*)\*/", text, re.S):
        yield place(reference.HEADER, text, each.start()), re.sub(r"\n\s*\*?", " ", each[1])


KINDS = {each.__name__.strip("_"): each for each in (message, description, property_, page, command, alert, javadoc, header)}


def main(kinds):
    for kind in kinds or KINDS:
        for where, text in KINDS[kind]():
            print(kind, where, re.sub(r"\s+", " ", text).strip(), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1:])
