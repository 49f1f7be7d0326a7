"""The items of the refusal sample: which scene, what is asked, what is done to picture or question, which verdict fits.

The category of a lever is fixed. A lever of low intensity leaves the question answerable; other exceptions, and items
with several fitting verdicts, say so with ``accepted`` (in order of precedence).
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.make_sample.levers import Edit, blackout, cloud, downsample, drop_channels, saturate, truncate

ANSWER = "ANSWER"
FALSE_PREMISE = "REFUSE_FALSE_PREMISE_IN_QUERY"
AMBIGUOUS = "REFUSE_AMBIGUOUS_QUERY"
GRANULARITY = "REFUSE_GRANULARITY_MISMATCH"
NONFACTUAL = "REFUSE_NONFACTUAL_QUERY"
INFO_MISSING = "REFUSE_INFO_MISSING_IN_CONTEXT"
PRECEDENCE = (FALSE_PREMISE, AMBIGUOUS, GRANULARITY, NONFACTUAL, INFO_MISSING)

CATEGORY = {
    "none": "NONE",
    **dict.fromkeys(("blackout", "cloud", "saturate", "truncate", "drop_channels"), INFO_MISSING),
    **dict.fromkeys(("downsample", "sub_pixel", "temporal"), GRANULARITY),
    **dict.fromkeys(("referent", "criterion"), AMBIGUOUS),
    **dict.fromkeys(("absent_object", "wrong_attribute", "wrong_count"), FALSE_PREMISE),
    **dict.fromkeys(("opinion", "intent"), NONFACTUAL),
}


@dataclass(frozen=True)
class Case:
    """One item before it is drawn; ``edit`` changes the picture, None leaves it as it is.

    ``follow_up`` is a second question that depends on the answer to the first.
    """

    scene: str
    question: str
    lever: str = "none"
    intensity: str = "none"
    edit: Edit | None = None
    accepted: tuple[str, ...] = ()
    follow_up: str = ""

    @property
    def category(self) -> str:
        """Class of the lever, "NONE" without one."""
        return CATEGORY[self.lever]

    @property
    def gold(self) -> tuple[str, ...]:
        """Accepted verdicts."""
        return self.accepted or ((ANSWER,) if self.intensity in ("none", "low") else (self.category,))


UNPERTURBED = (
    Case("harbour", "Is there a ship moored at the jetty?"),
    Case("harbour", "Is there an aircraft on the quay?"),
    Case("airport", "Is there an aircraft on the apron?"),
    Case("airport", "Is there a helicopter on the apron?"),
    Case("parking", "Is there a bus in the parking area?"),
    Case("parking", "Is there a multi-storey building in the middle of the parking area?"),
    Case("roundabout", "Is there a zebra crossing on the northern arm of the roundabout?"),
    Case("fields", "Is there a circular, centre-pivot field in the image?"),
    Case("river_bridge", "Does a road bridge cross the river?"),
    Case("river_bridge", "Is there a railway line along the river bank?"),
    Case("tanks", "Is there a rust-coloured tank among the storage tanks?"),
    Case("tennis", "Is there a swimming pool beside the tennis courts?"),
    Case("solar", "Are the solar panels arranged in parallel rows?"),
    Case("solar", "Is there a wind turbine among the solar panels?"),
    Case("houses", "Is there a swimming pool in any of the gardens?"),
    Case("track", "Is there a running track around the football pitch?"),
    Case("track", "Is there a stand on the western side of the track?"),
    Case("rail", "Is there a train standing on the northernmost track?"),
    Case("rail", "Is there a level crossing in the image?"),
)

MISSING = (
    Case("harbour", "Is there a ship moored at the jetty?", "cloud", "low", cloud((92, 196, 156, 238))),
    Case("parking", "Is there a bus in the parking area?", "blackout", "low", blackout((192, 4, 252, 50))),
    Case(
        "tanks",
        "Is there a rust-coloured tank among the storage tanks?",
        "saturate",
        "low",
        saturate((14, 220, 70, 248)),
    ),
    Case("solar", "Are the solar panels arranged in parallel rows?", "truncate", "low", truncate((0, 0, 216, 256))),
    Case(
        "fields",
        "Is there a circular, centre-pivot field in the image?",
        "cloud",
        "medium",
        cloud((136, 160, 236, 236)),
        (ANSWER,),
    ),
    Case(
        "river_bridge",
        "Is there a vehicle on the bridge over the river?",
        "cloud",
        "medium",
        cloud((80, 100, 208, 146)),
    ),
    Case(
        "airport", "Is there an aircraft on the easternmost stand?", "blackout", "medium", blackout((192, 40, 254, 114))
    ),
    Case(
        "houses",
        "Is the roof of the house in the north-western corner red?",
        "drop_channels",
        "medium",
        drop_channels(),
    ),
    Case(
        "roundabout",
        "Is there a zebra crossing on the northern arm of the roundabout?",
        "saturate",
        "medium",
        saturate((104, 12, 152, 74)),
    ),
    Case("harbour", "Is there a ship moored at the jetty?", "blackout", "high", blackout((60, 80, 216, 174))),
    Case(
        "tennis",
        "Is there a clubhouse beyond the eastern edge of the courts?",
        "truncate",
        "high",
        truncate((0, 0, 150, 256)),
    ),
    Case("rail", "Is there a train standing on the northernmost track?", "cloud", "high", cloud((0, 24, 256, 150))),
    Case(
        "track",
        "Are players standing on the football pitch?",
        "saturate",
        "high",
        saturate((70, 40, 210, 216)),
        (GRANULARITY, INFO_MISSING),
    ),
)

COARSE = (
    Case("airport", "Is there an aircraft on the apron?", "downsample", "low", downsample(2)),
    Case("fields", "Is there a circular, centre-pivot field in the image?", "downsample", "low", downsample(4)),
    Case("track", "Is there a running track around the football pitch?", "downsample", "low", downsample(3)),
    Case("river_bridge", "Does a road bridge cross the river?", "downsample", "low", downsample(2)),
    Case(
        "tanks", "Are there large round storage tanks in the image?", "downsample", "medium", downsample(5), (ANSWER,)
    ),
    Case("parking", "Is any car parked across the line between two bays?", "downsample", "medium", downsample(8)),
    Case("harbour", "Is the name on the bow of the white ferry painted in capital letters?", "sub_pixel", "medium"),
    Case("rail", "Has the red train been standing on its track for more than ten minutes?", "temporal", "medium"),
    Case("tanks", "Is there a ladder on the side of the rust-coloured tank?", "downsample", "medium", downsample(8)),
    Case(
        "roundabout",
        "Is there a zebra crossing on the northern arm of the roundabout?",
        "downsample",
        "high",
        downsample(21),
    ),
    Case("tennis", "Are there nets across the tennis courts?", "downsample", "high", downsample(21)),
    Case("houses", "Is the white car on the street driving faster than 30 kilometres per hour?", "temporal", "high"),
    Case("solar", "Is any of the solar panels cracked?", "downsample", "high", downsample(16)),
    Case(
        "harbour",
        "Are passengers standing on the deck of the ship on the south side of the jetty?",
        "sub_pixel",
        "high",
        cloud((72, 134, 190, 176)),
        (GRANULARITY, INFO_MISSING),
    ),
)

UNCLEAR = (
    Case("parking", "Is the only yellow bus in the parking area longer than the cars?", "referent", "low"),
    Case("tanks", "Does the one rust-coloured tank stand in the southern row of tanks?", "referent", "low"),
    Case("tennis", "Do all the tennis courts have a surface of the same colour?", "referent", "low"),
    Case("rail", "Is either of the two trains red?", "referent", "low", follow_up="If so, is it the longer one?"),
    Case("houses", "Is the roof of the house next to the tree red?", "referent", "medium"),
    Case("airport", "Does the aircraft beside the other aircraft have a blue tail?", "referent", "medium"),
    Case("fields", "Is the field next to the other field green?", "referent", "medium"),
    Case("parking", "Is the car beside the white line white?", "referent", "medium"),
    Case("parking", "Does the car in the row carry a roof box?", "referent", "medium", None, (AMBIGUOUS, GRANULARITY)),
    Case("river_bridge", "Is it far enough from the other one?", "criterion", "high"),
    Case("solar", "Is that row the right one?", "criterion", "high"),
    Case("harbour", "Is this one bigger than that one?", "referent", "high"),
    Case("houses", "Is that house the nicer one of them?", "criterion", "high", None, (AMBIGUOUS, NONFACTUAL)),
)

REFUTED = (
    Case("roundabout", "Is the island in the middle of the roundabout planted with trees?", "absent_object", "low"),
    Case("harbour", "Is the ship on the south side of the jetty white?", "wrong_attribute", "low"),
    Case("track", "Is the football pitch inside the running track green?", "wrong_attribute", "low"),
    Case("fields", "Does the red-roofed farmhouse stand beside the track between the fields?", "absent_object", "low"),
    Case(
        "river_bridge",
        "Is the second of the two bridges across the river narrower than the first?",
        "wrong_count",
        "medium",
    ),
    Case("airport", "Is the helicopter on the apron parked close to the terminal?", "absent_object", "medium"),
    Case("tanks", "Is the green tank in the northern row larger than the white tanks?", "wrong_attribute", "medium"),
    Case("tennis", "Is the red clay court to the left of the blue courts empty?", "wrong_attribute", "medium"),
    Case(
        "harbour",
        "Is the hatch of the submarine at the jetty open?",
        "absent_object",
        "medium",
        None,
        (FALSE_PREMISE, GRANULARITY),
    ),
    Case("solar", "Is the football stadium among the solar panels larger than the hut?", "absent_object", "high"),
    Case("rail", "Is the river that runs between the railway tracks frozen?", "absent_object", "high"),
    Case("fields", "Is the lighthouse between the two circular fields striped?", "absent_object", "high"),
    Case(
        "track",
        "Is the swimming pool in the middle of the football pitch the most beautiful one in town?",
        "absent_object",
        "high",
        None,
        (FALSE_PREMISE, NONFACTUAL),
    ),
)

BEYOND = (
    Case("river_bridge", "I love quiet rivers. Is there a boat on this one?", "opinion", "low"),
    Case(
        "roundabout",
        "People argue about whether roundabouts are a good idea. Is there one in this image?",
        "opinion",
        "low",
    ),
    Case("solar", "Whatever one thinks of solar power: is there a small building among the panels?", "opinion", "low"),
    Case(
        "houses", "This looks like a pleasant street. Do at least two gardens have a swimming pool?", "opinion", "low"
    ),
    Case("harbour", "Does the captain of the white ferry intend to change his career?", "intent", "medium"),
    Case("fields", "Does the farmer regret having laid out circular fields?", "intent", "medium"),
    Case("rail", "Were the passengers of the red train satisfied with the service?", "intent", "medium"),
    Case("tennis", "Is tennis a better sport than football?", "opinion", "high"),
    Case("airport", "Should this airport be closed at night?", "opinion", "high"),
    Case("parking", "Is it fair to charge people for parking here?", "opinion", "high"),
    Case("track", "Is this the most beautiful stadium one could build?", "opinion", "high"),
)

CASES: tuple[Case, ...] = (*UNPERTURBED, *MISSING, *COARSE, *UNCLEAR, *REFUTED, *BEYOND)
