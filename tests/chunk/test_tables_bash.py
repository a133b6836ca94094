"""The bash table on samples that hold each kind of definition; see `indexer.chunk.tables.bash`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_deploy_sh() -> None:
    assert outline(cut("bash", "deploy.sh")) == [
        ("function", "", "log", 10),
        ("function", "", "usage", 14),
        ("function", "", "with_both", 22),
        ("function", "with_both", "helper", 24),
        ("function", "", "name-with-dash", 28),
        ("function", "", "main::run", 32),
        ("function", "", "conditional", 35),
    ]


def test_what_stands_above_belongs_to_the_definition_in_deploy_sh() -> None:
    found = ranges(cut("bash", "deploy.sh"))
    above = {
        "log": 9,
        "main::run": 30,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_deploy_sh() -> None:
    assert cut("bash", "deploy.sh").imports == ("./lib.sh", "/etc/default/deploy")
