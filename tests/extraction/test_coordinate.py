"""Reading a coordinate: replies of the kinds that models write, with the answer a reader takes from them."""

import time

import pytest

from geoeval.extraction.coordinate import extract_coordinate, parse_coordinate

B = "[0.63, 0.43]"
CHOICES = ("[0.21, 0.80]", B, "[0.12, 0.30]", "[0.88, 0.17]", "[0.40, 0.62]", "[0.70, 0.90]")
OTHER = CHOICES[0]


@pytest.mark.parametrize(
    ("reply", "value", "how"),
    [
        # the whole reply
        (B, B, "whole_reply"),
        ("(0.63, 0.43)", B, "whole_reply"),
        ("0.63, 0.43", B, "whole_reply"),
        ("[.63,.43].", B, "whole_reply"),
        ("**[0.63, 0.43]**", B, "whole_reply"),
        ("［0.63，0.43］", B, "whole_reply"),
        ('{"x": 0.63, "y": 0.43}', B, "whole_reply"),
        ("x = 0.63, y = 0.43", B, "whole_reply"),
        ("<think>It could be [0.21, 0.80].</think>\n[0.63, 0.43]", B, "whole_reply"),
        # declared
        ("Answer: [0.63, 0.43]", B, "declared"),
        ("**Answer:** [0.63, 0.43]", B, "declared"),
        ("Answer:\n[0.63, 0.43]", B, "declared"),
        ("Answer: 0.63, 0.43", B, "declared"),
        ("The answer is [0.63, 0.43].", B, "declared"),
        ("The answer is the point at [0.63, 0.43].", B, "declared"),
        ("The correct coordinate is (0.63, 0.43), near the middle.", B, "declared"),
        ("I would choose [0.63, 0.43].", B, "declared"),
        (r"$\boxed{[0.63, 0.43]}$", B, "declared"),
        (r"Therefore \boxed{\left(0.63, 0.43\right)}", B, "declared"),
        ('{"answer": [0.63, 0.43]}', B, "declared"),
        ("<answer>[0.63, 0.43]</answer>", B, "declared"),
        ("答案是 [0.63, 0.43]。", B, "declared"),
        ("A lies at [0.21, 0.80] and B at [0.63, 0.43].\nAnswer: [0.63, 0.43]", B, "declared"),
        ("Answer: [0.63, 0.43]. The point [0.21, 0.80] belongs to A.", B, "declared"),
        ("Answer: [0.21, 0.80]\nWait, that is part A.\nAnswer: [0.63, 0.43]", B, "declared"),
        ("The answer is [0.21, 0.80]. Actually [0.63, 0.43], since B is above it.", B, "declared"),
        ("The answer is not [0.21, 0.80].\nAnswer: [0.63, 0.43]", B, "declared"),
        ("Answer: [0.63, 0.43]\n\nQuestion: Where is part C?\nAnswer: [0.12, 0.30]", B, "declared"),
        # rounding: half of the last digit offered
        ("Answer: [0.630, 0.4300]", B, "declared"),
        ("Answer: [0.628, 0.433]", B, "declared"),
        ("Answer: [0.635, 0.425]", B, "declared"),
        ("Answer: [0.636, 0.43]", None, "not_offered"),
        ("Answer: [0.63, 0.424]", None, "not_offered"),
        # the last line, the only pair
        ("A is at [0.21, 0.80]; what is left is B:\n[0.63, 0.43]", B, "last_line"),
        ("Part B, the screw on the right, is centred at [0.63, 0.43].", B, "only_pair"),
        ("[0.63, 0.43] is where the letter B stands; [0.63, 0.43] it is", B, "only_pair"),
        # nothing to read
        ("", None, "empty"),
        (" \n", None, "empty"),
        ("<think>[0.63, 0.43]", None, "only_reasoning"),
        ("A is at [0.21, 0.80] and B at [0.63, 0.43].", None, "several"),
        ("[0.21, 0.80]\n[0.63, 0.43]", None, "several"),
        ("Answer: [0.63, 0.43] or [0.21, 0.80]", None, "several"),
        ("Answer: [0.63, 0.43], [0.21, 0.80]", None, "several"),
        ("Actually [0.21, 0.80] is part A, and B is at [0.63, 0.43].", None, "several"),
        ("Answer: B", None, "no_declaration"),
        ("The centre is at the right.", None, "no_declaration"),
        ("It is certainly not [0.63, 0.43].", None, "no_declaration"),
        ("The answer is certainly not [0.63, 0.43].", None, "no_declaration"),
        ("I cannot find a part B; the point [0.63, 0.43] is empty.", None, "refusal"),
        ("Answer: [0.63, 0.", None, "cut_off"),
        ("A is at [0.21, 0.80].\nAnswer: [0.63", None, "cut_off"),
        # other units, other shapes
        ("Answer: [63, 43]", None, "not_offered"),
        ("Answer: [1451, 990]", None, "not_offered"),
        ("Answer: 63%, 43%", None, "not_offered"),
        ("Answer: [0.6, 0.4, 0.7, 0.5]", None, "not_offered"),
        ("Answer: [0.43, 0.63]", None, "not_offered"),
        ("A is at [0.21, 0.80]. The answer is [0.6, 0.4, 0.7, 0.5].", None, "not_offered"),
    ],
)
def test_reading(reply, value, how):
    read = extract_coordinate(reply, CHOICES)
    assert read.value == value
    assert (read.method if value else read.reason) == how
    assert read.method == "none" if value is None else read.reason is None


def test_two_offered_points_within_the_tolerance_are_not_told_apart():
    near = ("[0.630, 0.430]", "[0.634, 0.430]")
    assert extract_coordinate("Answer: [0.632, 0.430]", near).reason == "ambiguous"
    assert extract_coordinate("Answer: [0.627, 0.430]", near).value == near[0]


def test_a_choice_that_is_no_coordinate_is_never_the_answer():
    assert extract_coordinate("Answer: [0.63, 0.43]", ("B", "", "[0.63, 0.43, 0.1]")).reason == "not_offered"


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("[0.63, 0.43]", (0.63, 0.43)),
        (" (1,0) ", (1, 0)),
        ("[-0.1, .5]", (-0.1, 0.5)),
        ("[0.1]", None),
        ("[0.1, 0.2, 0.3]", None),
        ("[0.1, 0.2] (E)", None),
        ("", None),
    ],
)
def test_parsing(text, pair):
    assert parse_coordinate(text) == pair


@pytest.mark.parametrize(
    "piece",
    [
        "Answer: [0.",
        "[0.63, 0.43] ",
        "answer is ",
        "1",
        "[",
        "0.1,",
        "actually ",
        "\\boxed{",
        "not ",
        "\n",
        " ",
        "答案",
        "x:",
    ],
)
def test_long_replies_take_linear_time(piece):
    """Ten times the text, about ten times the time; a quadratic rule would take a hundred times as long."""

    def seconds(length):
        reply = "a" + piece * (length // len(piece))
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            extract_coordinate(reply, CHOICES)
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(200_000) < 40 * seconds(20_000) + 0.05
