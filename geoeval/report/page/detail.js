// One item, whole: pictures, question, options, gold, and what each model replied.
const SYMBOLS = { right: "✓ right", wrong: "✗ wrong", scored: "", unscored: "– not scored" };
const OUTCOMES = { unread: "unreadable", empty: "empty reply", failed: "failed request" };
const CHUNK = 200;

const chunks = new Map();

/** The data URL of a thumbnail; pictures are parsed a few hundred at a time, when first seen. */
function picture(number) {
  const chunk = Math.floor(number / CHUNK);
  if (!chunks.has(chunk)) chunks.set(chunk, block("pictures-" + chunk));
  const content = chunks.get(chunk)[number % CHUNK];
  return content === null ? null : "data:image/webp;base64," + content;
}

const rounded = (value, rate) => (rate && Number.isInteger(value) ? String(value) : value.toFixed(value >= 10 ? 1 : 3));

function verdictOf(task, reply) {
  const state = standing(task, reply);
  const value = state === "scored" ? task.metric + " " + rounded(reply[VALUE], false) : SYMBOLS[state];
  const outcome = OUTCOMES[reply[OUTCOME]];
  return { state, words: [value, outcome].filter(Boolean).join(", ") };
}

/** The short mark of the list: a symbol and a number, never a colour alone. */
function shortMark(task, reply) {
  if (!reply) return { state: "none", text: "·" };
  const state = standing(task, reply);
  if (reply[OUTCOME] === "failed") return { state, text: "! failed" };
  if (reply[OUTCOME] === "empty") return { state: "wrong", text: "∅ empty" };
  if (reply[OUTCOME] === "unread") return { state: "wrong", text: "? unread" };
  if (state === "scored") return { state, text: rounded(reply[VALUE], false) };
  return { state, text: (state === "right" ? "✓ " : "✗ ") + shortValue(reply[READ] || "") };
}

const shortValue = (value) => (value.length > 12 ? value.replace(/^REFUSE_/, "").slice(0, 11) + "…" : value);

function drawItem(task, index, odd) {
  const item = task.items[index];
  const show = (text) => visible(text, odd);
  const parts = [el("button", { class: "back", type: "button" }, "← Items"), el("h3", {}, ...show(item[ID]))];
  const pics = item[PICTURES].map(picture);
  if (pics.length) {
    parts.push(el("div", { class: "pics" }, ...pics.map((source, k) => (source
      ? el("img", { src: source, alt: "Picture " + (k + 1) + " of the question", decoding: "async" })
      : el("span", { class: "empty" }, "This picture cannot be opened.")))));
  }
  if (item[QUESTION]) parts.push(el("p", { class: "question" }, ...show(item[QUESTION])));
  if (task.setting) parts.push(el("p", { class: "strataline" }, "Before the question the model was shown: " + task.setting + " (not in this page)."));
  if (item[OPTIONS].length) parts.push(drawOptions(item, show));
  else if (item[CHOICES].length) parts.push(el("p", { class: "strataline" }, "Choices: ", ...show(item[CHOICES].join(", "))));
  parts.push(el("p", { class: "goldline" }, "Gold: ", el("b", {}, ...show(item[GOLD].join(" or ")))));
  const strata = task.strata.map(([name, values], k) => name + ": " + values[item[STRATA][k]]);
  if (strata.length) parts.push(el("p", { class: "strataline" }, ...show(strata.join(" · "))));
  task.replies.forEach((replies, model) => parts.push(drawReply(task, model, replies[index], show)));
  return parts;
}

function drawOptions(item, show) {
  return el("ul", { class: "options" }, ...item[OPTIONS].map((text, k) => {
    const gold = item[GOLD].includes(item[CHOICES][k]);
    const letter = el("span", { class: "letter" }, ...show(item[CHOICES][k] || ""));
    return el("li", { class: gold ? "gold" : null }, letter, ...show(text), gold ? " ← gold" : null);
  }));
}

function modelName(task, model, show) {
  const [key, label] = task.models[model];
  return [el("span", { class: "key k" + (((key - 1) % 6) + 1) }, String(key)), " ", ...show(label)];
}

function drawReply(task, model, reply, show) {
  const heading = el("h4", {}, ...modelName(task, model, show));
  if (!reply) return el("section", { class: "reply" }, heading, el("p", { class: "empty" }, "This model was not asked this."));
  const verdict = verdictOf(task, reply);
  const line = el("p", { class: "goldline" }, el("span", { class: "verdict " + verdict.state }, verdict.words));
  if (reply[READ] !== null) line.append("; read: ", el("b", {}, ...show(reply[READ])), " ", el("span", { class: "sub" }, "by " + reply[METHOD]));
  if (reply[REASON]) line.append(" ", el("span", { class: "sub" }, "reason: ", ...show(reply[REASON])));
  return el("section", { class: "reply" }, heading, line, drawRaw(reply, show), drawValues(reply), ...drawJudgement(reply, show));
}

/** The reply as it is, the place of the answer marked and what the page leaves out said. */
function drawRaw(reply, show) {
  if (!reply[TEXT]) return el("p", { class: "empty" }, reply[OUTCOME] === "failed" ? "No reply." : "The reply is empty.");
  const cuts = [0, reply[TEXT].length];
  if (reply[SPAN]) cuts.push(...reply[SPAN]);
  if (reply[LEFT_OUT]) cuts.push(reply[LEFT_OUT][0]);
  cuts.sort((a, b) => a - b);
  const nodes = [];
  for (let k = 0; k + 1 < cuts.length; k++) {
    if (reply[LEFT_OUT] && cuts[k] === reply[LEFT_OUT][0] && cuts[k] > 0) {
      nodes.push(el("span", { class: "left-out" }, reply[LEFT_OUT][1].toLocaleString("en") + " characters are left out of this page"));
    }
    const piece = reply[TEXT].slice(cuts[k], cuts[k + 1]);
    if (!piece) continue;
    const inside = reply[SPAN] && cuts[k] >= reply[SPAN][0] && cuts[k + 1] <= reply[SPAN][1];
    nodes.push(...(inside ? [el("mark", { title: "read as the answer" }, ...show(piece))] : show(piece)));
  }
  return el("div", { class: "raw", tabindex: "0", role: "region", "aria-label": "Reply" }, ...nodes);
}

function drawValues(reply) {
  const values = Object.entries(reply[VALUES]);
  if (!values.length) return null;
  const line = values.map(([name, value]) => name + " " + rounded(value, true)).join(" · ");
  return el("p", { class: "strataline" }, line);
}

function drawJudgement(reply, show) {
  if (!reply[JUDGED]) return [];
  const [score, dimensions, comment, reason] = reply[JUDGED];
  if (score === null) return [el("p", { class: "goldline" }, "The judge gave no mark: ", ...show(reason || "no reason given"))];
  const rows = [["judge, overall", score], ...Object.entries(dimensions)];
  const table = el("table", { class: "marks-table" }, el("tbody", {}, ...rows.map(([name, mark]) => el("tr", {},
    el("th", { scope: "row" }, ...show(name)), el("td", { class: "num" }, mark.toFixed(1) + " of 10")))));
  return [table, comment ? el("blockquote", { class: "comment" }, ...show(comment)) : null].filter(Boolean);
}
