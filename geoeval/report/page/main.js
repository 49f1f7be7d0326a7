// The form, the list and the keys.
const $ = (id) => document.getElementById(id);

function start() {
  const index = block("index");
  const tasks = new Map();
  const odd = index.odd;
  let task = null;
  const list = new VirtualList($("list"), $("sizer"), (item) => drawRow(task, item, odd), (place, byPointer) => {
    const item = list.rows[place];
    $("detail").replaceChildren(...(item === undefined ? [el("p", { class: "empty" }, "No item fits.")] : drawItem(task, item, odd)));
    $("detail").scrollTop = 0;
    if (byPointer) open();
  });

  const options = (select, pairs) => select.replaceChildren(...pairs.map(([value, label]) =>
    el("option", { value }, visibleString(String(label), odd))));

  function wish() {
    const strata = {};
    $("f-strata").querySelectorAll("select").forEach((select) => { strata[select.dataset.stratum] = select.value; });
    const value = (name) => $("f-" + name).value;
    return { model: value("model"), outcome: value("outcome"), mark: value("mark"), agree: value("agree"), order: value("order"), text: value("text"), strata };
  }

  /** Show what fits the form; the item that is shown stays if it is among them, but not in a new order. */
  function filter(keep = true) {
    const begun = performance.now();
    const kept = keep ? list.rows[list.place] : undefined;
    const found = fitting(task, wish());
    list.show(found, kept);
    const total = task.items.length.toLocaleString("en");
    $("count").textContent = found.length.toLocaleString("en") + " of " + total + " items";
    performance.measure("filter", { start: begun, end: performance.now() });
  }

  function choose(name) {
    if (!tasks.has(name)) tasks.set(name, block("task-" + name));
    task = tasks.get(name);
    options($("f-model"), [["", "any"], ...task.models.map(([key, label], k) => [k, key + "  " + label])]);
    options($("f-mark"), task.rate
      ? [["", "any"], ["right", "right"], ["wrong", "wrong"], ["unscored", "not scored"]]
      : [["", "any"], ["0 0.333", "lowest third"], ["0.333 0.667", "middle third"], ["0.667 1", "highest third"], ["unscored", "not scored"]]);
    const differ = task.rate
      ? [["split", "right and wrong"], ["differ", "different answers"], ["right", "all right"], ["wrong", "all wrong"]]
      : [["0.1", "a tenth apart"], ["0.3", "three tenths apart"]];
    options($("f-agree"), [["", "any"], ...differ]);
    $("f-agree").disabled = task.models.length < 2;
    $("f-strata").replaceChildren(...task.strata.map(([stratum, values], k) => {
      const select = el("select", { "data-stratum": k });
      options(select, [["", "any"], ...values.map((value, number) => [number, value])]);
      return el("label", {}, stratum[0].toUpperCase() + stratum.slice(1), " ", select);
    }));
    $("problem").textContent = task.problem;
    $("problem").hidden = !task.problem;
    filter(false);
  }

  /** On a phone the item takes the place of the list. */
  function open() {
    $("browser").classList.add("open");
    if (getComputedStyle($("list")).display === "none") $("browser").scrollIntoView();
  }

  function back() {
    $("browser").classList.remove("open");
    $("list").focus();
  }

  const moves = {
    j: () => list.place + 1, ArrowDown: () => list.place + 1, k: () => list.place - 1, ArrowUp: () => list.place - 1,
    PageDown: () => list.place + list.page, PageUp: () => list.place - list.page, Home: () => 0, End: () => list.rows.length - 1,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    const typing = target.matches("input, select, textarea");
    if (event.key === "Escape" && (target.closest("#detail") || target.id === "f-text")) return back();
    if (typing) return;
    if (event.key === "/") {
      event.preventDefault();
      $("f-text").focus();
    } else if (event.key === "Enter" && target.id === "list") {
      event.preventDefault();
      open();
      $("detail").focus();
    } else if (moves[event.key] && (target.id === "list" || event.key === "j" || event.key === "k")) {
      event.preventDefault();
      list.select(moves[event.key]());
    }
  });
  $("detail").addEventListener("click", (event) => { if (event.target.closest(".back")) back(); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", () => {
    const name = task.task; // stays; the browser resets the fields after this
    setTimeout(() => {
      $("f-task").value = name;
      choose(name);
    });
  });
  $("filters").addEventListener("change", (event) => (event.target.id === "f-task" ? choose(event.target.value) : filter(event.target.id !== "f-order")));
  let waiting = 0;
  $("f-text").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => filter(), 60);
  });

  for (const id of ["filters", "keys", "browser"]) $(id).hidden = false;
  options($("f-task"), index.tasks.map((name) => [name, name]));
  choose(index.tasks[0]);
  performance.mark("ready");
}

function drawRow(task, index, odd) {
  const item = task.items[index];
  const pictured = item[PICTURES].length > 0;
  const source = pictured ? picture(item[PICTURES][0]) : null;
  const marks = task.replies.map((replies, model) => {
    const mark = shortMark(task, replies[index]);
    const key = task.replies.length > 1 ? task.models[model][0] + " " : "";
    return el("span", { class: "mark " + mark.state }, key + visibleString(mark.text, odd));
  });
  const what = visibleString(item[QUESTION].slice(0, 200) || item[GOLD].join(" or ").slice(0, 200), odd);
  return el("div", { class: pictured ? "row pictured" : "row" },
    source ? el("img", { src: source, alt: "", decoding: "async" }) : pictured ? el("span", { class: "nopic" }) : null,
    el("div", { class: "what" }, what),
    el("div", { class: "marks" }, ...marks, el("span", { class: "id" }, visibleString(item[ID], odd))));
}

if (document.getElementById("index")) start();
