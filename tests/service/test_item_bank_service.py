"""An item bank is served as a questionnaire: the API and the pages of a respondent."""

import pytest

from eddi.model.item_bank import ItemBank, Trait

ITEMS = """\
item,text,a,b1,b2,options
sad,I felt sad,2.5,-0.5,0.8,Never|Sometimes|Often
hope,I felt hopeless,3.1,0.1,1.2,Never|Sometimes|Often
tired,I was tired,1.4,-1.0,0.6,Never|Sometimes|Often
"""


@pytest.fixture(scope="module")
def bank_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bank")
    (folder / "items.csv").write_text(ITEMS)
    bank = ItemBank.from_csv(folder / "items.csv", trait=Trait("depression", unit="T"))
    bank.save(folder / "depression.eddi")
    return folder / "depression.eddi"


def test_an_interview_about_a_trait_is_held_over_http(serving, bank_file):
    with serving(model=str(bank_file), target="depression", after=2) as client:
        step = client.post("/interviews", json={}).raise_for_status().json()
        address = f"/interviews/{step['id']}"
        asked = []
        while step["question"] is not None:
            asked.append(step["question"]["name"])
            answer = {"question": asked[-1], "values": {asked[-1]: "3"}}
            step = client.post(f"{address}/answers", json=answer).raise_for_status().json()
        assert asked[0] == "hope"
        assert step["prediction"]["depression"]["mean"] > 60
        assert client.get("/").status_code == 200
        assert client.get("/metrics").status_code == 200
