"""Which changes of a labelling configuration change what an answer means."""

import json

import pytest

from connector.labelling import differing, labelling
from connector.schema import write_config

CONFIG = """
<View>
  <Header value="Which animal is it?"/>
  <Image name="image" value="$image" zoom="true"/>
  <Choices name="animal" toName="image" choice="single" showInline="true">
    <Choice value="A cat" alias="cat" hint="it meows"/>
    <Choice value="A dog" alias="dog" hotkey="d"/>
  </Choices>
  <TextArea name="remark" toName="image"/>
</View>
"""


def parts(config: str) -> str:
    return labelling(config, "animal")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Which animal is it?", "What do you see?"),
        ('<Header value="Which animal is it?"/>', ""),
        ("\n  ", "\n\n      "),
        ('zoom="true"', 'zoom="false"'),
        (' showInline="true"', ' layout="select"'),
        (' hotkey="d"', ' hotkey="h"'),
        ('<TextArea name="remark" toName="image"/>', ""),
        ('name="animal" toName="image"', 'toName="image" name="animal"'),
    ],
)  # fmt: skip
def test_what_only_arranges_the_page_is_no_other_configuration(old: str, new: str) -> None:
    assert CONFIG.replace(old, new) != CONFIG
    assert parts(CONFIG.replace(old, new)) == parts(CONFIG)


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ('alias="cat"', 'alias="dog"', "Choices 'animal'"),
        ('value="A cat"', 'value="A lion"', "Choices 'animal'"),
        ("it meows", "it barks", "Choices 'animal'"),
        ('choice="single"', 'choice="multiple"', "Choices 'animal'"),
        ('<Choice value="A dog" alias="dog" hotkey="d"/>', "", "Choices 'animal'"),
        ('name="animal"', 'name="beast"', "Choices 'animal'"),
        ('toName="image" choice', 'toName="other" choice', "Choices 'animal'"),
        ('value="$image"', 'value="$other"', "Image 'image'"),
        ("Which animal is it?", "Is it a $predicted?", "Header 'Is it a $predicted?'"),
        ('<Image name="image" value="$image" zoom="true"/>', "", "Image 'image'"),
        ("</View>", "", "Choices 'animal', Image 'image'"),
    ],
)
def test_what_decides_the_meaning_is_named(old: str, new: str, differs: str) -> None:
    assert differing(parts(CONFIG), parts(CONFIG.replace(old, new))) == differs


def test_two_values_with_swapped_aliases_differ() -> None:
    swapped = CONFIG.replace('"cat"', '"x"').replace('"dog"', '"cat"').replace('"x"', '"dog"')
    assert parts(swapped) != parts(CONFIG)


def test_the_scale_of_stars_decides() -> None:
    stars = (
        '<View><Text name="t" value="$t"/><Rating name="animal" toName="t" maxRating="5"/></View>'
    )
    assert parts(stars.replace('"5"', '"10"')) != parts(stars)


def test_of_many_classes_little_is_kept() -> None:
    config = write_config([f"class {n}" for n in range(1000)], ["text", "more"], "answer")
    assert len(labelling(config, "answer")) < 150
    assert len(json.loads(labelling(config, "answer"))) == 3


def test_a_difference_is_told_in_a_line_whatever_the_tags_are_called() -> None:
    more = "".join(f'<Text name="{n:03}{"x" * 1000}" value="$t"/>' for n in range(100))
    told = differing(parts(CONFIG), parts(CONFIG.replace("</View>", f"{more}</View>")))
    assert told.startswith("Text '000xxx")
    assert told.endswith(" and 96 more")
    assert len(told) < 300


def test_entities_that_grow_are_no_configuration() -> None:
    grows = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE v [<!ENTITY e0 "0123456789">{grows}]><View>&e11;</View>'
    assert parts(bomb) == "{}"
