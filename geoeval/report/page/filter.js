// Which items are shown, and in what order.
const OUTCOME = 0, VALUE = 1, READ = 2, TEXT = 3, SPAN = 4, LEFT_OUT = 5, METHOD = 6, REASON = 7, VALUES = 8, JUDGED = 9;
const ID = 0, QUESTION = 1, CHOICES = 2, OPTIONS = 3, GOLD = 4, PICTURES = 5, STRATA = 6;

/** How a reply fares: "right", "wrong", "scored" (a number that is not right or wrong) or "unscored". */
function standing(task, reply) {
  if (!reply || reply[VALUE] === null || reply[VALUE] === undefined) return "unscored";
  if (!task.rate) return "scored";
  return reply[VALUE] === 1 ? "right" : "wrong";
}

const unmarked = (reply) => Boolean(reply[JUDGED]) && reply[JUDGED][0] === null;

/** What is searched, in lower case; made when it is first needed. */
function haystack(task, index) {
  task.hay ||= [];
  if (task.hay[index] === undefined) {
    const item = task.items[index];
    const parts = [item[ID], item[QUESTION], ...item[OPTIONS], ...item[GOLD]];
    for (const replies of task.replies) {
      const reply = replies[index];
      if (reply) parts.push(reply[TEXT], reply[READ] || "", reply[REASON] || "", reply[JUDGED] ? reply[JUDGED][2] : "");
    }
    task.hay[index] = parts.join("\n").toLowerCase();
  }
  return task.hay[index];
}

/** Whether the models agree on an item, by the name of the choice. */
function agreement(task, replies, wanted) {
  const found = replies.filter(Boolean);
  const standings = new Set(found.map((reply) => standing(task, reply)));
  if (wanted === "split") return standings.has("right") && standings.has("wrong");
  if (wanted === "right") return standings.size === 1 && standings.has("right");
  if (wanted === "wrong") return standings.size === 1 && standings.has("wrong");
  if (wanted === "differ") return new Set(found.map((reply) => reply[READ])).size > 1;
  return spread(replies) >= Number(wanted) * task.top;
}

function spread(replies) {
  const values = replies.filter((reply) => reply && typeof reply[VALUE] === "number").map((reply) => reply[VALUE]);
  return values.length > 1 ? Math.max(...values) - Math.min(...values) : 0;
}

/** Numbers of the items that fit; `wish` holds the values of the form. */
function fitting(task, wish) {
  const text = wish.text.trim().toLowerCase();
  const models = wish.model === "" ? task.replies : [task.replies[Number(wish.model)]];
  const strata = Object.entries(wish.strata).filter(([, value]) => value !== "");
  const ofReply = wish.outcome !== "" || wish.mark !== "";
  const found = [];
  for (let index = 0; index < task.items.length; index++) {
    if (strata.some(([k, value]) => task.items[index][STRATA][k] !== Number(value))) continue;
    const replies = models.map((replies) => replies[index]);
    if (!replies.some(Boolean)) continue;
    if (ofReply && !replies.some((reply) => reply && replyFits(task, reply, wish))) continue;
    if (wish.agree !== "" && !agreement(task, task.replies.map((replies) => replies[index]), wish.agree)) continue;
    if (text && !haystack(task, index).includes(text)) continue;
    found.push(index);
  }
  return ordered(task, models, found, wish.order);
}

function replyFits(task, reply, wish) {
  if (wish.outcome === "unscored" ? !unmarked(reply) : wish.outcome !== "" && reply[OUTCOME] !== wish.outcome) return false;
  if (wish.mark === "") return true;
  if (task.rate || wish.mark === "unscored") return standing(task, reply) === wish.mark;
  const [low, high] = wish.mark.split(" ").map((share) => Number(share) * task.top);
  return typeof reply[VALUE] === "number" && reply[VALUE] >= low && (reply[VALUE] < high || high === task.top);
}

function ordered(task, models, found, order) {
  const keys = {
    worst: (replies) => replies.reduce((sum, reply) => sum + (reply && reply[VALUE] !== null ? reply[VALUE] : task.top), 0),
    apart: (replies) => -spread(replies),
    long: (replies) => -Math.max(...replies.map(length)),
    short: (replies) => Math.min(...replies.map((reply) => (reply ? length(reply) : Infinity))),
  };
  if (!keys[order]) return found;
  const all = order === "apart" ? task.replies : models;
  const key = new Map(found.map((index) => [index, keys[order](all.map((replies) => replies[index]))]));
  return found.sort((a, b) => key.get(a) - key.get(b) || a - b);
}

const length = (reply) => (reply ? reply[TEXT].length + (reply[LEFT_OUT] ? reply[LEFT_OUT][1] : 0) : 0);
