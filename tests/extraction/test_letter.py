"""One table per rule of reading a letter. The rows are ours; what each expects follows from the documented rules."""

from __future__ import annotations

import pytest

from geoeval.extraction.letter import extract_letter

AD = ("A", "B", "C", "D")
AJ = tuple("ABCDEFGHIJ")
ROCKS = ("granite", "gabbro", "slate", "sandstone")
IMAGES = ("the second image", "the third image")
POINTS = ("Point A", "Point B", "Point C", "Point D")
CLOSER = ("A is closer", "B is closer")


def read(reply, choices=AD, options=None):
    return extract_letter(reply, choices, options).value


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("B", "B"),
        (" (C) ", "C"),
        ("d", "D"),
        ("（B）", "B"),
        ("\u200bB", "B"),
        ("𝐁", "B"),
        ("Ⓒ", "C"),
        ("**A.**", "A"),
        ("`C`", "C"),
        ("$D$", "D"),
        ("Option B", "B"),
        ("Answer: C", "C"),
        ("A</s>", "A"),
        ("<s> D", "D"),
        ("B<|im_end|>", "B"),
        ("<|begin_of_box|>B<|end_of_box|>", "B"),
        ("A<eoa>", "A"),
        ("E", None),
        ("?", None),
    ],
)
def test_whole_reply(reply, letter):
    assert read(reply) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The grains interlock, so the answer is B.", "B"),
        ("The answer is (C) slate.", "C"),
        ("It has layers. **Answer**: C", "C"),
        ("It has layers.\n\n**Answer: C**", "C"),
        ("It has layers.\nFinal Answer:\nC", "C"),
        ("It has layers.\n\nANSWER - not sure\n\nANSWER:D", "D"),
        ("I looked closely.\n<answer>B</answer>", "B"),
        ("I looked closely.\n<answer>\nB) gabbro\n</answer>", "B"),
        ('```json\n{"answer": "B", "why": "dark"}\n```', "B"),
        ("{'final_answer': 'D'}", "D"),
        ('{"choice": "(A)"}', "A"),
        ("Summing up gives 3, hence $\\boxed{B}$.", "B"),
        ("So \\[ \\boxed{\\text{(C) } 55} \\]", "C"),
        ("\\fbox{Answer: D} as shown", "D"),
        ("Thus the result is \\( \\boxed{\\textbf{A}} \\).", "A"),
        ("Answer: \\(I\\)", None),
        ("I will select option A as an example of the mismatch: its thread is longer.", "A"),
        ("Considering all this, I would choose (D).", "D"),
        ("Overall I'd go with B here.", "B"),
        ("I would lean towards:\n\n(B) gabbro\n\nIts colour is dark.", "B"),
        ("Option (B) is correct, since it is dark.", "B"),
        ("Therefore, option D would be the best choice among these.", "D"),
        ("C is the correct answer because it splits.", "C"),
        ("It splits into thin sheets, as in the photo.\n\nFinal answer C", "C"),
        ("### Option B\nIt is dark.\n### Option C\nIt splits.\n### Option D\nIt is light.", None),
        ("The dark minerals make choice (B) the odd one; B is therefore the most likely answer.", "B"),
        ("The most suitable choice among the four is option **C**.", "C"),
        ("The corresponding part is:\n(D) Part four\nIt sits at the top.", "D"),
        ("Looking at each part in turn, (A) and (C) agree.\n\n(B) the third part", "B"),
        ("The answer is (A, A).", "A"),
        ("Answer: [0.63, 0.43] (D)", "D"),
        ("The answer -> C", "C"),
        ("The answer remains (B) even so.", "B"),
        ("(A) is light. (B) is dark. The correct rock for the marked outcrop is (B), as it is dark.", "B"),
        ("Answer: C-2.5 MPa", "C"),
        ("The answer is (B", "B"),
    ],
)
def test_declared(reply, letter):
    assert read(reply) == letter


def test_declared_letter_i_is_no_pronoun():
    assert read("The peak lies at 9. Answer: \\(I\\)", AJ) == "I"
    assert read("Answer: I apologize for the confusion.", AJ) is None
    assert read("The answer is I because nine fits.", AJ) == "I"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The answer is (A). On a second look the bands are folded. The answer is (D).", "D"),
        ("First I thought the answer is C, but the correct answer is B.", "B"),
        ("(C) cannot be right, which rules out C. The correct answer is (B).", "B"),
        ("Answer: A\n\nExplanation: slate is also common here, and the best known rock is slate.", "A"),
        ("The result is \\boxed{42} N. Answer: D", "D"),
        ("The answer is (B). None of the other options shows layers.", "B"),
    ],
)
def test_last_declaration_stands(reply, letter):
    assert read(reply, options=ROCKS) == letter


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is (B) and (C).",
        "Answer: A, C",
        "【答案】 B、D",
        "【答案】 AD",
        "Both A and C are correct.",
        "I would choose either (A) granite or (B) gabbro.",
        "The correct answer is:\n(A) granite\n(B) gabbro\n(C) slate\n(D) sandstone",
        "Compare them. The corresponding choice is:\n\nOption (A): granite\nOption (B): gabbro\n\nPlease pick.",
        "The answers are:\n\n* granite\n* slate",
        "It is new, so the answer is (B). It is worn, so the answer is (C). It is cut, so the answer is (D).",
        "a) The sum is 3. The answer is (B).\nb) The product is 7. The answer is (D).",
        "The answer is (a) and (b).",
    ],
)
def test_several_letters(reply):
    extraction = extract_letter(reply, AD, ROCKS)
    assert (extraction.value, extraction.reason) == (None, "several")


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("In (a) it is new, so the answer is (B). In (b) it is old, so the answer is (B).", "B"),
        ("A is new, so the answer is (A)? B is worn, so the answer is (B)? C is cut.\nAnswer: C", "C"),
        ("The answer is (B), because (A) and (C) are granites.", "B"),
        ("The answer is C rather than A or B.", "C"),
    ],
)
def test_several_letters_of_which_one_is_meant(reply, letter):
    assert read(reply) == letter


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("(E) basalt", "not_offered"),
        ("None of them fits, so the answer is (E) none of these.", "not_offered"),
        ("The answer is G.", "not_offered"),
        ("The closest option is gabbro. However, none of the options is correct.", "none_fits"),
    ],
)
def test_nothing_offered_is_chosen(reply, reason):
    extraction = extract_letter(reply, AD, ROCKS)
    assert (extraction.value, extraction.reason) == (None, reason)


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("(B) gabbro. It is dark.", "B"),
        ("C. slate", "C"),
        ("B) gabbro", "B"),
        ("D\n\nThe grains are rounded.", "D"),
        ("A because of the large crystals", "A"),
        ("B - it is dark", "B"),
        ("(A) granite\n(B) gabbro\n(C) slate\n(D) sandstone", None),
        ("A. granite is light\nB. gabbro is dark", None),
    ],
)
def test_leading_letter(reply, letter):
    assert read(reply, options=ROCKS) == letter


def test_option_texts_that_are_letters_do_not_change_the_letter():
    assert read("C. B", options=("D", "A", "B", "C")) == "C"
    assert read("(B) b", options=("a", "b", "c", "d")) == "B"
    assert read("Thus, the answer would be B (a).", options=("(c)", "(a)", "(d)", "(b)")) == "B"
    assert read("H. 0.55", AJ, tuple(f"0.{n}5" for n in range(10))) == "H"


def test_name_that_starts_like_a_letter():
    options = ("B. subtilis", "E. coli", "both")
    assert read("E. coli grew in the dish.", ("A", "B", "C"), options) == "B"
    assert read("B. subtilis", ("A", "B", "C"), options) == "A"


@pytest.mark.parametrize(
    ("reply", "choices", "options", "letter"),
    [
        ("A decrease in grain size is seen.\n\nThe answer is C.", AD, None, "C"),
        ("The answer is a decrease in grain size.", AD, None, None),
        ("I think the grains interlock. The answer is B.", AJ, None, "B"),
        ("A is closer to the camera than B.", ("A", "B"), CLOSER, "A"),
        ("Point B appears to be closer, as it is larger.", ("A", "B"), CLOSER, "B"),
        ("Point A, which is on the dome, is closer than point B, which is far off.", ("A", "B"), CLOSER, "A"),
        ("I would say that B has the darker colour of the two.", ("A", "B"), ("A is darker", "B is darker"), "B"),
        ("Box B fits the fold. Box A is too large.", ("A", "B"), ("Box A", "Box B"), "B"),
        ("The point REF corresponds to point C in the second picture.", AD, POINTS, "C"),
    ],
)
def test_articles_pronouns_and_point_names(reply, choices, options, letter):
    assert read(reply, choices, options) == letter


@pytest.mark.parametrize(
    ("reply", "options", "letter"),
    [
        ("The answer is (c).", None, "C"),
        ("the answer is d", None, "D"),
        ("(a) The force is 3 N. (b) The work is 6 J. The answer is (D).", None, "D"),
        ("So the answer is (a) 27 N.", None, None),
        ("The answer is (a) 3 N, (b) 6 J.", ("(a) 2 N, (b) 6 J", "(a) 3 N, (b) 6 J"), "B"),
        ("The answer is (iii).", None, None),
    ],
)
def test_lower_case_letters_and_sub_questions(reply, options, letter):
    assert read(reply, options=options) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The third image (C) is most similar to the first image (A).", "B"),
        ("The second image (B) continues the wall. So the answer is:\n**(A) the second image**", "A"),
        ("The second image (A) matches best.", "A"),
        ("The second image has the same style. The third image does not.", "A"),
        ("The style of the third image is the same as that of the reference.", "B"),
        ("Neither the second nor the third image fits. The answer is (C) neither.", None),
    ],
)
def test_letters_that_name_images(reply, letter):
    assert read(reply, ("A", "B"), IMAGES) == letter


@pytest.mark.parametrize(
    ("reply", "options", "letter"),
    [
        ("slate", ROCKS, "C"),
        ("The rock is gabbro.", ROCKS, "B"),
        ("The texture points to a slate, most likely.", ROCKS, "C"),
        ("It could be granite or gabbro.", ROCKS, None),
        ("Granite is light and slate is dark. Therefore, the rock in the picture is slate.", ROCKS, "C"),
        ("Look at the colour first. The rock is gabbro.", ROCKS, "B"),
        ("The granite is light, so the odd one out is the slate (C).", ROCKS, "C"),
        ("The camera moves to the right. All objects move to the left.", ("left", "right"), "B"),
        ("No, the pit is dry.", ("yes", "no"), "B"),
        ("Yes, there is no gap between them.", ("yes", "no"), "A"),
        ("はい", ("yes", "no"), "A"),
        ("左", ("left", "right"), "A"),
        ("The answer is 9.", ("3", "9", "12"), "B"),
        ("The work needed is $\\boxed{9}$ J.", ("3", "9", "12"), "B"),
        ("After adding the loads, the total is 12.", ("3", "9", "12"), "C"),
        ("After 12 steps nothing had changed.", ("3", "9", "12"), None),
        ("The slope is 0.5 here.", ("5", "50"), None),
        ("The answer is 1,200 rpm.", ("120 rpm", "1200 rpm"), "B"),
        ("The answer is $17,900.", ("$17,000", "$9,000"), None),
        ("granite", ("granite", "granite", "slate"), None),
    ],
)
def test_option_text(reply, options, letter):
    assert read(reply, AD[: len(options)], options) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("I'm sorry, I can't identify the rock in this picture.", None),
        ("I cannot select either (A) granite or (B) gabbro.", None),
        ("It is not possible to determine whether it is slate.", None),
        ("None of the options (A), (B), (C) or (D) fits.", None),
        ("I would not choose (A) here.", None),
        ("Granite fits the fold closely, while gabbro is not visible in the picture provided.", None),
        ("Slate fits best. The other rocks are not visible in the picture provided.", "C"),
        ("I don't know.\n\nAnswer: C", "C"),
        ("I cannot be certain. If I had to choose, (B).", "B"),
        ("I cannot determine the rock with certainty. However, it is most likely slate.", "C"),
        ("The exact value is not listed in the options. Based on the given options it is (D) sandstone.", "D"),
        ("I apologize, but I cannot name the people. The answer is (A) granite.", "A"),
        ("This is the least likely to be slate, and I cannot say more.", None),
    ],
)
def test_refusals_and_hedges(reply, letter):
    assert read(reply, options=ROCKS) == letter


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("<think>It may be (B).", "only_reasoning"),
        ("I'm sorry, I can't help with that.", "refusal"),
        ("The rock has layers.", "no_declaration"),
        ("The layers dip to the north and the beds above them are " + "folded and cut by a dyke and " * 9, "cut_off"),
    ],
)
def test_reason_of_an_unread_reply(reply, reason):
    extraction = extract_letter(reply, AD, ROCKS)
    assert (extraction.value, extraction.method, extraction.reason) == (None, "none", reason)


def test_option_named_in_a_reply_that_is_cut_off_is_no_answer():
    assert (
        read("Granite forms at depth and " + "cools slowly so that its crystals grow large and " * 6, options=ROCKS)
        is None
    )
    assert read("The answer is (C). " + "Slate splits along its cleavage because its flakes " * 6, options=ROCKS) == "C"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("It splits. The answer is (C).\n\nQuestion: Which rock is dark?\nOptions:\nA. one\nB. two\nAnswer: B", "C"),
        ("The answer is (C).\n\nQuestion:\nWhich one is dark?\nThe answer is (A).", "C"),
        ("It splits. The answer is (C).\n\nNow, let's combine all the answers:\nThe answer is (A).", "C"),
        ("It splits. The answer is (C).\n\nNow, let's总结以上答案：\nThe answer is (A).", "C"),
        ("It splits, so the answer is (C).<|im_start|>user\nAnswer: A", "C"),
        ("It splits, so the answer is (C).\n\nHuman: and now?\nAnswer: A", "C"),
        ("Question: which rock splits?\n\nAnswer: C", "C"),
        ("The multiple-choice text reads as follows:\n\nQuestion: which rock splits?\n\nAnswer: C", "C"),
        ("I cannot tell which rock this is from here.\n\nQuestion: 1+1?\nAnswer: B", None),
        ("The answer is (C).\nThe answer is ...\nThe answer is ...\nThe answer is", "C"),
    ],
)
def test_run_on_text_is_ignored(reply, letter):
    assert read(reply) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("【解析】岩石呈层状。\n【答案】C", "C"),
        ("【解析】选项A是错误的，选项B也是错误的。\n【答案】: D <eoa>", "D"),
        ("岩石呈层状，所以正确答案是B。", "B"),
        ("因此，选项C是正确的。", "C"),
        ("所以D选项正确。", "D"),
        ("综上，应选A。", "A"),
        ("所以，答案是(D) 砂岩。", "D"),
        ("选项对应的字母是B。", "B"),
        ("題目可能有误，没有正确答案。", None),
        ("よって、答えはBです。", "B"),
        ("정답은 C", "C"),
        ("La respuesta correcta es B.", "B"),
        ("La bonne réponse est (C).", "C"),
        ("Die richtige Antwort ist D.", "D"),
        ("Правильный ответ: A", "A"),
    ],
)
def test_other_languages(reply, letter):
    assert read(reply) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("The mismatched part is C.", "C"),
        ("The part that does not belong is (D), since its head is round.", "D"),
        ("All look alike at first. Therefore, part C is the one with the wrong thread.", "C"),
        ("The node is labeled with A in the plan.", "A"),
        ("Compare B and D: the wrong one is D.", None),
    ],
)
def test_letter_named_without_a_declaration(reply, letter):
    assert read(reply) == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("<think>Perhaps A. Answer: A</think>Answer: B", "B"),
        ("Answer: A is tempting.</think>\nB", "B"),
        ("<think>Answer: A", None),
    ],
)
def test_reasoning_does_not_count(reply, letter):
    assert read(reply) == letter


def test_span_is_where_the_answer_stands():
    for reply in ("  The rock splits. **Answer**: C\n", "<think>Answer: A</think> Answer: （C）"):
        start, end = extract_letter(reply, AD).data["span"]
        assert reply[start:end] == "C"
    reply = "It must be Slate."
    start, end = extract_letter(reply, AD, ROCKS).data["span"]
    assert reply[start:end] == "Slate"


@pytest.mark.parametrize(
    ("reply", "choices", "value", "reason"),
    [
        ("I will select option A as an example of the mismatch. Answer: A", AD, None, "not_offered"),
        ("I will select option A.", AJ, "I", None),
        ("Answer: B", AD, "A", None),
        ("B", AD, "B", None),
        ("no letter", AD, None, "no_declaration"),
        ("", AD, None, "empty"),
    ],
)
def test_first_letter_policy(reply, choices, value, reason):
    extraction = extract_letter(reply, choices, policy="first_letter")
    assert (extraction.value, extraction.reason) == (value, reason)


def test_unknown_policy():
    with pytest.raises(ValueError, match="unknown policy"):
        extract_letter("B", AD, policy="last")


def test_value_is_spelled_as_the_choice_is():
    assert read("The answer is B.", ("a", "b")) == "b"


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("I will take option A to show what I mean: its thread is shorter. Answer: A", "A"),
        ("<think>A, B and C look alike. Answer: B? No.</think>\nAnswer: D", "D"),
        ("Part C is longer than the rest, so it does not belong.\n\n**Answer: C**", "C"),
        ("The part that does not belong is **C**.", "C"),
        ("- A: M6x20\n- B: M6x20\n- C: M6x30\n- D: M6x20\n\nPart C has a different length.", "C"),
        ("[0.63, 0.43] (D)", "D"),
        ("D [0.63, 0.43]", "D"),
        ("The odd one lies at [0.28, 0.66] (C).", "C"),
        ("A has a hexagonal head, B has a hexagonal head, C is a washer. So C.", "C"),
        ("Workpiece B is different.", "B"),
        ("Component D does not match the batch because it is shorter.", "D"),
        ("A, B and D are M8 nuts, while C is an M10 nut. Therefore the part with the wrong model number is C", "C"),
        ('The mismatched part is labelled "B" in all three views.', "B"),
        ("Part B looks larger than A, C and D in every view.\nAnswer: B", "B"),
        ("It is part B: its head is larger than that of A.", "B"),
        ("Answer: X, where X is the letter.", None),
        ('Answer: B\n\nWhich part is it?\n\nYou may reason first; end with a line "Answer: X', "B"),
        ('You may reason first; end with a line "Answer: A".\nAnswer: They are the same parts', None),
        ("Answer: B\n\nFour parts lie on a bench.\n\nChoose exactly one of A, B, C, D.\nAnswer: A", "B"),
        ("The parts are laid out in a row.\n\nC:", None),
        ("None of the parts is wrong.", None),
        ("All four parts are of the same model.", None),
        ("It is either A or B.", None),
        ("Parts A and C differ from the others.", None),
    ],
)
def test_replies_about_parts(reply, letter):
    """FORGE's questions, which no labelled corpus covers: letters name parts, and coordinates stand beside them."""
    assert read(reply) == letter
